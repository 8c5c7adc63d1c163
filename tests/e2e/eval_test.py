#!/usr/bin/env python3
"""`sluice eval` as people and scripts use it: one expression, and batches.

usage: eval_test.py [PROGRAM] [unittest options]
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
    os.environ["SLUICE"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from program import FAILED, INVALID, NOT_FOUND, OK, PROGRAM, ROOT, TIMEOUT, ProgramTest  # noqa: E402

EVENT = {"specversion": "1.0", "id": "7", "source": "/shop", "type": "order.paid", "data": {"total": 120}}


class EvalTest(ProgramTest):
    def value(self, language, expression, *options, code=OK):
        return json.loads(self.sluice("eval", "--lang", language, *options, "--", expression, code=code).stdout)

    def batch(self, language, *lines, options=()):
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        done = self.sluice("eval", "--lang", language, "--batch", *options, stdin=text)
        return [json.loads(line) for line in done.stdout.splitlines()]


class OneExpression(EvalTest):
    def test_every_language_has_a_value(self):
        event = json.dumps(EVENT)
        self.assertEqual(self.value("cel", "a + input.b", "--bind", "a=1", "--input", '{"b": 2}'), 3)
        self.assertIs(self.value("cel", "event.type == 'order.paid' && data.total > 100", "--event", event), True)
        self.assertEqual(self.value("jsonata", "$sum(a.b) + $c", "--input", '{"a": [{"b": 1}, {"b": 2}]}', "--bind", "c=3"), 6)
        self.assertEqual(self.value("jsonata", "$event.type", "--event", event), "order.paid")
        self.assertEqual(self.value("jsonpath", "$.a[*]", "--input", '{"a": [1, 2]}'), [1, 2])
        self.assertEqual(self.value("jsonpath-jayway", "$.a[0]", "--input", '{"a": [1, 2]}'), 1)
        self.assertEqual(self.value("cesql", "UPPER(type)", "--event", event), "ORDER.PAID")

    def test_json_comes_from_files_too(self):
        path = self.file("input.json", '{"a": 1}')
        self.assertEqual(self.value("jsonpath", "$.a", "--input", "@" + path), [1])
        self.assertEqual(self.value("cesql", "id", "--event", "@" + self.file("event.json", json.dumps(EVENT))), "7")
        self.sluice("eval", "--lang", "jsonpath", "$", "--input", "@" + path + "x", code=NOT_FOUND)

    def test_a_fault_is_underlined(self):
        done = self.sluice("eval", "--lang", "jsonpath", "$.ä[01]", "--input", "{}", code=FAILED)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertTrue(lines[0].startswith("sluice eval: invalid_path: "), lines)
        self.assertEqual(lines[1:], ["  $.ä[01]", "      ^"])

    def test_a_fault_is_underlined_in_its_line(self):
        done = self.sluice("eval", "--lang", "cesql", "id = '7'\n\tAND ==", code=FAILED)
        self.assertEqual(done.stderr.splitlines()[1:], ["  \tAND ==", "  \t    ^"])

    def test_cesql_has_a_value_and_errors(self):
        done = self.sluice("eval", "--lang", "cesql", "1 / 0", code=FAILED)
        self.assertEqual(done.stdout, "0\n")
        self.assertIn("math", done.stderr)

    def test_undefined_is_neither_a_value_nor_a_fault(self):
        done = self.sluice("eval", "--lang", "jsonata", "nothing", "--input", "{}")
        self.assertEqual((done.stdout, done.stderr), ("", "undefined\n"))
        self.assertEqual(self.batch("jsonata", {"id": 1, "expr": "a", "input": {}}, {"id": 2, "expr": "a", "input": {"a": None}}),
                         [{"id": 1, "undefined": True}, {"id": 2, "value": None}])

    def test_kinds_are_shown(self):
        self.assertEqual(self.value("jsonpath", "$[*]", "--typed", "--input", '[1, 1.5, "a", null, true, [2], {"k": 3}]'),
                         {"list": [{"int": "1"}, {"double": "1.5"}, {"string": "a"}, {"null": None}, {"bool": True},
                                   {"list": [{"int": "2"}]}, {"map": [[{"string": "k"}, {"int": "3"}]]}]})

    def test_wrong_usage_is_told(self):
        for arguments in (["--lang", "cobol", "1"], ["--lang", "cel"], ["1"], ["--lang", "cel", "1", "--bind", "a"],
                          ["--lang", "cel", "1", "--bind", "a={"], ["--lang", "jsonpath", "$", "--input", "{"],
                          ["--lang", "cesql", "id", "--event", '{"id": "1"}']):
            self.assertEqual(self.sluice("eval", *arguments, code=INVALID).stdout, "", arguments)


class Batch(EvalTest):
    def test_answers_come_in_order_with_their_ids(self):
        answers = self.batch("jsonpath", {"id": "a", "expr": "$.x", "input": {"x": 1}}, {"id": 2, "expr": "$["},
                             {"id": None, "expr": "$", "input": None}, {"expr": "$", "input": 5}, {"id": [1], "expr": "$"})
        self.assertEqual(answers[0], {"id": "a", "value": [1]})
        self.assertEqual((answers[1]["id"], answers[1]["error"]["code"], answers[1]["error"]["position"]), (2, "invalid_path", 2))
        self.assertEqual(answers[2], {"id": None, "value": [None]})
        self.assertEqual(answers[3], {"id": None, "value": [5]})
        self.assertEqual((answers[4]["id"], answers[4]["error"]["code"]), ([1], "no_input"))

    def test_a_bad_line_does_not_end_it(self):
        answers = self.batch("cel", "{", '"text"', {"id": 3}, {"id": 4, "expr": 5}, {"id": 5, "expr": "a", "bindings": []},
                             {"id": 6, "expr": "1", "event": {"id": "x"}}, "\udcff".encode("utf-8", "replace").decode(),
                             {"id": 8, "expr": "1 + 1"})
        self.assertEqual([answer["id"] for answer in answers], [None, None, 3, 4, 5, 6, None, 8])
        self.assertTrue(all("error" in answer for answer in answers[:7]), answers)
        self.assertEqual(answers[7], {"id": 8, "value": 2})

    def test_bindings_names_and_events_are_used(self):
        answers = self.batch("cel", {"id": 1, "expr": "a.b + c", "bindings": {"a": {"b": 1}, "c": 2}},
                             {"id": 2, "expr": "has(x.y)", "names": ["x"]}, {"id": 3, "expr": "x"},
                             {"id": 4, "expr": "data.total", "event": EVENT})
        self.assertEqual(answers[0], {"id": 1, "value": 3})
        self.assertIn("error", answers[1])
        self.assertIn("error", answers[2])
        self.assertEqual(answers[3], {"id": 4, "value": 120})

    def test_typed_bindings_names_and_container_are_for_cel(self):
        answers = self.batch("cel", {"id": 1, "expr": "x + 1u", "typed_bindings": {"a.x": {"uint": "2"}}, "container": "a"},
                             {"id": 2, "expr": "[1.0, b'a', duration('1s')]"}, options=["--typed"])
        self.assertEqual(answers, [{"id": 1, "value": {"uint": "3"}},
                                   {"id": 2, "value": {"list": [{"double": "1.0"}, {"bytes": "YQ=="},
                                                                {"duration": {"seconds": "1", "nanos": 0}}]}}])

    def test_jsonata_faults_have_its_codes(self):
        answers = self.batch("jsonata", {"id": 1, "expr": "1 +"}, {"id": 2, "expr": "$sum('a')"})
        self.assertEqual([answer["error"]["code"] for answer in answers], ["S0207", "T0412"])

    def test_cesql_answers_with_errors(self):
        answers = self.batch("cesql", {"id": 1, "expr": "missing = 1"}, {"id": 2, "expr": "EXISTS id"}, {"id": 3, "expr": "("})
        self.assertEqual((answers[0]["value"], [error["code"] for error in answers[0]["errors"]]), (False, ["missingAttribute"]))
        self.assertEqual(answers[1], {"id": 2, "value": True, "errors": []})
        self.assertEqual((answers[2]["error"]["code"], [error["code"] for error in answers[2]["errors"]]), ("parse", ["parse"]))
        self.assertNotIn("value", answers[2])

    def test_the_answer_comes_before_the_next_line(self):
        process = self.start("eval", "--lang", "cesql", "--batch")
        for number in range(3):
            process.stdin.write(json.dumps({"id": number, "expr": f"1 + {number}"}) + "\n")
            process.stdin.flush()
            self.assertEqual(json.loads(process.stdout.readline())["value"], 1 + number)

    def test_a_line_is_a_line_for_every_reader(self):
        text = "a\u2028b\u2029c\x85d\u000be"
        self.assertEqual(self.batch("jsonpath", {"id": text, "expr": "$", "input": [text]}), [{"id": text, "value": [[text]]}])

    def test_a_large_batch_streams(self):
        lines = "".join(json.dumps({"id": number, "expr": "$.a[1:]", "input": {"a": [number, number]}}) + "\n" for number in range(50_000))
        done = subprocess.run(["bash", "-c", f"ulimit -v 2000000; exec {PROGRAM} eval --lang jsonpath --batch"], input=lines,
                              capture_output=True, text=True, timeout=TIMEOUT, check=True)
        answers = done.stdout.splitlines()
        self.assertEqual(len(answers), 50_000)
        self.assertEqual(json.loads(answers[-1]), {"id": 49_999, "value": [49_999]})

    def test_bombs_end_in_errors(self):
        deep = "[" * 900 + "]" * 900
        answers = self.batch("jsonpath", {"id": 1, "expr": "$..*..*..*", "input": [[[[[1] * 9] * 9] * 9] * 9]},
                             f'{{"id": 2, "expr": "$..*", "input": {deep}}}', {"id": 3, "expr": "$[?" + "(" * 100_000},
                             {"id": 4, "expr": "$[?match(@, '((a?){50}){20}b')]", "input": ["a" * 1_000_000]})
        self.assertEqual([answer["error"]["code"] for answer in answers], ["budget", "budget", "invalid_path", "budget"])


class Documentation(EvalTest):
    def test_the_page_shows_what_happens(self):
        page = (ROOT / "docs/reference/expressions/eval.md").read_text()
        blocks = [block.split("```", 1)[0] for block in page.split("```console\n")[1:]]
        self.assertGreater(len(blocks), 4)
        for block in blocks:
            command, _, shown = block.partition("\n")
            self.assertTrue(command.startswith("$ "), command)
            environment = {**self.environment(), "PATH": f"{pathlib.Path(PROGRAM).resolve().parent}:{os.environ['PATH']}"}
            done = subprocess.run(["bash", "-c", command[2:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=TIMEOUT, env=environment, cwd=self.folder, check=False)
            self.assertEqual(done.stdout, shown, command)


if __name__ == "__main__":
    unittest.main()
