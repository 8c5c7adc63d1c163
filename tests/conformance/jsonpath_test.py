#!/usr/bin/env python3
"""Holds JSONPath against the compliance suite of RFC 9535.

usage: jsonpath_test.py PROGRAM [FOLDER]      FOLDER has jsonpath/cts.json; default ../shared/conformance
"""
import json
import sys

from expression_suite import arguments, evaluate, is_same, report


def verdict(test, answer):
    if test.get("invalid_selector"):
        return None if "error" in answer else f"accepted {test['selector']!r}"
    if "error" in answer:
        return f"{test['selector']!r}: {answer['error']['message']}"
    allowed = test.get("results", [test.get("result")])
    return None if any(is_same(wanted, answer["value"]) for wanted in allowed) else f"{test['selector']!r} gave {answer['value']}"


def place_cases(test):
    """A normalized path selects the one value that it stands for."""
    if "result_paths" in test:
        for path, value in zip(test["result_paths"], test["result"]):
            yield {"id": f"{test['name']} at {path}", "expr": path, "input": test["document"]}, value


def main():
    program, folder = arguments("jsonpath", __doc__)
    tests = json.loads((folder / "cts.json").read_text())["tests"]
    lines = [{"id": test["name"], "expr": test["selector"], "input": test.get("document")} for test in tests]
    answers = evaluate(program, "jsonpath", lines)
    verdicts = {test["name"]: verdict(test, answers[test["name"]]) for test in tests}
    code = report("JSONPath", verdicts, "jsonpath_exceptions.txt")
    places = {line["id"]: (line, value) for test in tests for line, value in place_cases(test)}
    answers = evaluate(program, "jsonpath", [line for line, _ in places.values()])
    wrong = [case for case, (_, value) in places.items() if not is_same([value], answers[case].get("value"))]
    print("\n".join(f"FAILED {case}: {answers[case]}" for case in wrong) or f"normalized paths: {len(places)} lead to their values")
    sys.exit(code or bool(wrong))


if __name__ == "__main__":
    main()
