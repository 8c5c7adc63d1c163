#!/usr/bin/env python3
"""The program as people use it: every command, its output and its exit code.

usage: cli_test.py [PROGRAM] [unittest options]
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

from program import (FAILED, INTERRUPTED, INVALID, NOT_FOUND, OK, PROGRAM, ROOT, UNAVAILABLE, WAITING, ProgramTest,  # noqa: E402
                     event, progress_of)

THREE_ITEMS = """
name: three
triggers:
  - id: three
    on: item
    condition: {count: 3}
    action: {finish: {result: got three}}
"""

# Each call leaves a line with its key, so that a task that was done twice shows.
MARKS = """
name: marks
functions:
  mark:
    command: 'echo "$SLUICE_TASK" >> "MARKS"; sleep "$(cat | tr -dc 0-9.)"; echo 1'
triggers:
  - id: begin
    on: sluice.run.started
    action:
      invoke: {function: mark, each: [0, 0, 0, SECONDS], input: "${item}"}
  - id: done
    on: {type: sluice.task.succeeded, subject: mark}
    condition: {count: 4}
    action: {finish: {result: done}}
"""

SLEEP = """
name: nap
triggers:
  - id: begin
    on: sluice.run.started
    action:
      invoke: {function: sleep, each: [10ms, DURATION], input: {duration: "${item}"}}
  - id: done
    on: {type: sluice.task.succeeded, subject: sleep}
    condition: {count: 2}
    action: {finish: {result: rested}}
"""


class Examples(ProgramTest):
    EXPECTED = {
        "early-event": {"order": ["a", "b"]},
        "functions": {"measure": {"bytes": 33, "by": "sh"}, "add": {"sum": 10, "by": "python"}},
        "join": {"joined": 100},
        "nested": {"sum": 30},
        "order": {"paid": 5},
        "retry-timer": {"tries": 3, "answer": "finally"},
        "tasks": {"report": "3 files resized", "files": [{"file": f"{name}.jpg", "width": 200} for name in "abc"]},
        "timeout-interceptor": {"joined": 2, "is_complete": False},
    }

    def test_every_example_is_valid_and_expected_here(self):
        files = sorted(file for file in (ROOT / "examples").glob("*.yaml") if not file.name.endswith(".test.yaml"))

        self.sluice("validate", *files)

        self.assertEqual([file.stem for file in files], sorted(self.EXPECTED))

    def test_every_example_gives_its_result_and_replays_the_same(self):
        for name, expected in self.EXPECTED.items():
            with self.subTest(name):
                self.assertEqual(self.result(ROOT / f"examples/{name}.yaml", "--data", self.data), expected)

        runs = json.loads(self.sluice("show", "--data", self.data, "--json").stdout)["runs"]
        self.assertEqual({run["status"] for run in runs}, {"succeeded"})
        for run in runs:
            with self.subTest(run["run"]):
                self.sluice("replay", run["run"], "--data", self.data)

    def test_without_data_nothing_is_left(self):
        self.result(ROOT / "examples/early-event.yaml")

        self.assertEqual(list(self.temporary.iterdir()), [])


class Documents(ProgramTest):
    def test_the_example_of_the_readme_does_what_it_says(self):
        blocks = re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
        definition = next(text for kind, text in blocks if kind == "yaml")
        self.file(re.match(r"# (\S+)\n", definition).group(1), definition)
        session = next(text for kind, text in blocks if text.startswith("$ build/release/bin/sluice"))

        commands = re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", session, re.MULTILINE)

        self.assertEqual(len(commands), 2)
        for command, expected in commands:
            with self.subTest(command):
                program, *arguments = shlex.split(command.replace("/tmp/greet", self.data))
                self.assertEqual(program, "build/release/bin/sluice")
                done = self.sluice(*arguments, folder=self.folder)
                self.assertEqual(done.stdout, expected or done.stdout)
                self.assertIn("greet" if not expected else "", done.stdout)


class Definitions(ProgramTest):
    def test_all_that_is_wrong_is_told_with_line_and_column(self):
        file = self.file("bad.yaml", "name: bad\ntriggers:\n  - id: a\n    on: x\n    conditon: always\n"
                                     "  - id: b\n    on: 7\n    action: {invoke: nobody}\n")

        run = self.sluice("run", file, code=INVALID)
        validate = self.sluice("validate", file, "--json", code=INVALID)

        self.assertEqual(run.stdout, "")
        self.assertIn("bad.yaml:5:5:", run.stderr)
        self.assertIn("bad.yaml:7:5:", run.stderr)
        self.assertIn("bad.yaml:8:", run.stderr)
        found = json.loads(validate.stdout)
        self.assertFalse(found["valid"])
        self.assertGreaterEqual({finding["line"] for finding in found["findings"]}, {5, 7, 8})

    def test_text_that_is_no_yaml_is_refused(self):
        for text in ("", "{", "\x00", "- [", "name: a\nname: b\n", "[" * 1000):
            with self.subTest(text[:10]):
                self.sluice("run", self.file("bad.yaml", text), code=INVALID)

    def test_a_file_that_is_not_there_is_not_found(self):
        self.sluice("run", self.folder / "none.yaml", code=NOT_FOUND)
        self.sluice("validate", self.folder / "none.yaml", code=NOT_FOUND)

    def test_usage_is_checked(self):
        for arguments in ((), ("run",), ("nonsense",), ("show",), ("run", "x", "--durability", "some"),
                          ("why", "--data", "x"), ("completion", "tcsh"), ("fork", "x", "--data", "x"), ("delete", "--data", "x")):
            with self.subTest(arguments):
                self.assertEqual(self.sluice(*arguments, code=INVALID).stdout, "")

    def test_help_and_version_are_data(self):
        self.assertRegex(self.sluice("--version").stdout, r"^\d+\.\d+\.\d+\n$")
        for command in ("run", "fork", "delete", "validate", "show", "why", "replay", "store", "bench", "completion"):
            with self.subTest(command):
                self.assertIn(command, self.sluice("--help").stdout)
                self.assertIn("Usage", self.sluice(command, "--help").stdout)

    def test_completion_scripts_know_the_commands(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell):
                self.assertIn("validate", self.sluice("completion", shell).stdout)


class Runs(ProgramTest):
    def echo(self, action="{finish: {result: \"${run.input}\"}}"):
        return self.file("echo.yaml", f"name: echo\ntriggers:\n  - id: e\n    on: sluice.run.started\n    action: {action}\n")

    def test_input_comes_as_json_or_from_a_file(self):
        self.assertEqual(self.result(self.echo(), "--input", '{"a": [1, "ü"]}'), {"a": [1, "ü"]})
        self.assertEqual(self.result(self.echo(), "--input", "@" + self.file("input.json", "9007199254740993")),
                         9007199254740993)
        self.sluice("run", self.echo(), "--input", "{", code=INVALID)
        self.sluice("run", self.echo(), "--input", "@" + str(self.folder / "none"), code=NOT_FOUND)

    def test_the_input_of_the_definition_is_taken_when_none_is_given(self):
        file = self.file("default.yaml", pathlib.Path(self.echo()).read_text() + "input: {count: 3}\n")

        self.assertEqual(self.result(file), {"count": 3})
        self.assertEqual(self.result(file, "--input", "null"), None)

    def test_ids_of_nested_runs_cannot_be_given(self):
        for name in ("r~1.0", "r~spread", "~r", "r~", "a b", "a/b", "x" * 251, b"\xff"):
            with self.subTest(name):
                arguments = ["run", self.echo(), "--run", name]
                done = subprocess.run([PROGRAM, *arguments], capture_output=True, env=self.environment(), check=False)
                self.assertEqual(done.returncode, INVALID)
                self.assertIn("run id", done.stderr.decode())
        self.result(self.echo(), "--run", "group~7")

    def test_a_run_that_fails_tells_why_and_prints_nothing(self):
        file = self.echo("{finish: {error: {kind: broken, message: it broke, part: 7}}}")

        done = self.sluice("run", file, "--data", self.data, code=FAILED)
        again = self.sluice("run", file, "--data", self.data, code=FAILED)

        self.assertEqual(done.stdout, "")
        for text in ("broken", "it broke", "part: 7"):
            self.assertIn(text, done.stderr)
            self.assertIn(text, again.stderr)

    def test_a_fault_names_its_trigger(self):
        done = self.sluice("run", self.echo("{set: {run: {x: \"${1 / 0}\"}}}"), code=FAILED)

        self.assertIn("trigger: e", done.stderr)

    def test_the_same_again_is_the_same_run(self):
        first = self.sluice("run", self.echo(), "--input", "1", "--data", self.data)
        again = self.sluice("run", self.echo(), "--input", "1", "--data", self.data)
        self.sluice("run", self.echo(), "--input", "2", "--data", self.data)

        self.assertEqual(first.stdout, again.stdout)
        self.assertIn("has ended already", again.stderr)
        self.assertEqual(len(json.loads(self.sluice("show", "--data", self.data, "--json").stdout)["runs"]), 2)

    def test_a_run_id_stays_with_its_definition_and_input(self):
        self.sluice("run", self.echo(), "--data", self.data, "--run", "mine")

        other_input = self.sluice("run", self.echo(), "--data", self.data, "--run", "mine", "--input", "1", code=INVALID)
        changed = self.echo("{finish: {result: other}}")
        other = self.sluice("run", changed, "--data", self.data, "--run", "mine", code=INVALID)

        self.assertIn("other input", other_input.stderr)
        self.assertIn("another definition", other.stderr)
        self.sluice("run", changed, "--data", self.data, "--run", "not/good", code=INVALID)

    def test_a_run_that_continues_as_new_ends_with_its_last_generation(self):
        file = self.file("again.yaml", """
name: again
triggers:
  - {id: again, on: sluice.run.started, filter: run.generation < 3, action: {continue: {input: "${run.generation}"}}}
  - {id: end, on: sluice.run.started, filter: run.generation == 3, action: {finish: {result: "${run.input}"}}}
""")

        self.assertEqual(self.result(file, "--data", self.data, "--run", "r"), 2)
        self.assertEqual(self.result(file, "--data", self.data, "--run", "r"), 2)
        self.assertIn("generation  3", self.sluice("show", "r", "--data", self.data).stdout)
        history = self.sluice("show", "r", "--history", "--data", self.data).stdout
        self.assertIn("the run continued as new", history)
        self.assertIn("generation 3 began", history)
        self.sluice("replay", "r", "--data", self.data)

    def test_a_failed_run_is_reopened_and_goes_on(self):
        file = self.file("retry.yaml", """
name: retry
triggers:
  - {id: begin, on: sluice.run.started, action: {finish: {error: not yet}}}
  - {id: again, on: sluice.run.reopened, action: {invoke: {function: echo, input: "${run.generation}"}}}
  - {id: end, on: sluice.task.succeeded, action: {finish: {result: "${data.result}"}}}
""")
        self.sluice("run", file, "--data", self.data, "--run", "r", code=FAILED)

        self.assertIn("generation 2", self.sluice("reopen", "r", "--data", self.data).stdout)
        self.assertIn("is running", self.sluice("reopen", "r", "--data", self.data, code=INVALID).stderr)
        self.assertIn("not yet", self.sluice("why", "r", "--data", self.data).stdout)
        self.assertEqual(self.result(file, "--data", self.data, "--run", "r"), 2)
        self.assertIn("has succeeded", self.sluice("reopen", "r", "--data", self.data, code=INVALID).stderr)
        self.sluice("reopen", "nobody", "--data", self.data, code=NOT_FOUND)
        self.sluice("reopen", "r", "--data", self.folder / "none", code=NOT_FOUND)
        self.sluice("replay", "r", "--data", self.data)

    def test_functions_may_come_from_another_file(self):
        functions = self.file("functions.yaml", "functions:\n  twice: {command: 'read n; echo $((n * 2))'}\n")
        file = self.file("use.yaml", """
name: use
triggers:
  - {id: begin, on: sluice.run.started, action: {invoke: {function: twice, input: 21}}}
  - {id: done, on: {type: sluice.task.succeeded}, action: {finish: {result: "${data.result}"}}}
""")

        self.sluice("run", file, code=INVALID)
        self.assertEqual(self.result(file, "--functions", functions), 42)

    def test_progress_is_json_lines_and_the_result_alone_on_stdout(self):
        done = self.sluice("run", ROOT / "examples/functions.yaml", "--json", "--data", self.data)

        told = progress_of(done)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        self.assertEqual([line["trigger"] for line in told if line["kind"] == "fired"][0], "begin")
        self.assertEqual(sorted(line["status"] for line in told if line["kind"] == "task"),
                         ["started", "started", "succeeded", "succeeded"])
        self.assertEqual([line["status"] for line in told if line["kind"] == "ended"], ["succeeded"])

    def test_every_durability_gives_the_same_result(self):
        for durability in ("strict", "relaxed", "memory"):
            with self.subTest(durability):
                self.assertEqual(self.result(ROOT / "examples/nested.yaml", "--durability", durability), {"sum": 30})

    def test_memory_and_a_data_directory_contradict_each_other(self):
        self.sluice("run", self.echo(), "--durability", "memory", "--data", self.data, code=INVALID)

    def test_a_run_that_feeds_itself_for_ever_fails(self):
        file = self.file("loop.yaml", "name: loop\ntriggers:\n"
                         "  - {id: a, on: [sluice.run.started, x], lifetime: persistent, action: {emit: x}}\n")

        self.assertIn("budget", self.sluice("run", file, "--durability", "memory", code=FAILED).stderr)

    def test_several_threads_give_the_same_result(self):
        self.assertEqual(self.result(ROOT / "examples/nested.yaml", "--threads", "4"), {"sum": 30})


class Events(ProgramTest):
    def setUp(self):
        super().setUp()
        self.definition = self.file("three.yaml", THREE_ITEMS)

    def test_events_of_a_file_reach_the_run(self):
        events = self.file("events.jsonl", "".join(event(n) for n in range(3)))

        self.assertEqual(self.result(self.definition, "--events", events), "got three")

    def test_each_event_of_a_stream_is_acknowledged_once_it_is_durable(self):
        process = self.start("run", self.definition, "--events", "-", "--data", self.data, "--json")
        fates = []
        for number in (1, 1, 2):
            process.stdin.write(event(number))
            process.stdin.flush()
            fates.append(self.wait_for(process, kind="accepted", id=f"e{number}")["fate"])
        process.kill()
        process.communicate()

        self.assertEqual(fates, ["activated", "duplicate", "activated"])
        self.assertEqual(self.result(self.definition, "--events", "-", "--data", self.data, stdin=event(3)), "got three")

    def test_a_file_is_continued_behind_the_line_that_was_taken(self):
        events = self.file("events.jsonl", event(1) + event(2))
        self.sluice("run", self.definition, "--events", events, "--data", self.data, code=WAITING)
        self.file("events.jsonl", event(1) + event(2) + "\n" + event(3))

        done = self.sluice("run", self.definition, "--events", events, "--data", self.data, "--json")

        run = json.loads(self.sluice("show", "--data", self.data, "--json").stdout)["runs"][0]["run"]
        counts = json.loads(self.sluice("show", run, "--data", self.data, "--json").stdout)["counts"]
        self.assertEqual(json.loads(done.stdout), "got three")
        self.assertEqual(counts["duplicates"], 0)
        self.assertEqual([told["line"] for told in progress_of(done) if told["kind"] == "accepted"], [4])

    def test_an_event_for_no_run_is_told_or_set_aside(self):
        stray = event(1, run="nobody") + event(2)
        told = self.sluice("run", self.definition, "--events", "-", "--data", self.data, "--json", stdin=stray, code=WAITING)
        self.sluice("run", self.definition, "--events", self.file("stray.jsonl", stray), "--data", self.data, code=WAITING)

        aside = json.loads(self.sluice("show", "--quarantine", "--data", self.data, "--json").stdout)
        refused = [line for line in progress_of(told) if line["kind"] == "refused"]
        self.assertIn('no run "nobody"', refused[0]["message"])
        self.assertEqual([(one["run"], one["number"], one["event"]["id"]) for one in aside], [("nobody", 1, "e1")])
        self.assertIn("nobody", self.sluice("show", "--quarantine", "--data", self.data).stdout)

    def test_a_reply_comes_with_the_fate(self):
        file = self.file("answers.yaml", "name: answers\ntriggers:\n  - {id: a, on: item, action: {reply: '${event.id}'}}\n")

        done = self.sluice("run", file, "--events", "-", "--json", stdin=event(1) + event(2), code=WAITING)

        told = [line for line in progress_of(done) if line["kind"] == "accepted"]
        self.assertEqual([line.get("reply") for line in told], ["e1", None])

    def test_bad_lines_are_told_by_number_and_lose_nothing(self):
        text = event(1) + "no event\n" + event(2) + event(9, "sluice.mine") + "\n" + event(3)
        events = self.file("events.jsonl", text)

        done = self.sluice("run", self.definition, "--events", events, code=INVALID)
        kept = self.sluice("run", self.definition, "--events", events, "--keep-going")

        self.assertEqual(json.loads(done.stdout), "got three")
        self.assertIn("events.jsonl:2:", done.stderr)
        self.assertIn("events.jsonl:4:", done.stderr)
        self.assertEqual(json.loads(kept.stdout), "got three")

    def test_a_run_that_nobody_sends_events_waits(self):
        done = self.sluice("run", self.definition, "--data", self.data, code=WAITING)

        self.assertEqual(done.stdout, "")
        self.assertIn("1 trigger waits", done.stderr)
        self.assertIn("three waits for item", done.stderr)

    def test_a_run_whose_nested_run_waits_does_too(self):
        file = self.file("outer.yaml", "name: outer\ntriggers:\n"
                         "  - {id: b, on: sluice.run.started, action: {start: {definition: inner}}}\n"
                         "  - {id: c, on: sluice.run.succeeded, action: {finish: {}}}\n"
                         "definitions:\n  inner:\n    triggers: [{id: w, on: never, action: {finish: {}}}]\n")

        self.sluice("run", file, code=WAITING)

    def test_a_file_of_events_that_is_not_there_is_not_found(self):
        self.sluice("run", self.definition, "--events", self.folder / "none", code=NOT_FOUND)


class Interruptions(ProgramTest):
    def test_a_killed_run_continues_and_does_nothing_twice(self):
        marks = self.folder / "marks"
        file = self.file("marks.yaml", MARKS.replace("MARKS", str(marks)).replace("SECONDS", "2"))
        process = self.start("run", file, "--data", self.data, "--json")
        for _ in range(3):
            self.wait_for(process, kind="task", status="succeeded")
        process.kill()
        process.communicate()

        self.assertEqual(self.result(file, "--data", self.data), "done")

        keys = marks.read_text().split()
        # The one that was under way is begun again, with its key; those that were done are not.
        self.assertEqual(len(set(keys)), 4)
        self.assertEqual(len(keys), 5)
        self.assertEqual(len([key for key in keys if key.endswith("/3")]), 2)

    def test_a_killed_builtin_task_is_taken_up_again(self):
        file = self.file("nap.yaml", SLEEP.replace("DURATION", "1s"))
        process = self.start("run", file, "--data", self.data, "--json")
        self.wait_for(process, kind="task", status="succeeded")
        process.kill()
        process.communicate()

        done = self.sluice("run", file, "--data", self.data, "--json")

        succeeded = [line["task"] for line in progress_of(done) if line.get("status") == "succeeded" and "task" in line]
        self.assertEqual(json.loads(done.stdout), "rested")
        self.assertEqual([task.split("/", 1)[1] for task in succeeded], ["1/1"])

    def test_ctrl_c_stops_children_and_leaves_nothing(self):
        marks = self.folder / "marks"
        command = f"echo $$ > {marks}; exec sleep 600"
        file = self.file("long.yaml", "name: long\nfunctions: {long: {command: '" + command + "'}}\ntriggers:\n"
                         "  - {id: b, on: sluice.run.started, action: {invoke: long}}\n")
        process = self.start("run", file, "--json")
        self.until(lambda: marks.exists() and marks.read_text().strip(), "the child runs")

        code, output, _ = self.interrupt(process)

        self.assertEqual((code, output), (INTERRUPTED, ""))
        self.assertEqual(list(self.temporary.iterdir()), [])
        child = marks.read_text().strip()
        self.until(lambda: not pathlib.Path(f"/proc/{child}").exists(), "the child is gone")

    def test_ctrl_c_says_how_to_continue(self):
        file = self.file("nap.yaml", SLEEP.replace("DURATION", "2s"))
        process = self.start("run", file, "--data", self.data)
        self.until(lambda: pathlib.Path(self.data, "CURRENT").exists() or any(pathlib.Path(self.data).glob("**/CURRENT")),
                   "the store is there")
        self.until(lambda: process.poll() is None, "it runs")

        code, output, errors = self.interrupt(process)

        self.assertEqual((code, output), (INTERRUPTED, ""))
        self.assertIn(f"--data {self.data}", errors)
        self.assertEqual(self.result(file, "--data", self.data), "rested")

    def test_a_long_action_does_not_hold_up_ctrl_c(self):
        file = self.file("many.yaml", "name: many\ntriggers:\n"
                         "  - {id: b, on: sluice.run.started, action: {emit: {type: item, each: 900000}}}\n"
                         "  - {id: c, on: item, condition: {count: 900000}, action: {finish: {result: all}}}\n")
        process = self.start("run", file, "--data", self.data, "--json")
        self.wait_for(process, kind="fired", trigger="b")

        code, _, _ = self.interrupt(process)

        self.assertEqual(code, INTERRUPTED)
        self.assertEqual(self.result(file, "--data", self.data), "all")


PARENT = """
name: parent
functions:
  seal: {command: cat}
triggers:
  - id: begin
    on: sluice.run.started
    action:
      - invoke: {function: seal, input: "${run.input}"}
      - start: {definition: child, input: "${run.input}"}
  - id: done
    on: {type: sluice.run.succeeded, subject: child}
    action: {finish: {result: "${data.result}"}}
definitions:
  child:
    triggers:
      - id: tell
        on: sluice.run.started
        action: {finish: {result: "${run.input}"}}
"""


class Deletion(ProgramTest):
    # Nothing in them is repeated, so that compression leaves them as they are.
    SECRETS = {"small": "5e4a1c0f9b3d7782", "large": "c6d8012fea49b753"}

    def setUp(self):
        super().setUp()
        noise = "".join(format(number * 2654435761 % 2**32, "08x") for number in range(2000))
        self.inputs = {"small": self.SECRETS["small"], "large": self.SECRETS["large"] + noise}

    def files_with(self, secret):
        return [path.name for path in pathlib.Path(self.data).rglob("*") if path.is_file()
                and secret.encode() in path.read_bytes()]

    def run_with_secret(self, size):
        file = self.file("parent.yaml", PARENT)
        self.result(file, "--data", self.data, "--run", size, "--input", json.dumps(self.inputs[size]))

    def test_nothing_of_a_deleted_run_is_in_any_file(self):
        for size, secret in self.SECRETS.items():
            with self.subTest(size):
                self.run_with_secret(size)
                self.assertTrue(any(name.endswith(".log") for name in self.files_with(secret)))
                # Opening again moves the log into tables: both kinds of file have had it.
                self.sluice("run", ROOT / "examples/early-event.yaml", "--data", self.data, "--run", size + "-other")
                self.assertTrue(self.files_with(secret))

                deleted = self.sluice("delete", size, "--data", self.data).stdout.split()

                self.assertEqual(deleted, [size, f"{size}~1.1"])
                self.assertEqual(self.files_with(secret), [])
                for run in deleted:
                    self.sluice("show", run, "--data", self.data, code=NOT_FOUND)
        self.sluice("store", "check", "--data", self.data)
        self.sluice("replay", "small-other", "--data", self.data)

    def test_a_running_run_is_deleted_by_force_only(self):
        secret = self.SECRETS["small"]
        self.sluice("run", self.file("three.yaml", THREE_ITEMS), "--data", self.data, "--run", "open", "--events", "-",
                    stdin=event(1, data=secret), code=WAITING)

        refused = self.sluice("delete", "open", "--data", self.data, code=INVALID)
        self.assertIn("--force", refused.stderr)
        self.assertEqual(json.loads(self.sluice("show", "open", "--data", self.data, "--json").stdout)["status"], "running")
        forced = self.sluice("delete", "open", "--data", self.data, "--force", "--json")

        self.assertEqual(json.loads(forced.stdout), {"deleted": ["open"]})
        self.assertEqual(self.files_with(secret), [])

    def test_deleting_calls_no_functions_of_other_runs(self):
        marks = self.folder / "marks"
        marks.touch()
        file = self.file("marks.yaml", MARKS.replace("MARKS", str(marks)).replace("SECONDS", "600"))
        process = self.start("run", file, "--data", self.data, "--run", "busy", "--json")
        self.until(lambda: len(marks.read_text().splitlines()) == 4, "the calls were made")
        process.kill()
        process.wait()
        self.sluice("run", self.file("three.yaml", THREE_ITEMS), "--data", self.data, "--run", "open", code=WAITING)
        called = len(marks.read_text().splitlines())

        self.sluice("delete", "open", "--data", self.data, "--force")

        self.assertEqual(len(marks.read_text().splitlines()), called)
        self.assertEqual(json.loads(self.sluice("show", "busy", "--data", self.data, "--json").stdout)["status"], "running")

    def test_what_is_not_there_is_not_found(self):
        self.sluice("delete", "nobody", "--data", self.folder / "nowhere", code=NOT_FOUND)
        self.assertFalse((self.folder / "nowhere").exists())
        self.run_with_secret("small")
        self.sluice("delete", "nobody", "--data", self.data, code=NOT_FOUND)


class Forks(ProgramTest):
    COUNTED = """
name: counted
functions:
  add: {command: 'sed "s/$/0/"'}
triggers:
  - id: three
    on: item
    condition: {count: 3}
    action: {invoke: {function: add, input: 4}}
  - id: added
    on: sluice.task.succeeded
    action: {finish: {result: "${run.id} ${data.result}"}}
"""

    def setUp(self):
        super().setUp()
        self.counted = self.file("counted.yaml", self.COUNTED)
        self.result(self.counted, "--data", self.data, "--run", "one", "--events", "-",
                    stdin=event(1) + event(2) + event(3))

    def fork(self, *arguments, **options):
        return self.sluice("fork", "one", "--data", self.data, *arguments, **options)

    def test_a_fork_runs_on_to_its_own_end(self):
        done = self.fork("--at", "4", "--id", "two")

        self.assertEqual(json.loads(done.stdout), "two 40")
        shown = json.loads(self.sluice("show", "two", "--data", self.data, "--json").stdout)
        self.assertEqual(shown["status"], "succeeded")
        for run in ("one", "two"):
            self.sluice("replay", run, "--data", self.data)

    def test_a_fork_that_waits_takes_events_and_continues(self):
        waiting = self.fork("--at", "3", code=WAITING)
        done = self.fork("--at", "3", "--events", "-", stdin=event(9))

        self.assertIn("sluice fork one --at 3", waiting.stderr)
        self.assertIn("continues", done.stderr)
        self.assertEqual(json.loads(done.stdout), "one-3 40")

    def test_a_fork_can_be_forked_at_an_event_of_its_own(self):
        self.fork("--at", "2", "--id", "two", "--events", "-", stdin=event(8) + event(9))

        done = self.sluice("fork", "two", "--at", "3", "--id", "three", "--data", self.data, "--events", "-", stdin=event(7))

        self.assertEqual(json.loads(done.stdout), "three 40")

    def test_what_cannot_be_forked_is_said(self):
        self.assertIn("no run", self.sluice("fork", "none", "--at", "1", "--data", self.data, code=NOT_FOUND).stderr)
        self.assertIn("no event", self.fork("--at", "99", code=NOT_FOUND).stderr)
        self.assertIn("--id", self.fork("--at", "2", "--id", "one", code=INVALID).stderr)
        self.sluice("fork", "one", "--at", "1", "--data", self.folder / "nowhere", code=NOT_FOUND)


class Checkpoints(ProgramTest):
    def test_a_long_run_is_read_from_its_checkpoints(self):
        events = self.file("events.jsonl", "".join(event(number) for number in range(25_000)))
        file = self.file("many.yaml", THREE_ITEMS.replace("count: 3", "count: 26000"))
        self.sluice("run", file, "--data", self.data, "--run", "long", "--events", events, code=WAITING)

        whole = json.loads(self.sluice("replay", "long", "--data", self.data, "--json").stdout)
        rest = json.loads(self.sluice("replay", "long", "--data", self.data, "--json", "--from", "24000").stdout)
        told = self.sluice("replay", "long", "--data", self.data, "--from", "24000").stdout
        state = json.loads(self.sluice("replay", "long", "--data", self.data, "--at", "24001").stdout)

        self.assertEqual((whole["from"], whole["events"], whole["same"]), (0, 25_001, True))
        self.assertGreaterEqual(rest["from"], 10_000)
        self.assertEqual((rest["from"] + rest["events"], rest["same"]), (25_001, True))
        self.assertIn(f"from the checkpoint at event {rest['from']} on", told)
        self.assertEqual(state["counts"]["events"], 24_001)
        more = self.file("more.jsonl", "".join(event(number) for number in range(30_000, 32_000)))
        done = self.sluice("fork", "long", "--at", "24001", "--data", self.data, "--events", more, "--quiet")
        self.assertEqual(json.loads(done.stdout), "got three")
        self.sluice("replay", "long-24001", "--data", self.data)


class Inspection(ProgramTest):
    def setUp(self):
        super().setUp()
        self.result(ROOT / "examples/early-event.yaml", "--data", self.data, "--run", "early")

    def test_show_lists_and_filters_runs(self):
        self.sluice("run", self.file("three.yaml", THREE_ITEMS), "--data", self.data, "--run", "open", code=WAITING)

        def listed(*filters):
            done = self.sluice("show", "--data", self.data, "--json", *filters)
            return [run["run"] for run in json.loads(done.stdout)["runs"]]

        self.assertEqual(listed(), ["open", "early"])
        self.assertEqual(listed("--status", "running"), ["open"])
        self.assertEqual(listed("--definition", "early-event"), ["early"])
        self.assertEqual(listed("--definition", "early-event", "--status", "running"), [])
        self.assertEqual(listed("--label", "team=red"), [])
        self.assertEqual(listed("--since", "1h"), ["open", "early"])
        self.assertEqual(listed("--until", "2026-01-01T00:00:00Z"), [])
        self.assertEqual(listed("--ended-since", "1h"), ["early"])
        self.assertEqual(listed("--ended-until", "1h"), [])
        self.assertIn("early-event", self.sluice("show", "--data", self.data).stdout)

    def test_show_lists_runs_by_label(self):
        file = self.file("three.yaml", THREE_ITEMS)
        for name, labels in (("a", ("team=red", "env=prod")), ("b", ("team=blue",))):
            options = [part for label in labels for part in ("--label", label)]
            self.sluice("run", file, "--data", self.data, "--run", name, *options, code=WAITING)

        done = json.loads(self.sluice("show", "--data", self.data, "--json", "--label", "team=red").stdout)

        self.assertEqual([run["run"] for run in done["runs"]], ["a"])
        self.assertEqual(done["runs"][0]["labels"], {"team": "red", "env": "prod"})
        for label in ("team", "=red", "sluice.parent=x"):
            self.sluice("run", file, "--label", label, code=INVALID)

    def test_show_pages_by_cursor(self):
        self.sluice("run", self.file("three.yaml", THREE_ITEMS), "--data", self.data, "--run", "open", code=WAITING)

        first = json.loads(self.sluice("show", "--data", self.data, "--json", "--limit", "1").stdout)
        told = self.sluice("show", "--data", self.data, "--limit", "1").stderr
        last = json.loads(self.sluice("show", "--data", self.data, "--json", "--limit", "1",
                                      "--cursor", first["cursor"]).stdout)

        self.assertEqual([run["run"] for run in first["runs"] + last["runs"]], ["open", "early"])
        self.assertIn(f"--cursor {first['cursor']}", told)
        self.assertIsNone(last["cursor"])

    def test_show_says_which_filters_are_none(self):
        for option, text in (("--since", "yesterday"), ("--label", "team"), ("--cursor", "here"), ("--status", "lost")):
            with self.subTest(option):
                self.assertIn(text, self.sluice("show", "--data", self.data, option, text, code=INVALID).stderr)

    def test_show_tells_of_one_run(self):
        shown = json.loads(self.sluice("show", "early", "--data", self.data, "--json").stdout)

        self.assertEqual(shown["status"], "succeeded")
        self.assertEqual(shown["result"], {"order": ["a", "b"]})
        self.assertEqual(shown["counts"]["fired"], 3)
        for section in ("triggers", "contexts", "history", "events", "timers", "tasks"):
            with self.subTest(section):
                self.assertTrue(self.sluice("show", "early", "--data", self.data, f"--{section}").stdout)
                text = self.sluice("show", "early", "--data", self.data, f"--{section}", "--json").stdout
                self.assertTrue(all(json.loads(line) is not None for line in text.splitlines()))

    def test_why_follows_an_event_that_was_parked(self):
        steps = json.loads(self.sluice("why", "early", "#2", "--data", self.data, "--json").stdout)["steps"]

        self.assertEqual([step["fate"] for step in steps], ["parked", "fired"])
        self.assertIn("begin", steps[0]["came"])
        self.assertIn("b fired", self.sluice("why", "early", steps[0]["id"], "--data", self.data).stdout)

    def test_why_tells_what_a_run_waits_for(self):
        self.sluice("run", self.file("three.yaml", THREE_ITEMS), "--data", self.data, "--run", "open",
                    "--events", "-", stdin=event(1) + event(1) + event(2, "other"), code=WAITING)

        text = self.sluice("why", "open", "--data", self.data).stdout
        duplicate = json.loads(self.sluice("why", "open", "e1", "--data", self.data, "--json").stdout)["steps"]

        self.assertIn("three waits for item: count 3, 1 so far", text)
        self.assertIn("is kept", text)
        self.assertEqual([step["fate"] for step in duplicate], ["activated", "duplicate"])

    def test_replay_shows_the_state_at_an_event(self):
        state = json.loads(self.sluice("replay", "early", "--data", self.data, "--at", "3").stdout)

        self.assertEqual(state["contexts"]["run"], {"order": ["a"]})
        self.assertEqual(state["status"], "running")
        self.sluice("replay", "early", "--data", self.data, "--at", "99", code=NOT_FOUND)

    def test_what_is_not_there_is_not_found(self):
        nowhere = self.folder / "nowhere"
        for arguments in (("show",), ("show", "early"), ("why", "early"), ("replay", "early"), ("store", "check"),
                          ("store", "export")):
            with self.subTest(arguments):
                self.sluice(*arguments, "--data", nowhere, code=NOT_FOUND)
        self.assertFalse(nowhere.exists())
        for command in ("show", "why", "replay"):
            self.sluice(command, "nobody", "--data", self.data, code=NOT_FOUND)
        self.sluice("why", "early", "#99", "--data", self.data, code=NOT_FOUND)

    def test_a_store_is_checked_and_exported(self):
        self.assertIn("sound", self.sluice("store", "check", "--data", self.data).stdout)
        self.assertTrue(json.loads(self.sluice("store", "check", "--data", self.data, "--json").stdout)["is_sound"])
        records = [json.loads(line) for line in self.sluice("store", "export", "--data", self.data).stdout.splitlines()]
        self.assertIn("H", {record.get("table") for record in records})
        self.assertEqual([record["table"] for record in records if "value" not in record], ["K"], "the secret is not printed")
        self.assertEqual([record["key"] for record in records], sorted(record["key"] for record in records))

    def test_damage_is_found(self):
        logs = sorted(pathlib.Path(self.data).glob("**/*.log"), key=lambda path: path.stat().st_size)
        content = bytearray(logs[-1].read_bytes())
        content[100] ^= 0x40
        logs[-1].write_bytes(content)

        self.sluice("store", "check", "--data", self.data, code=FAILED)
        self.sluice("show", "--data", self.data, code=UNAVAILABLE)

    def test_a_directory_in_use_is_named(self):
        process = self.start("run", self.file("nap.yaml", SLEEP.replace("DURATION", "600s")), "--data", self.data, "--json")
        self.wait_for(process, kind="task", status="succeeded")

        for arguments in (("show",), ("run", self.file("three.yaml", THREE_ITEMS)), ("store", "check")):
            with self.subTest(arguments):
                self.assertIn(self.data, self.sluice(*arguments, "--data", self.data, code=UNAVAILABLE).stderr)


if __name__ == "__main__":
    unittest.main()
