#!/usr/bin/env python3
"""Bad input of every kind: a clear error in bounded time and memory, never a crash.

usage: bad_input_test.py [PROGRAM] [unittest options]
"""
import copy
import functools
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time
import unittest

if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
    os.environ["SLUICE"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from program import (FAILED, INVALID, NOT_FOUND, OK, PROGRAM, UNAVAILABLE, WAITING, ProgramTest, event,  # noqa: E402
                     progress_of)

MEMORY_BYTES_MAX = 2 << 30
SECONDS_MAX = 10
SAID_BYTES_MAX = 1_000_000
MIB = 1 << 20
DEEP = 100_000


@functools.cache
def is_bounded():
    """Whether the program can do with the memory at all: one with the address sanitizer maps far more than it uses."""
    return subprocess.run([PROGRAM, "--version"], capture_output=True, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX,) * 2)).returncode == 0


class BadInputTest(ProgramTest):
    def bad(self, *arguments, codes, said=".", stdin="", file_bytes_max=None, seconds_max=SECONDS_MAX):
        """Runs the program within its bounds: one of the codes, and an error that says something."""
        def bound():
            if is_bounded():
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX,) * 2)
            if file_bytes_max is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes_max,) * 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        seconds_max = seconds_max if is_bounded() else seconds_max * 10
        stdin = stdin if isinstance(stdin, bytes) else stdin.encode()
        arguments = [argument if isinstance(argument, bytes) else str(argument) for argument in arguments]
        try:
            done = subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, preexec_fn=bound, check=False,
                                  timeout=seconds_max, env=self.environment())
        except subprocess.TimeoutExpired:
            self.fail(f"not done within {seconds_max} s: {str(arguments)[:300]}")
        done.stdout, done.stderr = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
        self.assertIn(done.returncode, codes, f"{str(arguments)[:300]}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        if done.returncode != OK:
            self.assertRegex(done.stdout + done.stderr, said)
        self.assertLess(len(done.stderr), SAID_BYTES_MAX)
        self.assertNotRegex(done.stderr, r"terminate called|std::|what\(\)|Sanitizer|runtime error")
        return done

    def bytes_file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    def sparse_file(self, name, size):
        path = self.bytes_file(name, b"")
        os.truncate(path, size)
        return path

    def action(self, action, name="bad.yaml", more=""):
        """A definition that does one thing when it starts."""
        return self.file(name, f"name: bad\ntriggers:\n  - id: only\n    on: sluice.run.started\n    action: {action}\n{more}")


class Files(BadInputTest):
    def both(self, path, codes=(INVALID,), said="."):
        self.bad("validate", path, codes=codes, said=said)
        self.bad("run", path, "--data", self.data, codes=codes, said=said)
        self.assertFalse(os.path.exists(self.data), "a definition that is refused leaves no data")

    def test_text_that_is_no_definition(self):
        texts = {"empty": "", "blank": " \n\n", "comment": "# nothing", "scalar": "7", "list": "[]", "null": "~", "map": "{}",
                 "two documents": "name: a\n---\nname: b\n", "tag": "!!python/object:os.system x", "merge": "<<: *nobody",
                 "anchor": "*nobody", "tab": "name:\t\t- x\n\t- y", "key": "? [a, b]\n: c", "colons": ": : : :", "percent": "%YAML 9.9\n---\nx"}
        for name, text in texts.items():
            with self.subTest(name):
                self.both(self.file("bad.yaml", text))

    def test_bytes_that_are_no_text(self):
        contents = {"utf-8": b"name: \xff\xfe\n", "surrogate": b"name: \xed\xa0\x80\n", "overlong": b"name: \xc0\xaf\n", "nul": b"\0" * 1000,
                    "utf-16": "name: a\n".encode("utf-16"), "latin-1": "name: ü\n".encode("latin-1"), "random": os.urandom(100_000),
                    "json": b'{"name": "\xff"}'}
        for name, content in contents.items():
            with self.subTest(name):
                self.both(self.bytes_file("bad.yaml", content))

    def test_a_program_is_no_definition(self):
        self.both(PROGRAM)

    def test_a_file_that_is_too_large(self):
        line = b"# " + b"x" * 1021 + b"\n"
        self.both(self.bytes_file("long.yaml", line * (70 * MIB // len(line))), said="64 MiB|67108864|too large|at most")
        self.both(self.bytes_file("long.json", b'{"name": "' + b"x" * (70 * MIB) + b'"}'))
        self.both(self.sparse_file("sparse.yaml", 3 << 30))

    def test_a_file_that_never_ends(self):
        self.both("/dev/zero")

    def test_many_values(self):
        self.both(self.file("many.yaml", "name: many\ncontext: {a: [" + "1," * 2_000_000 + "1]}\ntriggers: [{id: a, on: b}]\n"))
        self.both(self.file("keys.json", json.dumps({"name": "x", "context": {str(n): n for n in range(1_000_001)}})))

    def test_nothing_to_read(self):
        self.both(self.folder, codes=(INVALID, NOT_FOUND), said="directory")
        self.both(self.folder / "none.yaml", codes=(NOT_FOUND,), said="none.yaml")
        self.both(self.folder / "none" / "none.yaml", codes=(NOT_FOUND,))
        self.both("", codes=(INVALID, NOT_FOUND))
        self.bad("run", "-", stdin="", codes=(INVALID,))

    def test_deep_nesting(self):
        texts = {"flow": "[" * DEEP, "closed": "[" * DEEP + "]" * DEEP, "maps": "{a: " * DEEP, "json": '{"a":' * DEEP,
                 "json lists": '{"a":' + "[" * DEEP + "]" * DEEP + "}", "block": "- " * DEEP + "x", "keys": "? " * DEEP,
                 "lines": "".join(" " * n + "a:\n" for n in range(2_000)), "quotes": "'" * DEEP, "anchors": "&a " * DEEP}
        for name, text in texts.items():
            with self.subTest(name):
                self.both(self.file("deep.yaml", text))

    def test_aliases_that_grow(self):
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
        self.both(self.file("laughs.yaml", "name: laughs\n" + "\n".join(lines)))
        self.both(self.file("self.yaml", "name: &a [*a]\n"))

    def test_expressions_that_are_too_deep_or_long(self):
        expressions = {"parentheses": "(" * 10_000 + "1" + ")" * 10_000, "open": "(" * 10_000, "lists": "[" * 10_000 + "]" * 10_000,
                       "nots": "!" * 100_000 + "true", "minus": "-" * 100_001 + "1", "ternaries": "true ? 1 : " * 10_000 + "1",
                       "members": "data" + ".a" * 100_000, "indexes": "data" + "[0]" * 100_000, "calls": "size(" * 10_000 + "1" + ")" * 10_000,
                       "maps": "{'a': " * 10_000 + "1" + "}" * 10_000, "sum": "1" + " + 1" * 200_000, "text": '"' + "x" * 2 * MIB}
        for name, expression in expressions.items():
            with self.subTest(name):
                quoted = json.dumps(expression)
                file = self.file("deep.yaml", f"name: deep\ntriggers:\n  - id: a\n    on: b\n    filter: {quoted}\n")
                self.bad("validate", file, codes=(OK, INVALID))
                self.bad("run", file, codes=(WAITING, INVALID))
                template = self.action("{finish: {result: " + json.dumps("${" + expression + "}") + "}}", "template.yaml")
                self.bad("run", template, codes=(OK, FAILED, INVALID))


FULL = {
    "name": "full", "context": {"a": 1}, "input": {"b": 2}, "unmatched": "drop", "dedupe": {"window": "10m"}, "timeout": "3s",
    "cancel_grace": "1s", "retention": "1d", "kept": {"max": 10, "bytes": 1000, "full": "refuse", "ttl": "1m"},
    "functions": {"f": {"kind": "process", "command": ["true"], "env": {"A": "b"}, "cwd": "/", "timeout": "1s", "concurrency": 1,
                        "retry": {"attempts": 2, "interval": "1s", "backoff": 2, "max_delay": "1m", "jitter": 0.5, "on": ["exit"]}}},
    "definitions": {"inner": {"timeout": "1s", "triggers": [{"id": "i", "on": "x", "action": "finish"}]}},
    "triggers": [
        {"id": "a", "on": [{"type": "x", "subject": "y*"}, "z"], "filter": "data.a > 1", "condition": {"count": {"n": 3, "distinct": "data.b"}},
         "context": {"n": 3}, "lifetime": "persistent", "enabled": True, "while_disabled": "park", "on_error": "skip",
         "action": [{"invoke": {"function": "f", "input": {"x": "${data}"}, "subject": "s", "scope": "p/1", "each": [1, 2], "timeout": "1s",
                                "retry": {"attempts": 1}}},
                    {"start": {"definition": "inner", "input": 1, "scope": "q", "each": 2, "subject": "s", "id": "r", "spread": True}},
                    {"emit": {"type": "t", "subject": "s", "data": {"a": [1]}, "scope": "/", "each": 3, "to": {"run": "other"}}},
                    {"set": {"context": {"a": 1}, "run": {"b": 2}, "triggers": {"b": {"n": 1}}}},
                    {"schedule": {"timer": "t", "after": "1s", "type": "tt", "subject": "s", "data": 1}},
                    {"cancel": {"timer": "t"}}, {"enable": ["b"]}, {"disable": "b"}, {"add": {"id": "new", "on": "x"}},
                    {"modify": {"trigger": "b", "set": {"filter": "true"}}}, {"remove": {"trigger": "b"}},
                    {"open": {"scope": "p", "variables": {"v": 1}}}, {"close": {"scope": "p"}}, {"hold": {"scope": "p"}},
                    {"release": "p"}, {"reply": {"data": 1}}, {"finish": {"error": {"kind": "k", "message": "m"}}}]},
        {"id": "b", "on": "x", "condition": {"quorum": {"share": 0.5, "of": 9, "distinct": "data.v", "deadline": "1s", "min": 2}}},
        {"id": "c", "on": ["x", "y"], "condition": {"sequence": {"strict": True}}},
        {"id": "d", "on": "x", "condition": {"threshold": {"k": 3}}},
        {"id": "e", "on": "x", "condition": {"expression": {"when": "data.a == 1"}}},
        {"id": "g", "intercept": {"trigger": "a", "when": "before"}, "action": "noop-is-none"}],
}
FULL["triggers"][-1]["action"] = {"emit": "audit"}
WRONG = [7, -1, 0, 1e300, 2**63, "text", "", "${", True, [], {}, [[1]], {"x": 1}, [None], "x" * 5000]


def paths_in(value, path=()):
    """Every place of a value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        yield from paths_in(member, (*path, key))


def replaced(value, path, other):
    if not path:
        return other
    value = copy.deepcopy(value)
    place = value
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = other
    return value


def at(value, path):
    for key in path:
        value = value[key]
    return value


class Definitions(BadInputTest):
    def validate_all(self, definitions):
        """Validates many at once: the findings by the name of the file."""
        files = [self.file(f"{number}.json", json.dumps(one)) for number, one in enumerate(definitions)]
        done = self.bad("validate", "--json", *files, codes=(OK, INVALID), seconds_max=60)
        findings = {}
        for finding in json.loads(done.stdout)["findings"]:
            findings.setdefault(int(pathlib.Path(finding["file"]).stem), []).append(finding)
        return findings

    def test_the_full_one_is_valid(self):
        self.bad("validate", self.file("full.json", json.dumps(FULL)), codes=(OK,))

    def test_wrong_values_everywhere(self):
        cases = [(path, wrong) for path in paths_in(FULL) if path for wrong in WRONG]
        definitions = [replaced(FULL, path, wrong) for path, wrong in cases]

        findings = self.validate_all(definitions)

        self.assertGreater(len(findings), len(cases) / 2)
        for number in findings:
            self.assertTrue(all(finding["message"] and finding["line"] > 0 for finding in findings[number]), cases[number])

    def test_what_is_accepted_also_runs_or_fails(self):
        # A sample, because each is a process of its own.
        cases = [(path, wrong) for path in paths_in(FULL) if path for wrong in WRONG][::37]
        for path, wrong in cases:
            definition = replaced(FULL, path, wrong)
            with self.subTest(path=path, wrong=str(wrong)[:20]):
                events = "".join(event(number, kind, subject="y1", data={"a": number, "b": number, "v": number})
                                 for number in range(6) for kind in ("x", "z"))
                self.bad("run", self.file("case.json", json.dumps(definition)), "--durability", "memory", "--events", "-", "--input", "1",
                         stdin=events, codes=(OK, FAILED, INVALID, WAITING))

    def test_unknown_members_everywhere(self):
        # What an author may put there is free, or is looked at when it is done.
        free = {"context", "input", "env", "data", "variables", "run", "set", "error"}
        cases = [path for path in paths_in(FULL) if isinstance(at(FULL, path), dict) and not free & set(path)
                 and path not in (("functions",), ("definitions",))]
        findings = self.validate_all([replaced(FULL, path, {**at(FULL, path), "surprise": 1}) for path in cases])
        for number, path in enumerate(cases):
            with self.subTest(path):
                self.assertIn(number, findings)
                self.assertRegex(json.dumps(findings[number]), "surprise|found a map of 2 members")

    def test_missing_members_are_named(self):
        for member in ("name", "triggers"):
            definition = {key: value for key, value in FULL.items() if key != member}
            self.bad("validate", self.file("bad.json", json.dumps(definition)), codes=(INVALID,), said=member)

    def test_ids_that_are_there_twice(self):
        self.bad("run", self.file("twice.yaml", "name: twice\ntriggers: [{id: a, on: x}, {id: b, on: x}, {id: a, on: y}]\n"), codes=(INVALID,),
                 said='a.*twice|a.*already|a.*once|duplicate')

    def test_interceptors_in_a_circle(self):
        circles = ["[{id: a, intercept: {trigger: a}}]", "[{id: a, intercept: {trigger: b}}, {id: b, intercept: {trigger: a}}]",
                   "[{id: a, intercept: {trigger: b}}, {id: b, intercept: {trigger: c}}, {id: c, intercept: {trigger: a}}]"]
        for circle in circles:
            with self.subTest(circle):
                self.bad("run", self.file("circle.yaml", f"name: circle\ntriggers: {circle}\n"), codes=(INVALID,), said="circle|itself")

    def test_a_circle_made_while_it_runs_fails_the_run(self):
        file = self.file("circle.yaml", "name: circle\ntriggers:\n  - {id: a, on: x}\n  - {id: b, intercept: {trigger: a}}\n"
                         "  - {id: c, on: sluice.run.started, action: {modify: {trigger: a, set: {on: null, intercept: {trigger: b}}}}}\n")
        self.bad("run", file, codes=(FAILED,), said="circle|itself")

    def test_ten_thousand_triggers(self):
        triggers = "".join(f"  - {{id: t{n}, on: x{n % 7}, condition: {{count: 2}}}}\n" for n in range(10_000))
        self.bad("run", self.file("many.yaml", "name: many\ntriggers:\n" + triggers), codes=(WAITING,), said="10000 triggers")


class Runs(BadInputTest):
    """Definitions that are valid and misbehave."""

    def test_endless_emission_to_itself_fails_the_run(self):
        file = self.file("endless.yaml", "name: endless\ntriggers:\n  - id: again\n    on: [sluice.run.started, again]\n"
                         "    lifetime: persistent\n    action: {emit: again}\n")
        done = self.bad("run", file, "--data", self.data, codes=(FAILED,), said="budget|own events|emit", seconds_max=60)
        self.assertEqual(done.stdout, "")
        self.bad("show", "--data", self.data, codes=(OK,))

    def test_emission_that_doubles_fails_the_run(self):
        file = self.file("double.yaml", "name: double\ntriggers:\n  - id: again\n    on: [sluice.run.started, again]\n"
                         "    lifetime: persistent\n    action: [{emit: again}, {emit: again}]\n")
        self.bad("run", file, codes=(FAILED,), said="budget|own events|emit", seconds_max=60)

    def test_definitions_that_start_themselves_fail(self):
        file = self.file("nest.yaml", "name: nest\ntriggers: [{id: a, on: sluice.run.started, action: {start: inner}}]\n"
                         "definitions:\n  inner:\n    triggers: [{id: a, on: sluice.run.started, action: {start: inner}}]\n")
        self.bad("run", file, codes=(FAILED, INVALID), said="deep|nest|level|itself", seconds_max=30)

    def test_lists_that_grow_fail_the_run(self):
        file = self.file("grow.yaml", "name: grow\ncontext: {a: [1]}\ntriggers:\n  - id: again\n    on: [sluice.run.started, again]\n"
                         "    lifetime: persistent\n    action:\n      - set: {run: {a: \"${run.context.a + run.context.a}\"}}\n      - emit: again\n")
        self.bad("run", file, codes=(FAILED,), seconds_max=60)

    def test_an_each_that_is_far_too_large(self):
        for each in ("1e18", "9223372036854775807", "-1", "'${1 / 0}'", "0.5"):
            with self.subTest(each):
                self.bad("run", self.action(f"{{emit: {{type: x, each: {each}}}}}"), codes=(FAILED, INVALID, WAITING), seconds_max=60)

    def test_faults_while_it_runs(self):
        for action in ("{set: {run: {a: '${1 / 0}'}}}", "{enable: nobody}", "{set: {run: {a: '${data.x.y.z}'}}}", "{set: {run: '${7}'}}",
                       "{emit: {type: '${\"sluice.mine\"}'}}", "{emit: {type: '${\"\"}'}}", "{invoke: {function: '${\"nobody\"}'}}",
                       "{start: {definition: '${\"nobody\"}'}}", "{schedule: {timer: t, after: '${\"soon\"}'}}",
                       "{schedule: {timer: t, at: '${\"9999999-01-01\"}'}}", "{open: {scope: '${\"a//b\"}'}}", "{add: {id: '', on: x}}",
                       "{finish: {error: '${[1]}'}}"):
            with self.subTest(action):
                self.bad("run", self.action(action), codes=(FAILED, INVALID))

    def test_input_that_is_no_json(self):
        file = self.action("{finish: {result: '${run.input}'}}")
        inputs = ["{", "nonsense", "[1,]", "NaN", "1e999", "'a'", '"\\ud800"', '{"a":1} 2', "\x01", "[" * DEEP, "[" * 30_000 + "]" * 30_000,
                  "@", "@" + str(self.folder), b'"\xff"', "@" + self.sparse_file("sparse.json", 3 << 30)]
        for number, text in enumerate(inputs):
            with self.subTest(number):
                self.bad("run", file, b"--input=" + (text if isinstance(text, bytes) else text.encode()), codes=(INVALID, NOT_FOUND))

    def test_run_ids_that_are_not_accepted(self):
        file = self.action("finish")
        self.bad("run", file, "--data", self.data, "--run", "good", codes=(OK,))
        for run in ("a/b", "a b", "x" * 251, "x" * 300, "x" * 100_000, "a\nb", "\x7f"):
            with self.subTest(run[:10]):
                self.bad("run", file, f"--run={run}", codes=(INVALID,))
                for command in ("show", "why", "replay"):
                    self.bad(command, run, "--data", self.data, codes=(INVALID, NOT_FOUND))

    def test_run_ids_that_are_made_while_it_runs(self):
        for action in ("{emit: {type: x, to: {run: ID}}}", "{start: {definition: inner, id: ID}}", "{cancel: {run: ID}}"):
            for run in ("x" * 300, "a/b", ""):
                with self.subTest(action=action, run=run[:10]):
                    text = action.replace("ID", "'${\"" + run + "\"}'")
                    more = "definitions: {inner: {triggers: [{id: a, on: sluice.run.started, action: finish}]}}\n"
                    self.bad("run", self.action(text, more=more), codes=(FAILED, INVALID, WAITING))

    def test_files_of_functions_that_are_bad(self):
        file = self.action("finish")
        for text in ("", "functions: 7", "functions: {f: 7}", "functions: {f: {command: 7}}", "functions: {f: {command: []}}",
                     "functions: {f: {builtin: nobody}}", "functions: {'': {command: x}}", "[" * DEEP, "functions: {f: {command: x, concurrency: -1}}"):
            with self.subTest(text[:40]):
                self.bad("run", file, "--functions", self.file("functions.yaml", text), codes=(INVALID,))
        self.bad("run", file, "--functions", self.folder / "none", codes=(NOT_FOUND,))


class Events(BadInputTest):
    def setUp(self):
        super().setUp()
        self.definition = self.file("two.yaml", "name: two\ntriggers:\n  - {id: two, on: item, condition: {count: 2}, action: {finish: {result: two}}}\n")

    BAD = [b"nonsense", b"{", b"[]", b"7", b"null", b"{}", b'"text"', b'{"specversion":"1.0"}', b"\x00\x01", b"\xff\xfe",
           b'{"specversion":"0.3","id":"a","source":"s","type":"item"}', b'{"specversion":"1.0","id":7,"source":"s","type":"item"}',
           b'{"specversion":"1.0","id":"","source":"s","type":"item"}', b'{"specversion":"1.0","id":"a","source":"s","type":""}',
           b'{"specversion":"1.0","id":"a","source":"s","type":"sluice.run.started"}',
           b'{"specversion":"1.0","id":"a","source":"s","type":"sluice.task.succeeded"}',
           b'{"specversion":"1.0","id":"a","source":"s","type":"item","data":\xff}',
           b'{"specversion":"1.0","id":"a","source":"s","type":"item","subject":7}',
           b'{"specversion":"1.0","id":"a","source":"s","type":"item","time":"soon"}',
           b'{"specversion":"1.0","id":"a","source":"s","type":"item"} trailing',
           b'{"specversion":"1.0","id":"a","source":"s","type":"item","data":' + b"[" * DEEP + b"]" * DEEP + b"}",
           b'{"specversion":"1.0","id":"a","source":"s","type":"item","data":"' + b"x" * 2 * MIB + b'"}']

    def test_bad_lines_are_told_and_lose_nothing(self):
        for bad in self.BAD:
            content = event(1).encode() + bad + b"\n" + event(2).encode()
            file = self.bytes_file("events.jsonl", content)
            for arguments in (("-",), (file,)):
                with self.subTest(bad=bad[:80], events=arguments[0]):
                    done = self.bad("run", self.definition, "--json", "--events", *arguments, stdin=content, codes=(INVALID,))
                    self.assertEqual(json.loads(done.stdout), "two")
                    self.assertEqual([told["line"] for told in progress_of(done) if told["kind"] == "refused"], [2])

    def test_a_line_that_never_ends(self):
        huge = event(1).encode() + b"x" * (20 * MIB)
        self.bad("run", self.definition, "--events", "-", stdin=huge, codes=(INVALID, FAILED), said="bytes")
        self.bad("run", self.definition, "--events", self.bytes_file("huge.jsonl", huge), codes=(INVALID, FAILED, WAITING), said="bytes|huge.jsonl:2")
        self.bad("run", self.definition, "--events", self.sparse_file("sparse.jsonl", MEMORY_BYTES_MAX + MIB), codes=(WAITING,),
                 said="sparse.jsonl:1", seconds_max=30)

    def test_a_file_that_is_refused_loses_nothing(self):
        """More events than the run may keep: it stops at the first of them, and goes on there."""
        file = self.file("kept.yaml", "name: kept\nkept: {max: 10}\ntriggers:\n  - {id: items, on: item, lifetime: persistent}\n"
                         "  - {id: open, on: open, action: {add: {id: early, on: early, lifetime: persistent}}}\n")
        events = self.file("events.jsonl", "".join(event(number, "early") for number in range(15)) +
                           "".join(event(number, data="x" * 1000) for number in range(100, 3100)))
        arguments = ("run", file, "--data", self.data, "--run", "r", "--json", "--events")
        for _ in range(2):
            done = self.bad(*arguments, events, codes=(UNAVAILABLE,), said="keeps as many events as it may")
            told = [json.loads(line)["line"] for line in done.stderr.splitlines() if '"accepted"' in line]
            self.assertLessEqual(max(told, default=0), 10)

        self.bad(*arguments, "-", stdin=event(9999, "open"), codes=(WAITING,))
        self.bad(*arguments, events, codes=(WAITING,))

        triggers = json.loads(self.bad("show", "r", "--data", self.data, "--triggers", "--json", codes=(OK,)).stdout)
        fired = {one["trigger"]["id"]: sum(state["fired"] for state in one["states"]) for one in triggers}
        self.assertEqual((fired["items"], fired["early"]), (3000, 15))

    def test_noise(self):
        noise = os.urandom(300_000)
        self.bad("run", self.definition, "--events", "-", stdin=noise, codes=(INVALID, WAITING))
        self.bad("run", self.definition, "--events", self.bytes_file("noise", noise), codes=(INVALID, WAITING))

    def test_an_event_for_another_run_does_not_count(self):
        stray = event(1, run="another") + event(2, run="not/good") + event(4, run="x" * 300) + event(3)
        for arguments in (("-",), (self.file("events.jsonl", stray),)):
            self.bad("run", self.definition, "--data", self.data, "--run", "mine", "--events", *arguments, stdin=stray, codes=(INVALID, WAITING),
                     said="two waits for item: count 2, 1 so far")

    def test_scopes_that_are_not_there(self):
        stray = "".join(event(number, scope=scope) for number, scope in enumerate(("nowhere", "a//b", "/", "..", "x/" * 1000)))
        self.bad("run", self.definition, "--events", "-", stdin=stray, codes=(OK, INVALID, WAITING))

    def test_where_events_cannot_be_read(self):
        self.bad("run", self.definition, "--events", self.folder, codes=(NOT_FOUND, INVALID), said="directory")
        self.bad("run", self.definition, "--events", self.folder / "none", codes=(NOT_FOUND,))


class Data(BadInputTest):
    def setUp(self):
        super().setUp()
        self.definition = self.action("{finish: {result: 1}}")

    def everything(self, data, codes, said="."):
        """Every command that takes a data directory."""
        self.bad("run", self.definition, "--data", data, codes=codes, said=said)
        for arguments in (("show",), ("show", "r"), ("why", "r"), ("replay", "r"), ("store", "check"), ("store", "export")):
            with self.subTest(arguments):
                self.bad(*arguments, "--data", data, codes=(*codes, FAILED, NOT_FOUND))

    def test_a_file_is_no_data_directory(self):
        self.everything(self.file("file", "x"), codes=(INVALID, UNAVAILABLE), said="file")

    def test_a_place_that_cannot_be_written(self):
        self.everything("/proc/nowhere/data", codes=(INVALID, UNAVAILABLE), said="/proc/nowhere")
        self.everything("/dev/null/data", codes=(INVALID, UNAVAILABLE), said="/dev/null")
        self.everything(str(self.folder / ("x" * 300)), codes=(INVALID, UNAVAILABLE), said="xxx")

    @unittest.skipIf(os.geteuid() == 0, "the superuser may write everywhere")
    def test_a_directory_without_permission(self):
        closed = self.folder / "closed"
        closed.mkdir(mode=0o500)
        self.everything(str(closed / "data"), codes=(UNAVAILABLE,), said="closed")

    def test_a_directory_of_something_else_stays_as_it_is(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "letter.txt").write_text("dear reader")
        (other / "CURRENT").write_text("nonsense\n")
        self.everything(str(other), codes=(INVALID, UNAVAILABLE), said="other")
        self.assertEqual((other / "letter.txt").read_text(), "dear reader")
        self.assertEqual((other / "CURRENT").read_text(), "nonsense\n")

    def test_files_of_something_else_alone(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "letter.txt").write_text("dear reader")
        self.bad("run", self.definition, "--data", other, codes=(OK, INVALID, UNAVAILABLE))
        self.assertEqual((other / "letter.txt").read_text(), "dear reader")

    def test_damage_of_every_file_is_named_or_harmless(self):
        self.bad("run", self.definition, "--data", self.data, "--run", "r", codes=(OK,))
        for path in sorted(path for path in pathlib.Path(self.data).rglob("*") if path.is_file()):
            content = path.read_bytes()
            for damaged in (b"", b"\xff" * 64, content[:len(content) // 2], content + b"\0" * 100, content[:-1] + b"\xff"):
                with self.subTest(path=path.name, damaged=damaged[:10]):
                    path.write_bytes(damaged)
                    self.bad("store", "check", "--data", self.data, codes=(OK, FAILED, NOT_FOUND, UNAVAILABLE))
                    self.bad("show", "r", "--data", self.data, codes=(OK, NOT_FOUND, UNAVAILABLE))
                    path.write_bytes(content)
        self.bad("show", "r", "--data", self.data, codes=(OK,))

    def test_a_directory_in_use(self):
        process = self.start("run", self.action("{invoke: {function: sleep, input: {duration: 600s}}}", "sleep.yaml"), "--data", self.data, "--json")
        self.wait_for(process, kind="task", status="started")
        self.everything(self.data, codes=(UNAVAILABLE,), said="use|lock")

    def test_a_disk_that_is_full(self):
        """The largest file that may be written stands for the disk; what was acknowledged is there afterwards."""
        file = self.file("many.yaml", "name: many\ntriggers:\n  - {id: all, on: item, lifetime: persistent}\n")
        choices = random.Random(1)  # History is packed, and this cannot be.
        lines = "".join(event(number, data=choices.randbytes(500).hex()) for number in range(2_000))
        done = self.bad("run", file, "--data", self.data, "--run", "r", "--json", "--events", "-", stdin=lines, codes=(UNAVAILABLE, FAILED),
                        said="(?i)file too large|no space|full", file_bytes_max=500_000)
        accepted = {json.loads(line)["id"] for line in done.stderr.splitlines() if '"accepted"' in line}
        shown = self.bad("show", "r", "--data", self.data, "--history", "--json", "--limit", "100000", codes=(OK,)).stdout
        taken = [entry["json"]["id"] for entry in map(json.loads, shown.splitlines()) if entry["origin"] == "outside"]

        self.assertGreater(len(accepted), 100)
        self.assertLessEqual(accepted, set(taken))
        self.assertEqual(len(taken), len(set(taken)))
        self.bad("store", "check", "--data", self.data, codes=(OK,))
        self.bad("run", file, "--data", self.data, "--run", "r", "--events", "-", stdin=lines, codes=(WAITING,))
        self.bad("replay", "r", "--data", self.data, codes=(OK,))

    def test_a_disk_that_is_full_from_the_beginning(self):
        self.bad("run", self.definition, "--data", self.data, codes=(UNAVAILABLE, FAILED), file_bytes_max=10)
        self.bad("run", self.definition, codes=(UNAVAILABLE, FAILED), file_bytes_max=10)


class Commands(BadInputTest):
    """Functions that misbehave."""

    def call(self, command, codes=(FAILED,), said=".", options="timeout: 2s", data="", seconds_max=SECONDS_MAX):
        file = self.action("{invoke: {function: f, input: '${run.input}'}}", more="  - {id: done, on: sluice.task.succeeded, "
                           "action: {finish: {result: '${data.result}'}}}\n"
                           f"functions: {{f: {{command: {json.dumps(command)}, {options}}}}}\n")
        return self.bad("run", file, "--input", data or "1", codes=codes, said=said, seconds_max=seconds_max)

    def test_output_that_is_no_json(self):
        for command in ("echo nonsense", "printf '\\377\\376'", "head -c 1000 /dev/urandom", "echo '1 2'", "echo '{'", "echo NaN",
                        "printf '\\000'", f"yes '[' | head -n {DEEP}", f"printf '[%.0s' $(seq {DEEP}); printf ']%.0s' $(seq {DEEP})"):
            with self.subTest(command):
                self.call(command, said="bad_output")

    def test_output_without_end(self):
        self.call("yes", said="bad_output|timeout")
        self.call("yes >&2", said="timeout")
        self.call("head -c 100000000 /dev/zero", said="bad_output")
        self.call("head -c 100000000 /dev/zero >&2; exit 3", said="exit")
        self.call("echo '\"'; head -c 3000000 /dev/zero | tr '\\0' x; echo '\"'", said="bad_output")

    def test_a_large_result_is_a_result_or_refused(self):
        self.call("printf '\"'; head -c 3000000 /dev/zero | tr '\\0' x; printf '\"'", codes=(OK, FAILED))

    def test_bad_ends(self):
        self.call("exit 7", said="exit_code: 7|\"exit_code\":7|7")
        self.call("kill -9 $$", said="signal|9")
        self.call("kill -SEGV $$", said="signal|11")
        self.call("ulimit -v 1000; python3", said="exit")

    def test_one_that_never_ends(self):
        began = time.monotonic()
        self.call("sleep 1000", said="timeout", options="timeout: 300ms")
        self.call("trap '' TERM; sleep 1000; sleep 1000", said="timeout", options="timeout: 300ms", seconds_max=30)
        self.call("exec >&- 2>&-; sleep 1000", said="timeout", options="timeout: 300ms")
        self.assertLess(time.monotonic() - began, 60)

    def test_one_that_leaves_a_child_behind(self):
        self.call("sleep 5 & echo 1", codes=(OK, FAILED))

    def test_one_that_does_not_exist(self):
        self.call(["/nowhere/program"], said="spawn|exit|No such file")
        self.call(["/"], said="spawn|exit|denied")
        self.call([""], codes=(FAILED, INVALID))
        self.call("nobody-has-this-command", said="exit")
        self.call("true", said="spawn|exit|No such file", options="cwd: /nowhere")

    def test_one_that_does_not_read(self):
        self.call("exec <&-; sleep 0.1; echo 1", codes=(OK,), data="@" + self.file("large.json", json.dumps("x" * 900_000)))
        self.call("true", codes=(OK,), data="@" + self.file("large.json", json.dumps("x" * 900_000)))

    def test_variables_that_are_bad(self):
        self.call("true", codes=(FAILED, INVALID), options="env: {'A=B': c}")
        self.call("true", codes=(OK, FAILED, INVALID), options="env: {A: \"\\0\"}")
        self.call("true", codes=(OK, FAILED, INVALID), options=f"env: {{A: {'x' * 300_000}}}")


class Kills(BadInputTest):
    def test_a_run_that_is_killed_while_it_decides_comes_to_its_end(self):
        file = self.file("long.yaml", "name: long\ntriggers:\n  - {id: begin, on: sluice.run.started, action: {emit: {type: item, each: 60000}}}\n"
                         "  - {id: join, on: item, condition: {count: 60000}, action: {finish: {result: joined}}}\n")
        for seconds in (0.02, 0.05, 0.08, 0.15, 0.3):
            process = self.start("run", file, "--data", self.data, "--run", "r", "--quiet")
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
            process.communicate()

        done = self.bad("run", file, "--data", self.data, "--run", "r", "--quiet", codes=(OK,), seconds_max=60)

        self.assertEqual(json.loads(done.stdout), "joined")
        self.bad("replay", "r", "--data", self.data, codes=(OK,), seconds_max=60)

    def test_output_that_nobody_reads(self):
        process = self.start("run", self.action("{emit: {type: x, each: 5000}}"), "--json")
        process.stderr.close()
        process.stdout.close()
        process.stderr = process.stdout = None
        self.assertIn(process.wait(60), (WAITING,))


if __name__ == "__main__":
    outcome = unittest.main(exit=False).result
    for test, reason in outcome.skipped:
        print(f"skipped: {test.id()}: {reason}")
    sys.exit(not outcome.wasSuccessful())
