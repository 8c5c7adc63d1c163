#!/usr/bin/env python3
"""Sends the CloudEvents receiver cases to a real server and compares its answers and what it handed on.

usage: cloudevents_test.py PROGRAM [FOLDER]      FOLDER has cloudevents/http_receiver.json; default ../shared/conformance
"""
import base64
import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile

DEFINITION = """
name: receives
unmatched: keep
triggers:
  - {id: never, on: never}
"""


class Server:
    """`sluice serve` on a port of its own, stopped at the end."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([program, "serve", "--data", self.folder.name, "--listen", "127.0.0.1:0"],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found.group(1))
                return
        raise SystemExit("the server did not start")

    def ask(self, method, path, body=b"", headers=()):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def body_of(request):
    return base64.b64decode(request["body_base64"]) if "body_base64" in request else request.get("body_utf8", "").encode()


def kept(server, run):
    """The events that a run keeps, as the cases describe them."""
    status, _, content = server.ask("GET", f"/v1/runs/{run}/kept")
    assert status == 200, content
    return [describe(event) for event in json.loads(content)["events"]]


def describe(event):
    attributes = {name: value for name, value in event.items() if name not in ("data", "data_base64", "run")}
    described = {"attributes": attributes}
    if "data_base64" in event:
        described["data"] = {"base64": event["data_base64"]}
    elif "data" in event:
        described["data"] = {"data": event["data"]}
    return described


def is_same_data(wanted, got):
    if wanted is None or got is None:
        return wanted is got
    if "size" in wanted:
        return len(base64.b64decode(got["base64"])) == wanted["size"] if "base64" in got else len(got["data"]) == wanted["size"]
    if "base64" in wanted:
        return got.get("base64") == wanted["base64"]
    return "data" in got and got["data"] == wanted.get("json", wanted.get("text"))


def problem_of(server, number, case):
    run = f"case-{number}"
    status, _, content = server.ask("POST", "/v1/runs", json.dumps({"id": run, "definition": "receives"}).encode())
    assert status == 201, content
    request = case["request"]
    # Reading the path of a run's events gives its history; the path of all events only takes some.
    path = "/events" if request["method"] == "GET" else f"/v1/runs/{run}/events"
    status, headers, _ = server.ask(request["method"], path, body_of(request), request["headers"])
    expect = case["expect"]
    if status not in expect["status"]:
        return f"answered {status}, expected {expect['status']}"
    for name, value in (expect.get("response_headers") or {}).items():
        allowed = value if isinstance(value, list) else [value]
        if name not in headers or ("any" not in allowed and headers[name] not in allowed):
            return f"header {name} is {headers.get(name)}, expected {value}"
    if "events" not in expect:
        return None
    events = kept(server, run)
    if len(events) != len(expect["events"]):
        return f"handed on {len(events)} events, expected {len(expect['events'])}"
    for wanted, got in zip(expect["events"], events):
        if wanted["attributes"] != got["attributes"]:
            return f"attributes {got['attributes']}, expected {wanted['attributes']}"
        if not is_same_data(wanted.get("data"), got.get("data")):
            return f"data {got.get('data')}, expected {wanted.get('data')}"
    return None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "../shared/conformance")
    path = folder / "cloudevents" / "http_receiver.json"
    if not path.exists():
        print(f"skipped: there is no {path}; give the folder of the suites as the second argument")
        return
    content = json.loads(path.read_text())
    cases = content if isinstance(content, list) else content["cases"]
    server = Server(sys.argv[1])
    try:
        status, _, answer = server.ask("POST", "/v1/definitions", DEFINITION.encode())
        assert status == 201, answer
        failed = 0
        for number, case in enumerate(cases):
            if problem := problem_of(server, number, case):
                failed += 1
                print(f"{case['id']}: {problem}")
        print(f"{len(cases) - failed} of {len(cases)} cases hold")
    finally:
        server.stop()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
