#!/usr/bin/env python3
"""State machines as files: recognised, validated, drawn.

usage: machine_file_test.py [PROGRAM] [unittest options]
"""
import json
import os
import pathlib
import re
import sys
import unittest

if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
    os.environ["SLUICE"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from program import INVALID, ROOT, ProgramTest  # noqa: E402

PAGES = ROOT / "docs/reference/states-language"
SHIP = """StartAt: Pack
States:
  Pack:
    Type: Pass
    Next: Send
  Send: {Type: Task, Resource: "arn:aws:states:::sqs:sendMessage.waitForTaskToken", End: true}
"""


def nested(levels):
    flow = '{"StartAt": "s", "States": {"s": {"Type": "Succeed"}}}'
    for level in range(levels):
        flow = f'{{"StartAt": "p{level}", "States": {{"p{level}": {{"Type": "Parallel", "End": true, "Branches": [{flow}]}}}}}}'
    return flow


class Validate(ProgramTest):
    def findings(self, *arguments, code=0):
        return json.loads(self.sluice("validate", "--json", *arguments, code=code).stdout)["findings"]

    def test_knows_them_by_content_and_by_name(self):
        self.assertEqual(self.findings(self.file("ship.yaml", SHIP)), [])
        self.assertEqual(self.findings(self.file("ship.asl.yml", SHIP)), [])
        (found,) = self.findings(self.file("ship.asl.json", "{}"), code=INVALID)
        self.assertEqual(found["message"], "These fields are required: [StartAt, States]")

    def test_tells_code_pointer_and_place(self):
        file = self.file("ship.asl.yaml", SHIP.replace("  Send:", "  Sent:"))

        said = self.sluice("validate", file, code=INVALID).stderr
        missing, lost, *_ = self.findings(file, code=INVALID)

        self.assertIn("ship.asl.yaml:5:5: States/Pack/Next: Missing 'Next' target: Send", said)
        self.assertEqual({**missing, "file": ""}, {
            "file": "", "line": 5, "column": 5, "path": "States/Pack/Next", "location": "/States/Pack/Next", "severity": "ERROR",
            "message": "Missing 'Next' target: Send", "code": "MISSING_TRANSITION_TARGET"})
        self.assertEqual((lost["code"], lost["location"]), ("MISSING_TRANSITION_TARGET", "/States/Sent"))

    def test_express_machines_wait_for_nobody(self):
        (found,) = self.findings(self.file("ship.asl.yaml", SHIP), "--express", code=INVALID)

        self.assertEqual((found["location"], found["line"]), ("/States/Send/Resource", 6))

    def test_a_warning_leaves_a_machine_valid(self):
        file = self.file("fail.asl.yaml", 'StartAt: F\nStates: {F: {Type: Fail, Cause: "$.cause"}}\n')

        (found,) = self.findings(file)
        said = self.sluice("validate", file).stderr

        self.assertEqual((found["severity"], found["code"]), ("WARNING", "NO_PATH"))
        self.assertIn("warning: ", said)
        self.assertIn("fail.asl.yaml: valid", said)

    def test_what_is_no_json_has_its_code(self):
        (found, *_) = self.findings(self.file("broken.asl.json", '{"StartAt": '), code=INVALID)
        twice = self.findings(self.file("twice.asl.json", '{"StartAt": "a",\n "StartAt": "b", "States": {}}'), code=INVALID)

        self.assertEqual(found["code"], "INVALID_JSON_DESCRIPTION")
        self.assertEqual((twice[0]["code"], twice[0]["line"]), ("INVALID_JSON_DESCRIPTION", 2))

    def test_a_hundred_parallels_within_each_other_are_fine_and_a_thousand_are_told_of(self):
        self.assertEqual(self.findings(self.file("deep.asl.json", nested(150))), [])
        self.sluice("validate", self.file("deeper.asl.json", nested(1000)), code=INVALID)

    def test_other_languages_have_places_too(self):
        (found, *_) = self.findings(self.file("tasks.yaml", "name: t\ntasks:\n  a: {call: 7}\n"), code=INVALID)

        self.assertEqual((found["severity"], found["location"], found["line"]), ("ERROR", "/tasks/a/call", 3))

    def test_the_page_shows_what_comes(self):
        page = (PAGES / "validation.md").read_text()
        shown = re.search(r"^```\n(\$ sluice validate .*?)^```", page, re.MULTILINE | re.DOTALL).group(1)
        file = self.file("ship.asl.yaml", SHIP.replace("  Send:", "  Sent:"))

        said = self.sluice("validate", file, code=INVALID).stderr
        found = self.findings(file, code=INVALID)[0]

        self.assertIn(re.search(r"^ship.*$", shown, re.MULTILINE).group(0), said)
        printed = json.loads(re.search(r"^\{.*\Z", shown, re.MULTILINE | re.DOTALL).group(0))
        self.assertEqual({**found, "file": "ship.asl.yaml"}, printed["findings"][0])


class Pictures(ProgramTest):
    def test_states_choices_and_what_is_nested(self):
        page = (PAGES / "definition.md").read_text()
        file = self.file("order.asl.json", re.search(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL).group(1))

        drawn = self.sluice("graph", file, "--format", "dot").stdout
        deep = self.sluice("graph", self.file("deep.asl.json", nested(3)), "--format", "dot").stdout

        for part in ("start", "end", "Route", "$.total NumericGreaterThan 1000", "otherwise", "call ship"):
            self.assertIn(part, drawn)
        self.assertEqual(deep.count("subgraph"), 3)


if __name__ == "__main__":
    unittest.main()
