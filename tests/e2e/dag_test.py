#!/usr/bin/env python3
"""Definitions of tasks as people use them: halting, mending, going on, undoing, approving.

usage: dag_test.py [PROGRAM] [unittest options]
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
    os.environ["SLUICE"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import yaml  # noqa: E402

import schema  # noqa: E402
from program import FAILED, INVALID, OK, PROGRAM, ROOT, WAITING, ProgramTest  # noqa: E402
from server import Server  # noqa: E402


class Loader(yaml.SafeLoader):
    """YAML 1.2, in which `on` is a text."""


Loader.yaml_implicit_resolvers = {letter: rules for letter, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
                                  if letter not in "oOyYnN"}

STEPS = """
name: steps
functions:
  read: {command: [cat, FOLDER/number]}
tasks:
  first: {call: echo, input: "${input}"}
  read: {call: read, after: first, on_error: ON_ERROR}
  double: {call: echo, input: "${tasks.read.result * 2}"}
  last: {call: echo, input: ["${tasks.first.result}", "${tasks.double.result}"]}
result: ${tasks.last.result}
"""

SAGA = """
name: saga
functions:
  note: {command: ["sh", "-c", "tr -d '\\"' >> FOLDER/notes; echo 1"]}
tasks:
  flight: {call: note, input: book flight, on_failure: {call: note, input: cancel flight}}
  hotel: {call: note, after: flight, input: book hotel, on_failure: {call: note, input: cancel hotel}}
  car: {call: note, after: hotel, input: book car, on_failure: {call: note, input: cancel car}}
  pay: {call: fail, after: car, input: {kind: refused, message: no money}}
"""


class Tasks(ProgramTest):
    def steps(self, on_error):
        return self.file("steps.yaml", STEPS.replace("FOLDER", str(self.folder)).replace("ON_ERROR", on_error))

    def run_again(self, file, **options):
        return self.sluice("run", file, "--run", "r", "--input", "1", "--data", self.data, **options)

    def test_halts_and_goes_on_when_the_cause_is_mended(self):
        file = self.steps("halt")

        halted = self.run_again(file, code=WAITING)
        self.file("number", "21")
        self.sluice("retry", "r", "--task", "read", "--data", self.data)
        done = self.run_again(file)

        self.assertIn("read is halted", halted.stderr)
        self.assertRegex(halted.stderr, r"sluice retry \S+ --task read --data ")
        self.assertNotIn("double", halted.stderr)
        self.assertEqual(json.loads(done.stdout), [1, 42])
        self.sluice("replay", "r", "--data", self.data)

    def test_a_halted_task_takes_a_result_or_is_skipped(self):
        file = self.steps("halt")
        self.run_again(file, code=WAITING)

        self.sluice("set-result", "r", "--task", "read", "--result", "4", "--data", self.data)

        self.assertEqual(json.loads(self.run_again(file).stdout), [1, 8])
        other = self.sluice("run", file, "--run", "other", "--data", self.data, code=WAITING)
        self.assertIn("is halted", other.stderr)
        self.sluice("skip", "other", "--task", "nothing", "--data", self.data, code=INVALID)
        self.sluice("skip", "other", "--task", "read", "--data", self.data)

    def test_a_failed_run_goes_on_from_the_middle_with_other_input(self):
        file = self.steps("fail")
        failed = self.run_again(file, code=FAILED)
        self.assertIn("task \"read\" failed", failed.stderr)

        self.file("number", "5")
        self.sluice("retry", "r", "--data", self.data)
        self.assertEqual(json.loads(self.run_again(file).stdout), [1, 10])

    def test_a_failed_run_goes_on_from_a_named_task(self):
        file = self.steps("fail")
        self.run_again(file, code=FAILED)
        self.file("number", "5")

        self.sluice("retry", "r", "--task", "first", "--input", '"changed"', "--data", self.data)

        self.assertEqual(json.loads(self.run_again(file).stdout), ["changed", 10])
        self.sluice("replay", "r", "--data", self.data)

    def test_what_was_done_is_undone_in_reverse_order(self):
        file = self.file("saga.yaml", SAGA.replace("FOLDER", str(self.folder)))

        failed = self.sluice("run", file, code=FAILED)

        self.assertIn("no money", failed.stderr)
        self.assertEqual((self.folder / "notes").read_text().split("\n")[:-1],
                         ["book flight", "book hotel", "book car", "cancel car", "cancel hotel", "cancel flight"])

    def test_a_run_that_succeeded_is_done_again_from_a_task(self):
        file = self.file("again.yaml", """
name: again
functions:
  note: {command: ["sh", "-c", "tee -a FOLDER/notes; echo >> FOLDER/notes"]}
tasks:
  a: {call: note, input: 1}
  b: {call: note, after: a, input: 2}
  c: {call: note, after: b, input: "${tasks.b.result * 10}"}
  d: {call: note, after: a, input: 4}
result: "${[tasks.a.result, tasks.b.result, tasks.c.result, tasks.d.result]}"
""".replace("FOLDER", str(self.folder)))
        self.sluice("run", file, "--data", self.data, "--run", "r")
        (self.folder / "notes").unlink()

        self.sluice("retry", "r", "--task", "none", "--data", self.data, code=INVALID)
        self.sluice("retry", "r", "--task", "b", "--input", "3", "--as", "r2", "--data", self.data)
        again = self.sluice("run", file, "--data", self.data, "--run", "r2")

        self.assertEqual(json.loads(again.stdout), [1, 3, 30, 4])
        self.assertEqual((self.folder / "notes").read_text().split(), ["3", "30"])
        shown = json.loads(self.sluice("show", "r", "--data", self.data, "--json").stdout)
        self.assertEqual((shown["status"], shown["result"]), ("succeeded", [1, 2, 20, 4]))

    def test_kinds_of_errors_have_retries_of_their_own(self):
        file = self.file("retry.yaml", """
name: retry
functions:
  count: {command: ["sh", "-c", "echo x >> FOLDER/tries; exit 3"]}
tasks:
  a:
    call: count
    on_error: skip
    retry: [{on: [timeout], attempts: 9}, {on: [exit], attempts: 3, interval: 1ms}]
result: ${tasks.a.error.kind}
""".replace("FOLDER", str(self.folder)))

        self.assertEqual(self.result(file), "exit")
        self.assertEqual((self.folder / "tries").read_text(), "x\n" * 3)

    def test_definitions_nest_in_any_language(self):
        file = self.file("nested.yaml", """
name: outer
tasks:
  tasks: {subworkflow: inner, input: 1}
  triggers: {subworkflow: plain, input: 2}
result: ["${tasks.tasks.result}", "${tasks.triggers.result}"]
definitions:
  inner: {tasks: {a: {call: echo, input: "${input + 1}"}}}
  plain:
    triggers:
      - {id: begin, on: sluice.run.started, action: {finish: {result: "${run.input + 1}"}}}
""")

        self.assertEqual(self.result(file), [{"a": 2}, 3])

    def test_tasks_may_give_more_tasks(self):
        file = self.file("plan.yaml", """
name: plan
tasks:
  plan:
    script: 'echo "{\\"tasks\\": {\\"a\\": {\\"call\\": \\"echo\\", \\"input\\": 1}}}"'
  run: {call: echo, expand: true, input: "${tasks.plan.result}"}
result: ${tasks.run.result}
""")

        self.assertEqual(self.result(file), {"a": 1})

    def test_a_request_is_a_task(self):
        server = Server(PROGRAM, str(self.folder / "server"))
        self.addCleanup(server.stop)
        file = self.file("http.yaml", f"""
name: request
tasks:
  ask: {{http: {{url: "http://127.0.0.1:{server.port}/v1/definitions/validate", body: {{name: x}}}}}}
result: ${{tasks.ask.result.valid}}
""")

        self.assertEqual(self.result(file), False)


LARGE = """
name: large
functions:
  make: {command: [python3, -c, 'import json; print(json.dumps({"rows": ["x" * 1000] * 5000}))']}
  count: {command: [python3, -c, 'import json, sys; print(len(json.load(sys.stdin)["of"]["rows"]))']}
tasks:
  make: {call: make}
  count: {call: count, input: {of: "${tasks.make.result}"}}
  tiles: {map: {over: 2, call: make}}
  join: {call: count, input: {of: {rows: "${tasks.tiles.result}"}}}
result: {count: "${tasks.count.result}", tiles: "${tasks.join.result}", made: "${tasks.make.result}"}
"""


class LargeResults(ProgramTest):
    """Results that are kept beside their run, and passed on by reference."""

    def objects(self):
        return [path for path in (self.folder / "data/objects").rglob("*") if path.is_file()]

    def stored_bytes(self):
        lines = self.sluice("store", "export", "--data", self.data).stdout.splitlines()
        return sum(len(line) for line in lines if "object" not in json.loads(line))

    def test_pass_from_task_to_task_and_go_with_their_run(self):
        file = self.file("large.yaml", LARGE)

        result = self.result(file, "--run", "r", "--data", self.data)

        self.assertEqual((result["count"], result["tiles"], len(result["made"]["rows"])), (5000, 2, 5000))
        self.assertEqual(len(self.objects()), 2, "the same result three times is one file, and one says whose it is")
        self.assertLess(self.stored_bytes(), 100_000)
        shown = json.loads(self.sluice("show", "r", "--data", self.data, "--json").stdout)
        self.assertEqual(shown["result"], result)
        self.assertIn("sluice:object/", self.sluice("show", "r", "--history", "--data", self.data, "--json").stdout)
        self.sluice("replay", "r", "--data", self.data)
        self.sluice("store", "check", "--data", self.data)
        self.sluice("delete", "r", "--data", self.data)
        self.assertEqual(self.objects(), [])

    def test_damage_is_named_and_not_used(self):
        file = self.file("large.yaml", LARGE.replace("call: count, input: {of: \"${tasks.make", "call: count, on_error: halt, input: {off: \"${tasks.make"))
        run = ["run", file, "--run", "r", "--data", self.data]
        self.sluice(*run, code=WAITING)
        damaged = max(self.objects(), key=lambda path: path.stat().st_size)
        damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")

        checked = self.sluice("store", "check", "--data", self.data, code=FAILED)
        self.sluice("retry", "r", "--task", "count", "--data", self.data)
        halted = self.sluice(*run, code=WAITING)

        self.assertIn(f"{damaged}: damaged", checked.stdout)
        self.assertIn("is damaged: its content does not match its name", halted.stderr)
        self.assertIn("object_damaged", self.sluice("show", "r", "--history", "--data", self.data, "--json").stdout)

    def test_are_passed_by_value_to_whom_looks_into_them(self):
        file = self.file("looks.yaml", LARGE.replace('of: "${tasks.make.result}"', 'of: {rows: "${tasks.make.result.rows}"}'))

        result = self.result(file, "--run", "r", "--data", self.data)

        self.assertEqual((result["count"], result["tiles"], len(result["made"]["rows"])), (5000, 2, 5000))


class OnAServer(ProgramTest):
    def setUp(self):
        super().setUp()
        self.server = Server(PROGRAM, self.data)
        self.addCleanup(self.server.stop)
        self.url = f"http://127.0.0.1:{self.server.port}"

    def on_server(self, *arguments, **options):
        return self.sluice(*arguments, "--server", self.url, **options)

    def test_a_person_approves_and_mends(self):
        file = self.file("sign.yaml", """
name: sign
tasks:
  sign: {approve: {form: {sum: number}, message: "Pay?"}}
  pay: {call: fail, input: {kind: broke}, after: sign, on_error: halt}
  end: {call: echo, after: pay, input: ["${tasks.sign.result.form.sum}", "${tasks.pay.result}"]}
result: ${tasks.end.result}
""")
        self.on_server("deploy", file)
        self.on_server("start", "sign", "--id", "r")

        self.on_server("approve", "r", "--task", "sign", "--form", '{"sum": "much"}', code=INVALID)
        self.on_server("approve", "r", "--task", "sign", "--form", '{"sum": 10}', "--by", "ann")
        self.until(lambda: "pay is halted" in self.on_server("show", "r").stdout, "it halts")
        self.on_server("set-result", "r", "--task", "pay", "--result", '"by hand"')

        ended = json.loads(self.on_server("watch", "r", "--json").stdout.splitlines()[-1])
        self.assertIn("by hand", json.dumps(ended))

    def test_large_results_are_backed_up_and_removed(self):
        self.on_server("deploy", self.file("large.yaml", """
name: large
tasks:
  one: {call: echo, input: "${input}"}
  two: {call: echo, input: "${tasks.one.result}"}
"""))
        text = "x" * 300_000
        self.on_server("start", "large", "--id", "r", "--input", "@" + self.file("input.json", json.dumps(text)))
        ended = self.server.ask("GET", "/v1/runs/r/end")[1]
        backup, restored = self.folder / "backup", self.folder / "restored"

        self.on_server("backup", backup)
        self.sluice("restore", backup, "--data", restored)

        self.assertEqual(ended["result"], {"two": text})
        self.assertEqual(self.server.ask("GET", "/v1/runs/r")[1]["result"], {"two": text})
        self.assertEqual(self.server.ask("GET", "/v1/runs/r/state")[1]["result"], {"two": text})
        for data in (backup, restored):
            shown = json.loads(self.sluice("show", "r", "--data", data, "--json").stdout)
            self.assertEqual(shown["result"], {"two": text}, data)
        self.assertEqual(self.server.ask("DELETE", "/v1/runs/r")[0], 200)
        objects = self.folder / "data/objects"
        self.until(lambda: not any(path.is_file() for path in objects.rglob("*")), "they go")

    def test_a_server_takes_no_scripts_unless_it_is_allowed(self):
        file = self.file("script.yaml", "name: s\ntasks:\n  a: {script: echo 1}\n")

        refused = self.on_server("deploy", file, code=INVALID)

        self.assertIn("script.yaml:3:", refused.stderr)
        self.assertIn("allow_process", refused.stderr)

    def test_a_run_that_succeeded_goes_on_as_another(self):
        self.on_server("deploy", self.file("twice.yaml", """
name: twice
tasks:
  a: {call: echo, input: "${input}"}
  b: {call: echo, input: "${tasks.a.result * 2}"}
result: ${tasks.b.result}
"""))
        self.on_server("start", "twice", "--id", "r", "--input", "2", "--wait")

        self.on_server("retry", "r", code=INVALID)
        told = self.on_server("retry", "r", "--task", "a", "--input", "5", "--as", "r2")

        self.assertEqual(told.stdout, "r2\n")
        self.assertEqual(self.server.ask("GET", "/v1/runs/r2/end")[1]["result"], 10)
        self.assertEqual(self.server.ask("GET", "/v1/runs/r")[1]["result"], 4)
        refused = self.server.ask("POST", "/v1/runs/r/retry", {"task": "none"})
        self.assertEqual(refused[0], 400)
        self.assertIn("there is no task", refused[1]["detail"])

    def test_requests_of_tasks_go_to_public_addresses_only(self):
        url = f"http://127.0.0.1:{self.server.port}/healthz"
        self.on_server("deploy", self.file("ask.yaml", f"name: ask\ntasks:\n  a: {{http: {{url: '{url}', body: 1}}}}\n"))
        self.on_server("start", "ask", "--id", "r")

        ended = self.server.ask("GET", "/v1/runs/r/end")[1]

        self.assertEqual(ended["status"], "failed")
        self.assertIn("forbidden_address", json.dumps(ended["error"]))


class AllowedTasks(ProgramTest):
    """What tasks bring along, on a server that lets them."""

    def setUp(self):
        super().setUp()
        self.begin()

    def begin(self):
        self.server = Server(PROGRAM, self.data, "--allow-process", "--allow-private")
        self.addCleanup(self.server.kill)

    def deploy(self, text):
        self.sluice("deploy", self.file("own.yaml", text), "--server", f"http://127.0.0.1:{self.server.port}")

    def end_of(self, run):
        return self.server.ask("GET", f"/v1/runs/{run}/end")[1]

    def test_each_version_has_its_own_scripts(self):
        text = """
name: own
definitions:
  inner:
    tasks: {say: {script: 'echo "\\"inner\\""'}}
    result: ${tasks.say.result}
tasks:
  say: {script: 'echo "\\"outer\\""'}
  wait: {wait: {event: {type: go}}, after: say}
  again: {script: {run: 'import json,sys; print(json.load(sys.stdin) + VERSION)', with: python3}, after: wait, input: 10}
  inner: {subworkflow: inner}
result: ["${tasks.say.result}", "${tasks.inner.result}", "${tasks.again.result}"]
"""
        self.deploy(text.replace("VERSION", "1"))
        self.server.ask("POST", "/v1/runs", {"id": "r1", "definition": "own"})
        self.deploy(text.replace("VERSION", "2"))
        self.server.ask("POST", "/v1/runs", {"id": "r2", "definition": "own"})
        self.assertEqual(self.server.stop(), 0)
        self.begin()
        for run in ("r1", "r2"):
            event = {"specversion": "1.0", "id": "go", "source": "/test", "type": "go"}
            self.server.ask("POST", f"/v1/runs/{run}/events", event, headers={"Content-Type": "application/cloudevents+json"})

        self.assertEqual(self.end_of("r1")["result"], ["outer", "inner", 11])
        self.assertEqual(self.end_of("r2")["result"], ["outer", "inner", 12])

    def test_requests_are_sent(self):
        url = f"http://127.0.0.1:{self.server.port}/v1/definitions/validate"
        self.deploy(f"name: own\ntasks:\n  ask: {{http: {{url: '{url}', body: {{name: x}}}}}}\nresult: ${{tasks.ask.result}}\n")
        self.server.ask("POST", "/v1/runs", {"id": "r", "definition": "own"})

        ended = self.end_of("r")

        self.assertIn("findings", json.dumps(ended))

    def test_scripts_are_cancelled_with_their_run(self):
        marks = self.folder / "marks"
        self.deploy(f"name: own\ntasks:\n  a: {{script: 'echo >> {marks}; exec sleep 600'}}\n")
        self.server.ask("POST", "/v1/runs", {"id": "r", "definition": "own"})
        self.until(marks.exists, "the script begins")

        self.server.ask("POST", "/v1/runs/r/terminate")

        self.assertEqual(self.end_of("r")["status"], "cancelled")
        self.assertEqual(self.server.stop(), 0)


class Documents(ProgramTest):
    def test_every_step_of_the_tutorial_does_what_it_says(self):
        self.assertGreaterEqual(self.follow("docs/tutorial/tasks.md", "words.yaml"), 8)

    def test_how_to_pages_do_what_they_say(self):
        self.assertEqual(self.follow("docs/how-to/retry.md", "fetch.yaml"), 1)
        self.assertEqual(self.follow("docs/how-to/dynamic-tasks.md", "report.yaml"), 1)
        server = Server(PROGRAM, self.data)
        self.addCleanup(server.stop)
        url = f"http://127.0.0.1:{server.port}"
        self.assertEqual(self.follow("docs/how-to/approve.md", "expense.yaml", SLUICE_SERVER=url), 4)

    def follow(self, page, name, **environment):
        """Writes what a page has in YAML to the file it names, gives its commands and compares. How many there were."""
        blocks = re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
        commands = 0
        for kind, text in blocks:
            if kind == "yaml":
                self.file(name, text)
                continue
            for command, expected in re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", text, re.MULTILINE):
                with self.subTest(command):
                    line = command.replace("sluice ", f"{shlex.quote(PROGRAM)} ", 1)
                    done = subprocess.run(["sh", "-c", line], cwd=self.folder, capture_output=True, text=True,
                                          timeout=60, env={**self.environment(), **environment}, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertRegex(done.stdout, "^" + re.escape(expected).replace("…", ".*") + r"\Z", done.stderr)
                    commands += 1
        return commands

    def test_the_geospatial_example_gives_the_same_however_it_is_cut_or_killed(self):
        file = ROOT / "examples/geospatial/water.yaml"
        shown = re.search(r"^(\{.*\})$", (file.parent / "README.md").read_text(), re.MULTILINE).group(1)

        def given(name, tile):
            return json.dumps({"folder": str(self.folder / name), "cells": 96, "tile": tile, "day": 172})

        in_nine = json.loads(self.sluice("run", file, "--input", given("nine", 32), folder=ROOT).stdout)
        in_one = json.loads(self.sluice("run", file, "--input", given("one", 96), folder=ROOT).stdout)
        process = subprocess.Popen([PROGRAM, "run", file, "--input", given("killed", 24), "--data", self.data, "--json"], cwd=ROOT,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=self.environment())
        self.addCleanup(process.stderr.close)
        self.wait_for(process, kind="task", status="succeeded", function="weather")
        process.kill()
        process.wait()
        killed = json.loads(self.sluice("run", file, "--input", given("killed", 24), "--data", self.data, folder=ROOT).stdout)

        self.assertEqual(in_nine, {**json.loads(shown), "file": str(self.folder / "nine/water.asc")})
        whole = pathlib.Path(in_one["file"]).read_text()
        self.assertEqual(pathlib.Path(in_nine["file"]).read_text(), whole)
        self.assertEqual(pathlib.Path(killed["file"]).read_text(), whole)

    def test_the_schema_accepts_what_is_right_and_refuses_what_is_not(self):
        document = json.loads((ROOT / "docs/reference/dag.schema.json").read_text())
        pages = [ROOT / "docs/reference/dag.md", ROOT / "docs/tutorial/tasks.md"]
        texts = [text for page in pages for text in re.findall(r"^```yaml\n(.*?)^```", page.read_text(),
                                                               re.MULTILINE | re.DOTALL)]
        texts += [file.read_text() for file in (ROOT / "examples").glob("*.yaml")]
        definitions = [each for each in (yaml.load(text, Loader) for text in texts) if "tasks" in each and "cases" not in each]
        self.assertGreaterEqual(len(definitions), 8)
        for definition in definitions:
            with self.subTest(definition["name"]):
                self.assertEqual(schema.problems(document, document, definition), [])
        for name in ("unknown_member", "no_operator", "on_error", "map", "branch", "approve", "language"):
            broken = yaml.load((ROOT / f"tests/conformance/dag/broken/{name}.yaml").read_text(), Loader)
            with self.subTest(name):
                self.assertNotEqual(schema.problems(document, document, broken), [])


if __name__ == "__main__":
    unittest.main()
