#!/usr/bin/env python3
"""Runs the recorded executions of state machines and compares how they end, and their histories.

usage: asl_test.py PROGRAM [FOLDER]      FOLDER has asl/public/*.json; default ../shared/conformance

The comparing follows the folder's README: numbers by value, `<name>` in a text is any text, strings
listed in a vector's `wildcards` are any value. Exceptions are in asl_exceptions.txt with their reasons.
"""
import json
import re
import subprocess
import sys

from expression_suite import arguments, report

# What somebody does to an execution, which is said beside it.
STOPPED = "the caller stops the execution while it runs"
STOPPED_AFTER = "1s"

PLACEHOLDER = re.compile(r"<[^<>]*>")


# The recorder wrote the member's name in place of these ids, and lists not all of them as wildcards.
TAKEN_OUT = ("RequestId",)


def is_like_text(expected, got):
    if expected == got:
        return True
    if not PLACEHOLDER.search(expected):
        return False
    pattern = ".*".join(re.escape(part) for part in PLACEHOLDER.split(expected))
    return re.fullmatch(pattern, got, re.DOTALL) is not None


def is_like(expected, got, wildcards):
    if isinstance(expected, str):
        if expected in wildcards:
            return True
        if not isinstance(got, str):
            return False
        return is_like_text(expected, got) or is_like_json(expected, got, wildcards)
    if isinstance(expected, bool) or isinstance(got, bool) or expected is None:
        return expected is got
    if isinstance(expected, (int, float)):
        return isinstance(got, (int, float)) and expected == got
    if isinstance(expected, list):
        return isinstance(got, list) and len(expected) == len(got) and all(
            is_like(*pair, wildcards) for pair in zip(expected, got))
    return isinstance(got, dict) and expected.keys() == got.keys() and all(
        (key in TAKEN_OUT and value == key and bool(got[key])) or is_like(value, got[key], wildcards)
        for key, value in expected.items())


def is_like_json(expected, got, wildcards):
    """A text that holds JSON has its members in any order."""
    if expected[:1] not in ("{", "["):
        return False
    try:
        return is_like(json.loads(expected), json.loads(got), wildcards)
    except ValueError:
        return False


def is_like_variables(expected, got, wildcards):
    """Texts that held an object may appear parsed."""
    if (expected is None) != (got is None):
        return False
    return expected is None or (expected.keys() == got.keys() and all(
        is_like(value, json.loads(got[key]) if not isinstance(value, str) else got[key], wildcards)
        for key, value in expected.items()))


def event_difference(expected, got, wildcards):
    for name in ("id", "previousEventId", "type"):
        if expected[name] != got[name]:
            return f"event {expected['id']} {expected['type']}: {name} {expected[name]}, got {got[name]} ({got['type']})"
    wanted = dict(expected.get("details") or {})
    details = dict(got.get("details") or {})
    if not is_like_variables(wanted.pop("assignedVariables", None), details.pop("assignedVariables", None), wildcards):
        return f"event {expected['id']} {expected['type']}: assignedVariables differ"
    if not is_like(wanted, details, wildcards):
        return f"event {expected['id']} {expected['type']}: details {short(wanted)}, got {short(details)}"
    return None


def short(value):
    text = json.dumps(value)
    return text if len(text) < 300 else text[:300] + "…"


ENDS_OF_PARALLEL = ("ParallelStateSucceeded", "ParallelStateFailed", "ParallelStateAborted", "ParallelStateExited")


def as_recorded(events):
    """Our history as the recorder would have written it: what is between the start and the end of a Parallel state
    has lost its ids, and so are lost the events between the last of these and the next end."""
    events = [dict(event) for event in events]
    inside, begin, is_inside, at = [], None, False, 0
    while at < len(events):
        event = events[at]
        if event["type"] == "ParallelStateStarted":
            inside, begin, is_inside = [], at + 1, True
        elif event["type"] in ENDS_OF_PARALLEL and begin is not None:
            events[begin:at] = inside  # It went on at the next index although the list is shorter now.
            is_inside = False
        elif is_inside:
            event.pop("id")
            event["previousEventId"] = 0
            inside.append(event)
        at += 1
    return events


def in_one_order(expected, got, wildcards):
    """Both histories, those of our events that have no id in the order of the recorded ones that they are like."""
    left = [event for event in got if "id" not in event]

    def take(wanted):
        like = next((event for event in left if not event_difference({"id": 0, **wanted}, {"id": 0, **event}, wildcards)),
                    left[0] if left else None)
        if like is not None:
            left.remove(like)
        return like

    ordered = iter([take(event) for event in expected if "id" not in event])
    got = [event if "id" in event else next(ordered, event) or event for event in got]
    return [{"id": 0, **event} for event in expected], [{"id": 0, **event} for event in got]


def history_difference(vector, got):
    expected = vector.get("history")
    if not expected:
        return None
    wildcards = vector.get("wildcards") or []
    if vector.get("historyOrder") == "lossy-parallel":
        expected, got = in_one_order(expected, as_recorded(got), wildcards)
    for wanted, event in zip(expected, got):
        if difference := event_difference(wanted, event, wildcards):
            return difference
    if len(expected) != len(got):
        rest = [event["type"] for event in (got if len(got) > len(expected) else expected)[min(len(got), len(expected)):]]
        return f"{len(expected)} events, got {len(got)}: {rest[:5]}"
    return None


def verdict(vector, answer):
    if "refused" in answer:
        return f"refused: {answer['refused'][:300]}"
    wildcards = vector.get("wildcards") or []
    expected = vector["expected"]
    for name in ("status", "output", "error", "cause"):
        if (name in expected) != (name in answer) or not is_like(expected.get(name), answer.get(name), wildcards):
            return f"{name}: {short(expected.get(name))}, got {short(answer.get(name))}"
    return history_difference(vector, answer.get("history", []))


def with_placeholders(value, wildcards):
    """A mock's input, with what stands for any value written as mocks have it."""
    if isinstance(value, dict):
        return {key: with_placeholders(member, wildcards) for key, member in value.items()}
    if isinstance(value, list):
        return [with_placeholders(item, wildcards) for item in value]
    return "<any>" if isinstance(value, str) and value in wildcards else value


def mocks_of(vector):
    wildcards = vector.get("wildcards") or []
    return [{**mock, "input": with_placeholders(mock["input"], wildcards)} if "input" in mock else mock
            for mock in vector.get("mocks") or []]


def run(program, vectors):
    """All of them in one process, each on virtual time; the answers in their order."""
    lines = "".join(json.dumps({"id": vector["id"], "definition": vector["definition"], "input": vector["input"],
                                "mocks": mocks_of(vector), "objects": vector.get("objects") or [],
                                "express": vector.get("machineType") == "EXPRESS",
                                "stopAfter": STOPPED_AFTER if vector.get("needs") == STOPPED else ""}) + "\n"
                    for vector in vectors)
    done = subprocess.run([program, "run", "-", "--batch"], input=lines, capture_output=True, text=True, timeout=600)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(vectors):
        sys.exit(f"{len(answers)} of {len(vectors)} executions ended, then: {done.stderr[:2000]}")
    return answers


def main():
    program, folder = arguments("asl", __doc__)
    vectors = [vector for file in sorted(folder.glob("public/*.json")) for vector in json.loads(file.read_text())
               if vector["kind"] == "execution" and not vector.get("superseded")]
    answers = run(program, vectors)
    verdicts = {vector["id"]: verdict(vector, answer) for vector, answer in zip(vectors, answers)}
    sys.exit(report("States Language", verdicts, "asl_exceptions.txt"))


if __name__ == "__main__":
    main()
