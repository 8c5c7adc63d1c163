#!/usr/bin/env python3
"""Workflows of other systems, and functions that are simulated, as people use them.

usage: recorded_test.py [PROGRAM] [unittest options]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
    os.environ["SLUICE"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from program import FAILED, INVALID, PROGRAM, ROOT, ProgramTest  # noqa: E402
from server import Server  # noqa: E402

RIGHT = ROOT / "tests/conformance/recorded/right"


def wfformat(seconds, parents):
    return json.dumps({"name": "w", "schemaVersion": "1.5", "workflow": {
        "specification": {"tasks": [{"name": task, "id": task, "parents": before} for task, before in parents.items()]},
        "execution": {"tasks": [{"id": task, "runtimeInSeconds": seconds, "command": {"program": f"do-{task}"}} for task in parents]}}})


class Recorded(ProgramTest):
    def simulate(self, file, *arguments, **options):
        return self.result(file, "--functions", "simulate", *arguments, **options)

    def test_takes_the_time_that_was_recorded_scaled(self):
        file = self.file("w.json", wfformat(100, {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}))

        began = time.monotonic()
        self.assertEqual(self.simulate(file, "--time-scale", "0.001"), {"d": {"task": "d", "seconds": 100.0}})
        taken = time.monotonic() - began

        self.assertGreaterEqual(taken, 0.3)
        self.assertLess(taken, 20)

    def test_slots_bound_what_goes_on_at_a_time(self):
        file = self.file("w.json", wfformat(100, {"a": [], "b": [], "c": []}))

        began = time.monotonic()
        self.simulate(file, "--time-scale", "0.001", "--slots", "1")

        self.assertGreaterEqual(time.monotonic() - began, 0.3)

    def test_older_files_and_plans_of_pegasus_run_too(self):
        self.assertEqual(set(self.simulate(RIGHT / "older.json", "--time-scale", "0.001")), {"left_ID2", "right_ID3"})
        self.assertEqual(set(self.simulate(RIGHT / "oldest.json", "--time-scale", "0")), {"b"})
        self.assertEqual(self.simulate(RIGHT / "diamond.yml", "--time-scale", "0.001"), {"ID4": []})

    def test_a_run_that_was_interrupted_goes_on_with_the_command_that_is_told(self):
        file = self.file("w.json", wfformat(1, {"a": [], "b": ["a"]}))
        process = self.start("run", file, "--functions", "simulate", "--time-scale", "100", "--data", self.data, "--json")
        self.wait_for(process, kind="task", status="started")
        self.interrupt(process)
        process = self.start("run", file, "--functions", "simulate", "--time-scale", "100", "--data", self.data)
        self.until(lambda: "continues" in process.stderr.readline(), "it goes on")
        _, _, told = self.interrupt(process)

        self.assertIn("--functions 'simulate' --time-scale '100'", told)
        self.assertEqual(self.simulate(file, "--time-scale", "0", "--data", self.data), {"b": {"task": "b", "seconds": 1.0}})

    def test_functions_of_its_own_do_the_work_where_they_are_there(self):
        functions = self.file("functions.yaml", "functions:\n  do-a: {command: [cat]}\n  do-b: {builtin: echo}\n")
        file = self.file("w.json", wfformat(2, {"a": [], "b": ["a"]}))

        self.assertEqual(self.result(file, "--functions", functions), {"b": {"task": "b", "seconds": 2.0}})
        told = self.sluice("run", file, code=INVALID).stderr
        self.assertRegex(told, r'w.json:1:\d+: workflow/execution/tasks/0/command/program: there is no function "do-a", which 1 task calls')
        self.assertIn("--functions simulate", told)

    def test_validate_knows_them(self):
        file = self.file("w.json", wfformat(-1, {"a": ["b"]}))

        self.sluice("validate", *sorted(RIGHT.iterdir()))
        told = self.sluice("validate", file, code=INVALID).stderr

        self.assertRegex(told, r"w.json:1:\d+: workflow/specification/tasks/0/parents/0: there is no task \"b\"")
        self.assertRegex(told, r"w.json:1:\d+: workflow/execution/tasks/0/runtimeInSeconds: found the number -1, expected seconds")

    def test_a_server_takes_them_where_their_functions_are(self):
        server = Server(PROGRAM, self.data)
        self.addCleanup(server.kill)
        file = self.file("w.json", wfformat(0, {"a": [], "b": ["a"]}))
        address = f"http://127.0.0.1:{server.port}"

        self.assertIn("do-a", self.sluice("deploy", file, "--server", address, code=INVALID).stderr)
        for name in ("do-a", "do-b"):
            server.ask("PUT", f"/v1/functions/{name}", {"builtin": "sleep"})
        self.sluice("deploy", file, "--server", address)
        self.sluice("start", "w", "--id", "r", "--wait", "--server", address)
        shown = json.loads(self.sluice("show", "r", "--json", "--server", address).stdout)

        self.assertEqual(shown["result"], {"b": {"task": "b", "seconds": 0.0}})


class Pages(ProgramTest):
    def test_the_how_to_does_what_it_says(self):
        example = re.search(r"^```json\n(.*?)^```", (ROOT / "docs/reference/recorded.md").read_text(), re.MULTILINE | re.DOTALL)
        self.file("small.json", example.group(1))
        page = (ROOT / "docs/how-to/run-a-recorded-workflow.md").read_text()
        commands = re.findall(r"^\$ (.*)\n((?:[^$`\n].*\n)*)", page, re.MULTILINE)
        self.assertEqual(len(commands), 5)
        for line, expected in commands:
            with self.subTest(line):
                done = subprocess.run(["sh", "-c", line.replace("sluice", PROGRAM, 1)], cwd=self.folder, capture_output=True, text=True,
                                      timeout=60, env=self.environment(), check=False)
                self.assertEqual((done.stdout, done.returncode), (expected, 0), done.stderr)


class Simulated(ProgramTest):
    FLOW = """
name: flow
functions:
  load: {command: "exit 1"}
  broken: {builtin: fail}
tasks:
  load: {call: load, input: {seconds: 100, outputs: [1, 2, 3]}}
  each: {map: {over: "${tasks.load.result}", call: "${'any' + string(item)}"}}
  shell: {script: "exit 1", after: load}
  nap: {call: sleep, input: {seconds: 100, value: 5}}
  broken: {call: broken, input: {kind: no}, on_error: skip}
result: ["${tasks.each.result}", "${tasks.nap.result}", "${tasks.broken.status}"]
"""

    def test_no_function_is_called(self):
        result = self.result(self.file("flow.yaml", self.FLOW), "--functions", "simulate", "--time-scale", "0.001")

        self.assertEqual(result, [[1, 2, 3], 5, "skipped"])

    def test_without_it_they_are(self):
        self.sluice("run", self.file("flow.yaml", self.FLOW.replace("100", "0")), code=FAILED)

    def test_triggers_may_call_any_function(self):
        file = self.file("t.yaml", "name: t\ntriggers:\n  - {id: a, on: sluice.run.started, action: {invoke: {function: f, input: 3}}}\n"
                         "  - {id: b, on: sluice.task.succeeded, action: {finish: {result: \"${event.data.result}\"}}}\n")

        self.assertEqual(self.result(file, "--functions", "simulate"), 3)
        self.sluice("run", file, code=INVALID)

    def test_its_settings_are_refused_where_nothing_is_simulated(self):
        file = self.file("flow.yaml", self.FLOW)
        for arguments, told in {("--time-scale", "2"): "--time-scale is for simulated functions: expected --functions simulate beside it",
                                ("--slots", "2"): "--slots is for simulated functions: expected --functions simulate beside it",
                                ("--functions", "simulate", "--time-scale", "fast"): '--time-scale is "fast": expected a number from 0',
                                ("--functions", "simulate", "--time-scale", "-1"): '--time-scale is "-1": expected a number from 0',
                                ("--functions", "simulate", "--time-scale", "nan"): '--time-scale is "nan": expected a number from 0',
                                }.items():
            self.assertIn(told, self.sluice("run", file, *arguments, code=INVALID).stderr)


if __name__ == "__main__":
    unittest.main()
