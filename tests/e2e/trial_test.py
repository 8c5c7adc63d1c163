#!/usr/bin/env python3
"""Cases for definitions as people use them: `sluice test`.

usage: trial_test.py [PROGRAM] [unittest options]
"""
import json
import os
import pathlib
import re
import sys
import time
import unittest

if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
    os.environ["SLUICE"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import yaml  # noqa: E402

import schema  # noqa: E402
from program import FAILED, INVALID, NOT_FOUND, ROOT, ProgramTest  # noqa: E402

SCHEMA = json.loads((ROOT / "docs/reference/test.schema.json").read_text())

MONTH = """
name: month
tasks:
  wait: {wait: 30d}
  work: {call: work, after: wait, input: "${input}"}
result: {answer: "${tasks.work.result}"}
"""

# The definition of the reference, which does not show it.
THUMBNAILS = """
name: thumbnails
tasks:
  resize:
    map: {over: "${input.files}", call: resize, input: {file: "${item}"}, retry: {attempts: 2, on: [busy]}}
result: {resized: "${size(tasks.resize.result)}"}
"""


def blocks(page, kind):
    """Code in a page, without the indent of a list around it."""
    found = re.findall(r"^( *)```(\w*)\n(.*?)^\1```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    return [re.sub(rf"^{indent}", "", text, flags=re.MULTILINE) for indent, each, text in found if each == kind]


class Trials(ProgramTest):
    def month(self, cases):
        self.file("month.yaml", MONTH)
        return self.file("month.test.yaml", "definition: month.yaml\ncases:\n" + cases)

    def test_every_example_passes(self):
        files = sorted((ROOT / "examples").rglob("*.test.yaml"))

        done = self.sluice("test", *files)

        self.assertGreaterEqual(len(files), 3)
        self.assertRegex(done.stdout, r"\n\d+ cases, 0 failed\n$")
        for file in files:
            with self.subTest(file.name):
                self.assertEqual(schema.problems(SCHEMA, SCHEMA, yaml.safe_load(file.read_text())), [])

    def test_the_pages_do_what_they_say(self):
        self.file("thumbnails.yaml", THUMBNAILS)
        reference, machine = blocks("docs/reference/test.md", "yaml")
        self.file("order.yaml", (ROOT / "examples/order.yaml").read_text())
        how_to = "".join(blocks("docs/how-to/test-a-workflow.md", "yaml"))

        self.sluice("test", self.file("thumbnails.test.yaml", reference))
        self.sluice("test", self.file("order.test.yaml", how_to))
        self.file("order-saga.asl.json", (ROOT / "examples/asl/order-saga.asl.json").read_text())
        self.sluice("test", self.file("saga.test.yaml", machine))

        for text in (reference, machine, how_to):
            self.assertEqual(schema.problems(SCHEMA, SCHEMA, yaml.safe_load(text)), [])

    def test_a_failure_is_told_path_by_path_as_the_page_shows(self):
        self.file("thumbnails.yaml", THUMBNAILS)
        shown = next(text for text in blocks("docs/reference/test.md", "") if "FAIL" in text)
        name = re.search(r"FAIL  (.*) \(", shown).group(1)
        file = self.file("thumbnails.test.yaml", f"""
definition: thumbnails.yaml
functions: {{resize: {{result: 1, delay: 2s}}}}
cases:
  - name: {name}
    input: {{files: [a.jpg]}}
    expect: {{result: {{resized: 2}}, calls: {{resize: 2}}}}
""")

        done = self.sluice("test", file, code=FAILED)

        self.assertEqual(done.stdout.replace(str(self.folder) + "/", ""), shown)

    def test_every_integration_of_a_state_machine_is_a_function(self):
        states = {"Put": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:putItem", "Parameters": {"TableName": "t"}, "Next": "Run"},
                  "Run": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2", "Next": "Ask",
                          "Parameters": {"StateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:other"}},
                  "Ask": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken", "HeartbeatSeconds": 60, "Next": "Call",
                          "Parameters": {"FunctionName": "ask", "Payload": {"token.$": "$$.Task.Token"}}},
                  "Call": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "Payload.$": "$"},
                           "OutputPath": "$.Payload", "Next": "Dig"},
                  "Dig": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:dig", "Next": "Each"},
                  "Each": {"Type": "Map", "End": True, "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b", "Key": "k"}},
                           "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
                                             "StartAt": "Item", "States": {"Item": {"Type": "Pass", "End": True}}}}}
        self.file("all.asl.json", json.dumps({"StartAt": "Put", "States": states}))
        file = self.file("all.test.yaml", """
definition: all.asl.json
functions:
  "dynamodb:putItem": {result: {}}
  "states:startExecution": {result: {Output: 1}, delay: 5m}
  ask: {result: yes, delay: 30s}
  f: {result: {n: 2}}
  "activity:dig": {result: gold}
  "sluice.items": {result: {items: [1, 2]}}
cases:
  - name: goes through all of them
    expect:
      result: [1, 2]
      order: [Put, Run, Ask, Call, Dig]
      duration: 5m30s
      calls: {f: {inputs: [yes]}, Dig: {inputs: [{n: 2}]}}
  - name: nobody answers in time
    tasks: {Ask: {never: true}}
    expect: {error: States.Timeout}
""")

        self.assertIn("2 cases, 0 failed", self.sluice("test", file).stdout)

    def test_json_lines_tell_a_program(self):
        file = self.month("  - {name: good, functions: {work: {result: 1}}, expect: {duration: 30d}}\n"
                          "  - {name: bad, functions: {work: {result: 1}}, expect: {result: {answer: 2}}}\n")

        lines = [json.loads(line) for line in self.sluice("test", file, "--json", code=FAILED).stdout.splitlines()]

        good, bad, summary = lines
        self.assertEqual((good["kind"], good["case"], good["passed"], good["duration"], good["differences"]),
                         ("case", "good", True, "30d", []))
        self.assertEqual(bad["differences"], [{"path": "result/answer", "message": "result/answer: expected 2, got 1",
                                               "expected": 2, "got": 1}])
        self.assertEqual(summary, {"kind": "summary", "cases": 2, "failed": 1})

    def test_cases_are_chosen_and_the_first_failure_may_stop(self):
        file = self.month("  - {name: one, functions: {work: {error: x}}}\n  - {name: two, functions: {work: {result: 1}}}\n")

        self.assertIn("1 case, 0 failed", self.sluice("test", file, "--filter", "two").stdout)
        self.assertIn("1 case, 1 failed", self.sluice("test", file, "--fail-fast", code=FAILED).stdout)
        self.assertIn("no case", self.sluice("test", file, "--filter", "three", code=INVALID).stderr)

    def test_an_unmocked_function_says_what_to_write(self):
        done = self.sluice("test", self.month("  - {name: one, input: 7}\n"), code=FAILED)

        self.assertIn('function "work" was called with 7 and is not mocked: write `functions: {work: {result: …}}`',
                      done.stdout)

    def test_mistakes_have_line_and_column(self):
        wrong = self.month("  - {name: one, expct: {}}\n")
        missing = self.file("missing.test.yaml", "definition: nothing.yaml\ncases: [{name: a}]\n")
        self.file("broken.yaml", "name: broken\ntasks: {a: {cal: x}}\n")
        broken = self.file("broken.test.yaml", "definition: broken.yaml\ncases: [{name: a}]\n")

        self.assertIn("month.test.yaml:3:17: cases/0/expct: unknown member", self.sluice("test", wrong, code=INVALID).stderr)
        self.assertIn("nothing.yaml", self.sluice("test", missing, code=NOT_FOUND).stderr)
        self.assertIn("broken.yaml:2:9: ", self.sluice("test", broken, code=INVALID).stderr)
        finding = json.loads(self.sluice("test", wrong, "--json", code=INVALID).stdout.splitlines()[0])
        self.assertEqual((finding["kind"], finding["line"], finding["column"]), ("finding", 3, 17))

    def test_a_thousand_cases_take_seconds(self):
        cases = "".join(f"  - {{name: case {at}, input: {at}, functions: {{work: {{result: {at}}}}}, "
                        f"expect: {{result: {{answer: {at}}}, duration: 30d}}}}\n" for at in range(1000))
        file = self.month(cases)

        begun = time.monotonic()
        done = self.sluice("test", file)

        self.assertIn("1000 cases, 0 failed", done.stdout)
        self.assertLess(time.monotonic() - begun, 20)

    def test_the_schema_refuses_what_is_wrong(self):
        for text in ("{definition: x}", "{definition: x, cases: []}", "{definition: x, cases: [{}]}",
                     "{definition: x, cases: [{name: a, functions: {f: {result: 1, error: x}}}]}",
                     "{definition: x, cases: [{name: a, functions: {f: {}}}]}",
                     "{definition: x, cases: [{name: a, expect: {status: good}}]}"):
            with self.subTest(text):
                self.assertNotEqual(schema.problems(SCHEMA, SCHEMA, yaml.safe_load(text)), [])


if __name__ == "__main__":
    unittest.main()
