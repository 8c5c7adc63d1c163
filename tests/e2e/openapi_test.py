#!/usr/bin/env python3
"""Holds docs/reference/openapi.json true: against the route table of a real server, and against its answers.

usage: openapi_test.py PROGRAM

A route that the file does not describe fails, and so does one that the file describes and the server does not have.
`Calls` below uses every operation with every query parameter; each answer must have a status, a content type and a
body that the file allows. Who adds a route describes it there and adds a call here.
"""
import json
import pathlib
import re
import sys
import unittest

import schema
import live_server as server

PROGRAM = ""
FILE = pathlib.Path(__file__).resolve().parents[2] / "docs/reference/openapi.json"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch")

DEFINITION = b"""
name: pair
triggers:
  - {id: both, on: item, condition: {count: 2}, action: {finish: {result: "two came"}}}
"""


class Description:
    def __init__(self, document):
        self.document = document
        self.operations = {(method.upper(), path): operation for path, item in document["paths"].items()
                           for method, operation in item.items() if method in METHODS}

    def parameters(self, operation, place):
        found = (schema.resolved(self.document, each) for each in operation.get("parameters", []))
        return {each["name"]: each for each in found if each["in"] == place}

    def answer(self, operation, status):
        answers = operation["responses"]
        answer = answers.get(str(status)) or (answers.get("default") if status >= 400 else None)
        return answer and schema.resolved(self.document, answer)


class Calls:
    """Makes requests and compares each with what is described."""

    def __init__(self, test, description, where):
        self.test = test
        self.description = description
        self.server = where
        self.used = set()
        self.token = None

    def __call__(self, method, path, status, query=None, body=None, content_type="application/json", **parts):
        operation = self.description.operations[method, path]
        target = re.sub(r"{(\w+)}", lambda found: server.quoted(parts[found.group(1)]), path)
        pairs = [(name, each) for name, value in (query or {}).items()
                 for each in (value if isinstance(value, list) else [value])]
        if pairs:
            target += "?" + "&".join(f"{name}={server.quoted(value)}" for name, value in pairs)
        self.used.add((method, path))
        known = self.description.parameters(operation, "query")
        for name, _ in pairs:
            self.test.assertIn(name, known, f"{method} {path}: the parameter is not described")
            self.used.add((method, path, name))
        expected = self.description.answer(operation, status)
        self.test.assertIsNotNone(expected, f"{method} {path}: {status} is not described")
        if "text/event-stream" in expected.get("content", {}):
            return self.follow(method, path, target)
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        answer = self.server.ask(method, target, body, content_type, headers)
        self.test.assertEqual(answer.status, status, f"{method} {target}: {answer.body}")
        self.compare(f"{method} {target}", expected, answer)
        return answer.json if answer.type.endswith("json") and answer.body else answer.body

    def follow(self, method, path, target):
        stream = self.server.follow(target)
        self.test.assertEqual(stream.response.getheader("Content-Type"), "text/event-stream", f"{method} {path}")
        stream.close()

    def compare(self, where, expected, answer):
        content = expected.get("content")
        if not content:
            self.test.assertEqual(answer.body, b"", where)
            return
        self.test.assertIn(answer.type, content, where)
        if answer.type.endswith("json"):
            problems = schema.problems(self.description.document, content[answer.type]["schema"], answer.json)
            self.test.assertEqual(problems, [], where)


class OpenApiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = server.Server(PROGRAM)
        cls.description = Description(json.loads(FILE.read_text()))

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def routes(self):
        """All but the operations of another protocol, which docs/reference/states-language/api.md describes."""
        return {(each["method"], each["path"]): each for each in self.server.ask("GET", "/v1/api").json["routes"]
                if not each["path"].startswith("/AWSStepFunctions.")}

    def test_every_operation_of_the_step_functions_api_has_its_page(self):
        page = (FILE.parent / "states-language/api.md").read_text()
        paths = [each["path"] for each in self.server.ask("GET", "/v1/api").json["routes"]]
        operations = [path.split(".")[1] for path in paths if path.startswith("/AWSStepFunctions.")]
        self.assertGreater(len(operations), 35)
        self.assertEqual([each for each in operations if f"`{each}`" not in page], [])

    def test_the_server_serves_the_file(self):
        self.assertEqual(self.server.ask("GET", "/openapi.json").json, self.description.document)

    def test_every_route_is_described_and_every_described_one_is_there(self):
        routes = self.routes()
        described = self.description.operations
        self.assertEqual(sorted(set(routes) - set(described)), [], "routes that docs/reference/openapi.json lacks")
        self.assertEqual(sorted(set(described) - set(routes)), [], "described, but not in the route table")
        for key, route in routes.items():
            self.assertEqual(described[key].get("x-role"), route["role"], key)

    def test_every_part_of_a_path_is_described(self):
        for (method, path), operation in self.description.operations.items():
            parts = set(re.findall(r"{(\w+)}", path))
            self.assertEqual(set(self.description.parameters(operation, "path")), parts, f"{method} {path}")
            self.assertTrue(operation.get("summary"), f"{method} {path}")

    def test_namespaced_routes_take_a_namespace(self):
        for key, route in self.routes().items():
            named = "namespace" in self.description.parameters(self.description.operations[key], "query")
            is_asked_for = route["namespaced"] and route["role"] != "anyone" and "{namespace}" not in route["path"]
            self.assertEqual(named, is_asked_for, key)

    def test_every_reference_leads_somewhere(self):
        for reference in re.findall(r'"\$ref": "([^"]+)"', FILE.read_text()):
            schema.resolved(self.description.document, {"$ref": reference})

    def test_every_operation_answers_as_described(self):
        call = Calls(self, self.description, self.server)
        for part in (self.use_definitions, self.use_runs, self.use_changes, self.use_bulk, self.use_triggers,
                     self.use_history, self.use_live, self.use_functions, self.use_backups, self.use_namespaces,
                     self.use_routes, self.use_sources, self.use_schedules, self.use_access, self.use_operations):
            part(call)
        unused = [f"{method} {path}{'?' + name if name else ''}"
                  for (method, path), operation in self.description.operations.items()
                  for name in ("", *self.description.parameters(operation, "query"))
                  if (((method, path, name) if name else (method, path)) not in call.used) and name != "namespace"]
        self.assertEqual(unused, [], "described, but no call here uses it")

    def use_definitions(self, call):
        call("POST", "/v1/definitions", 201, body=DEFINITION)
        call("POST", "/v1/definitions", 422, body=b"name: x\ntriggers: 7\n")
        call("POST", "/v1/definitions/validate", 200, body=b"name: x\ntriggers: 7\n")
        call("GET", "/v1/definitions/{definition}", 200, definition="pair")
        call("GET", "/v1/definitions/{definition}", 404, definition="none")
        call("GET", "/v1/definitions", 200, {"limit": "1", "cursor": "a"})
        version = call("GET", "/v1/definitions/{definition}/versions", 200, definition="pair")["versions"][0]["version"]
        call("GET", "/v1/definitions/{definition}", 200, {"version": version}, definition="pair")
        call("GET", "/v1/definitions/{definition}", 404, {"version": "none"}, definition="pair")

    def use_runs(self, call):
        event = {"specversion": "1.0", "id": "1", "source": "/test", "type": "item", "run": "r"}
        cloudevent = "application/cloudevents+json"
        start = {"id": "r", "definition": "pair", "input": {"a": 1}, "labels": {"team": "x"}}
        call("POST", "/v1/runs", 201, body=start)
        call("POST", "/v1/runs", 400, body={"colour": 1})
        call("POST", "/v1/runs", 202, {"wait": "1ms"}, body=start)
        call("OPTIONS", "/events", 200)
        call("OPTIONS", "/v1/runs/{run}/events", 200, run="r")
        call("POST", "/events", 202, body=event, content_type=cloudevent)
        call("GET", "/v1/runs/{run}", 200, run="r")
        call("GET", "/v1/runs/{run}", 404, run="none")
        call("GET", "/v1/runs/{run}/end", 202, {"wait": "1ms"}, run="r")
        call("GET", "/v1/runs/{run}/state", 200, run="r")
        call("GET", "/v1/runs/{run}/state", 200, {"at": "1"}, run="r")
        call("POST", "/v1/runs/{run}/events", 202, body={**event, "id": "2"}, content_type=cloudevent, run="r")
        call("GET", "/v1/runs/{run}/end", 200, run="r")
        call("GET", "/v1/runs", 200, {"status": "succeeded", "definition": "pair", "label": ["team=x"],
                                      "started_after": "2020-01-01T00:00:00Z", "limit": "1",
                                      "started_before": "2120-01-01T00:00:00Z"})
        call("GET", "/v1/runs", 200, {"ended_after": "2020-01-01T00:00:00Z", "ended_before": "2120-01-01T00:00:00Z"})
        call("POST", "/v1/runs", 201, body={"id": "s", "definition": "pair"})
        page = call("GET", "/v1/runs", 200, {"limit": "1"})
        call("GET", "/v1/runs", 200, {"cursor": page["cursor"]})
        call("GET", "/v1/runs/{run}/kept", 200, run="s")

    def use_changes(self, call):
        call("POST", "/v1/runs/{run}/pause", 200, run="s")
        call("POST", "/v1/runs/{run}/resume", 200, run="s")
        call("POST", "/v1/runs/{run}/move", 200, {"dry_run": "true"}, run="s")
        call("POST", "/v1/runs/{run}/move", 409, run="r")
        call("POST", "/v1/runs/{run}/fork", 201, body={"event": 1, "id": "f"}, run="s")
        call("POST", "/v1/runs/{run}/reset", 201, body={"event": 1, "id": "g"}, run="s")
        call("POST", "/v1/runs/{run}/cancel", 200, body={"reason": "test"}, run="f")
        call("POST", "/v1/runs/{run}/terminate", 200, run="g")
        call("POST", "/v1/runs/{run}/reopen", 200, run="f")
        call("POST", "/v1/runs/{run}/retry", 200, run="g")
        call("POST", "/v1/runs/{run}/retry", 409, run="g")
        tasks = b"name: halts\ntasks:\n  a: {call: fail, on_error: halt}\n  b: {approve: null}\n  c: {approve: null}\n"
        call("POST", "/v1/definitions", 201, body=tasks)
        call("POST", "/v1/runs", 201, body={"id": "h", "definition": "halts"})
        call("POST", "/v1/runs/{run}/approve", 404, body={"task": "none"}, run="h")
        call("POST", "/v1/runs/{run}/approve", 200, body={"task": "b", "by": "ann"}, run="h")
        call("POST", "/v1/runs/{run}/approve", 409, body={"task": "b"}, run="h")
        call("POST", "/v1/runs/{run}/skip", 200, body={"task": "c"}, run="h")
        call("POST", "/v1/runs/{run}/retry", 200, body={"task": "a"}, run="h")
        call("POST", "/v1/runs/{run}/set-result", 200, body={"task": "a", "result": 1}, run="h")
        call("DELETE", "/v1/runs/{run}", 409, run="g")
        call("DELETE", "/v1/runs/{run}", 200, {"terminate": "true"}, run="g")

    def use_bulk(self, call):
        times = {"started_after": "2020-01-01T00:00:00Z", "started_before": "2120-01-01T00:00:00Z"}
        ends = {"ended_after": "2020-01-01T00:00:00Z", "ended_before": "2120-01-01T00:00:00Z"}
        cursor = call("GET", "/v1/runs", 200, {"limit": "1"})["cursor"]
        call("GET", "/v1/runs", 200, {"standing": "true"})
        for change in ("cancel", "terminate", "retry"):
            path = "/v1/runs/" + change
            call("POST", path, 200, {**times, "dry_run": "true", "definition": "none", "label": "a=b", "limit": "7"})
            call("POST", path, 200, {**ends, "status": "succeeded", "definition": "none"})
            call("POST", path, 200, {"all": "true", "dry_run": "true", "cursor": cursor})
            call("POST", path, 400)

    def use_triggers(self, call):
        call("POST", "/v1/runs", 201, body={"id": "t"})
        one = "/v1/runs/{run}/triggers/{trigger}"
        form = {"id": "count", "on": "item", "lifetime": "persistent", "context": {"seen": 0}}
        call("POST", "/v1/runs/{run}/triggers", 201, body=form, run="t")
        call("POST", "/v1/runs/{run}/triggers", 422, body=form, run="t")
        self.server.send("t", 1)
        call("GET", "/v1/runs/{run}/triggers", 200, run="t")
        call("GET", "/v1/runs/{run}/triggers", 200, query={"last": "true"}, run="t")
        call("GET", one, 200, run="t", trigger="count")
        call("PATCH", one, 200, body={"filter": "true"}, run="t", trigger="count")
        call("POST", one + "/disable", 200, run="t", trigger="count")
        call("POST", one + "/enable", 200, run="t", trigger="count")
        call("POST", one + "/intercept", 201, body={"id": "audit", "when": "after"}, run="t", trigger="count")
        call("PATCH", one + "/context", 200, body={"seen": 7}, run="t", trigger="count")
        call("GET", one + "/context", 200, run="t", trigger="count")
        call("DELETE", one, 200, run="t", trigger="audit")
        call("DELETE", one, 404, run="t", trigger="audit")
        call("PATCH", "/v1/runs/{run}/context", 200, body={"a": 1}, run="t")
        call("GET", "/v1/runs/{run}/context", 200, run="t")

    def use_history(self, call):
        call("GET", "/v1/runs/{run}/events", 200, {"from": "1", "limit": "2", "changes": "true"}, run="r")
        call("GET", "/v1/runs/{run}/events", 200, {"told": "true"}, run="r")
        call("GET", "/v1/runs/{run}/events", 200, {"id": "1", "source": "/test"}, run="r")
        call("GET", "/v1/runs/{run}/events/{event}", 200, run="r", event="2")
        call("GET", "/v1/runs/{run}/events/{event}", 404, run="r", event="99")
        call("GET", "/v1/runs/{run}/why", 200, run="r")
        call("GET", "/v1/runs/{run}/why", 200, run="t")
        call("GET", "/v1/runs/{run}/why", 200, {"event": "#2"}, run="r")
        call("GET", "/v1/runs/{run}/why", 200, {"trigger": "count"}, run="t")
        call("GET", "/v1/runs/{run}/replay", 200, {"from": "1"}, run="r")
        call("GET", "/v1/quarantine", 200, {"limit": "5"})

    def use_live(self, call):
        call("GET", "/v1/runs/{run}/live", 200, {"after": "1"}, run="r")
        call("GET", "/v1/live/runs", 200, {"status": "failed", "definition": "d", "label": "a=b", "after": "x"})
        call("GET", "/v1/live/events", 200, {"type": "a*", "subject": "b", "source": "/c", "after": "x"})
        call("GET", "/v1/live/metrics", 200)

    def use_functions(self, call):
        one, task = "/v1/functions/{function}", "/v1/tasks/{token}"
        call("PUT", one, 422, body={"kind": "http"}, function="grind")
        call("PUT", one, 200, body={"kind": "poll"}, function="grind")
        call("GET", "/v1/functions", 200)
        call("GET", one, 200, function="grind")
        call("GET", one, 404, function="none")
        call("POST", one + "/poll", 204, {"wait": "0s"}, function="grind")
        call("POST", "/v1/definitions", 201, body=b"""
name: grinds
triggers: [{id: begin, on: sluice.run.started, action: [{invoke: grind}, {invoke: grind}, {invoke: grind}]}]
""")
        call("POST", "/v1/runs", 201, body={"id": "grinds", "definition": "grinds"})
        tasks = []
        while len(tasks) < 3:
            tasks += call("POST", one + "/poll", 200, {"wait": "30s", "most": "3"}, function="grind")["tasks"]
        first, second, third = (each["token"] for each in tasks)
        call("POST", task + "/heartbeat", 204, body={"lease": tasks[0]["lease"]}, token=first)
        call("POST", task, 200, body={"result": 1}, token=first)
        call("POST", task, 409, body={"result": 1}, token=first)
        call("POST", task + "/complete", 200, body={"result": 1}, token=second)
        call("POST", task + "/fail", 200, body={"kind": "worn", "message": "the stone is worn"}, token=third)
        call("POST", task, 404, body={"result": 1}, token="none")
        call("DELETE", one, 200, function="grind")
        call("DELETE", one, 404, function="grind")

    def use_backups(self, call):
        made = call("POST", "/v1/backups", 201)
        call("GET", "/v1/backups", 200)
        call("GET", "/v1/backups/{backup}/files/{file}", 200, {"from": "0", "most": "10"}, backup=made["backup"],
             file=made["files"][0]["name"])
        call("DELETE", "/v1/backups/{backup}", 200, backup=made["backup"])
        call("DELETE", "/v1/backups/{backup}", 404, backup=made["backup"])

    def use_namespaces(self, call):
        one = "/v1/namespaces/{namespace}"
        call("PUT", one, 200, body={"description": "theirs"}, namespace="team")
        call("GET", "/v1/namespaces", 200)
        call("GET", one + "/quota", 404, namespace="team")
        call("PUT", one + "/quota", 200, body={"running_runs": 10}, namespace="team")
        call("GET", one + "/quota", 200, namespace="team")
        call("DELETE", one + "/quota", 200, namespace="team")
        call("DELETE", one, 200, namespace="team")
        call("DELETE", one, 404, namespace="team")

    def use_routes(self, call):
        one = "/v1/routes/{route}"
        form = {"filter": {"exact": {"type": "item"}}, "to": {"run": {"key": "subject"}, "definition": "pair"}}
        event = {"specversion": "1.0", "id": "1", "source": "/test", "type": "item", "subject": "routed"}
        call("PUT", one, 200, body=form, route="items")
        call("PUT", one, 400, body={}, route="items")
        call("GET", one, 200, route="items")
        call("GET", "/v1/routes", 200)
        call("POST", "/v1/routes/test", 200, body=event, content_type="application/cloudevents+json")
        call("DELETE", one, 200, route="items")
        call("DELETE", one, 404, route="items")

    def use_sources(self, call):
        one = "/v1/sources/{source}"
        call("PUT", one, 200, body={"kind": "s3", "to": {"run": "t"}}, source="objects")
        call("PUT", one, 403, body={"kind": "directory", "path": "/etc"}, source="files")
        call("POST", "/hooks/s3/{source}", 202, body={"Event": "s3:TestEvent"}, source="objects")
        call("POST", "/hooks/s3/{source}", 400, body={}, source="objects")
        call("POST", one + "/pause", 200, source="objects")
        call("POST", "/hooks/s3/{source}", 503, body={}, source="objects")
        call("POST", one + "/resume", 200, source="objects")
        call("GET", one, 200, source="objects")
        call("GET", "/v1/sources", 200)
        call("DELETE", one, 200, source="objects")
        call("DELETE", one, 404, source="objects")

    def use_schedules(self, call):
        one = "/v1/schedules/{schedule}"
        form = {"cron": "0 3 * * *", "zone": "Europe/Berlin", "start": {"definition": "pair"}}
        call("PUT", one, 200, body=form, schedule="nightly")
        call("PUT", one, 400, body={}, schedule="nightly")
        call("GET", one, 200, schedule="nightly")
        call("GET", one + "/next", 200, {"count": "2"}, schedule="nightly")
        call("POST", one + "/pause", 200, schedule="nightly")
        call("POST", one + "/resume", 200, schedule="nightly")
        call("POST", one + "/trigger", 200, schedule="nightly")
        call("GET", "/v1/schedules", 200)
        january = {"definition": "pair", "from": "2026-01-01", "to": "2026-01-03", "every": "@daily", "limit": 2}
        call("POST", "/v1/backfills", 200, {"dry_run": "true"}, january)
        call("POST", "/v1/backfills", 201, body={**january, "id": "filled"})
        call("POST", "/v1/backfills", 200, body={**january, "id": "filled"})
        call("POST", "/v1/backfills", 400, body={**january, "to": "soon"})
        call("GET", "/v1/backfills/{run}", 200, run="filled")
        call("GET", "/v1/backfills/{run}", 404, run="absent")
        call("DELETE", one, 200, schedule="nightly")
        call("DELETE", one, 404, schedule="nightly")
        call("GET", "/v1/runs/{run}/timers", 200, run="t")

    def use_access(self, call):
        # From the first token on, everyone needs one.
        call.token = call("POST", "/v1/tokens", 201, body={"name": "root", "role": "admin"})["token"]
        call("POST", "/v1/tokens", 201, body={"name": "eyes", "role": "reader", "expires": "30d"})
        call("POST", "/v1/tokens", 400, body={"name": "x"})
        call("GET", "/v1/tokens", 200)
        call("DELETE", "/v1/tokens/{name}", 200, name="eyes")
        call("DELETE", "/v1/tokens/{name}", 404, name="eyes")
        call("GET", "/v1/audit", 200, {"since": "1h", "who": "root", "limit": "1"})
        call("GET", "/v1/audit", 200, {"cursor": "1000"})

    def use_operations(self, call):
        for path in ("/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/api"):
            call("GET", path, 200)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
