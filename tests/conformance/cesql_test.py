#!/usr/bin/env python3
"""Holds CloudEvents SQL against its TCK.

usage: cesql_test.py PROGRAM [FOLDER]      FOLDER has cesql/*.json; default ../shared/conformance
"""
import json
import sys

from expression_suite import arguments, evaluate, is_same, report

ANY_EVENT = {"specversion": "1.0", "id": "myid", "type": "com.example.test", "source": "/test"}


def verdict(case, answer):
    codes = [error["code"] for error in answer.get("errors", [])]
    wanted = case.get("error")
    if wanted == "parse":
        return None if answer.get("error", {}).get("code") == "parse" else f"{case['expression']!r} was accepted"
    if "value" not in answer or not is_same(case["result"], answer["value"]):
        return f"{case['expression']!r} gave {answer}"
    if wanted not in codes if wanted else codes:
        return f"{case['expression']!r} gave errors {codes}, expected {wanted}"
    return None


def main():
    program, folder = arguments("cesql", __doc__)
    cases = [case for file in sorted(folder.glob("*.json")) for case in json.loads(file.read_text())["cases"]]
    lines = [{"id": case["id"], "expr": case["expression"],
              "event": {**case.get("event", ANY_EVENT), **case.get("eventOverrides", {})}} for case in cases]
    answers = evaluate(program, "cesql", lines)
    sys.exit(report("CESQL", {case["id"]: verdict(case, answers[case["id"]]) for case in cases}, "cesql_exceptions.txt"))


if __name__ == "__main__":
    main()
