#!/usr/bin/env python3
"""Tests single states as TestState was recorded doing it, through a server.

usage: asl_state_test.py PROGRAM [FOLDER]      FOLDER has asl/public/*.json; default ../shared/conformance

Exceptions are in asl_state_exceptions.txt with their reasons.
"""
import json
import pathlib
import re
import sys
import threading

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from asl_test import is_like, short
from expression_suite import arguments, report
import live_server

FUNCTION = "tested_function"
TEXTS = ("definition", "input", "context", "variables")
PAYLOADS = re.compile(r"input|result|variables|after\w+")


def request_of(vector):
    """Members are JSON text in the call. The role is not in the vectors; where it was left out, the context says so."""
    request = dict(vector["request"])
    for name in TEXTS:
        if name in request and not request.get(name + "IsRawString"):
            request[name] = json.dumps(request[name]).replace("<lambda_function_name>", FUNCTION)
    request = {name: value for name, value in request.items() if not name.endswith("IsRawString")}
    if '"RoleArn": null' not in json.dumps(vector.get("expected")):
        request["roleArn"] = "arn:aws:iam::111111111111:role/any"
    return request


def parsed(text):
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def comparable(answer):
    """Payloads are texts in the answer; the recorder parsed those that are objects."""
    answer = dict(answer)
    if "output" in answer:
        answer["output"] = parsed(answer["output"])
    if "inspectionData" in answer:
        answer["inspectionData"] = {name: parsed(value) if PAYLOADS.fullmatch(name) else value
                                    for name, value in answer["inspectionData"].items()}
    return answer


def refusal_of(expected):
    """Its name and message, in either of the forms that were recorded."""
    if "Error" in expected:
        return expected["Error"]["Code"], expected["Error"]["Message"]
    return expected["exception_typename"], expected["exception_value"].split("operation: ", 1)[-1]


def verdict(vector, status, answer):
    if "expectedException" in vector:
        wanted = refusal_of(vector["expectedException"])
        got = (answer.get("__type"), answer.get("message"))
        return None if got == wanted else f"{wanted}, got {status} {short(answer)}"
    if status != 200:
        return f"got {status} {short(answer)}"
    wildcards = vector.get("wildcards") or []
    wanted, got = comparable(vector["expected"]), comparable(answer)
    text = json.dumps(got).replace(FUNCTION, "<lambda_function_name>")
    got = json.loads(text.replace("123456789012", "111111111111"))
    for name in sorted(wanted.keys() | got.keys()):
        if (name in wanted) != (name in got) or not is_like(wanted.get(name), got.get(name), wildcards):
            return f"{name}: {short(wanted.get(name))}, got {short(got.get(name))}"
    return None


def answer_call(server):
    """The function behind a task that is not mocked. Like the recorded one it makes its answer of what it is given."""
    tasks = server.ask("POST", f"/v1/functions/{FUNCTION}/poll?wait=10s")
    for task in tasks.json["tasks"] if tasks.status == 200 else []:
        given = task.get("input")
        result = f"{given['inputData']}!" if isinstance(given, dict) and "inputData" in given else {}
        server.ask("POST", f"/v1/tasks/{task['token']}/complete", {"result": result})


def is_called(vector):
    definition = vector["request"]["definition"]
    return "mock" not in vector["request"] and isinstance(definition, dict) and definition.get("Type") == "Task" \
        and "expectedException" not in vector


def run(server, vector):
    worker = threading.Thread(target=answer_call, args=(server,)) if is_called(vector) else None
    if worker:
        worker.start()
    answer = server.ask("POST", "/", request_of(vector), "application/x-amz-json-1.0",
                        {"X-Amz-Target": "AWSStepFunctions.TestState"})
    if worker:
        worker.join()
    return verdict(vector, answer.status, answer.json)


def main():
    program, folder = arguments("asl", __doc__)
    vectors = [vector for file in sorted(folder.glob("public/*.json")) for vector in json.loads(file.read_text())
               if vector["kind"] == "test-state" and not vector.get("superseded")]
    server = live_server.Server(program)
    try:
        server.ask("PUT", f"/v1/functions/{FUNCTION}", {"kind": "poll"})
        verdicts = {vector["id"]: run(server, vector) for vector in vectors}
    finally:
        server.close()
    sys.exit(report("TestState", verdicts, "asl_state_exceptions.txt"))


if __name__ == "__main__":
    main()
