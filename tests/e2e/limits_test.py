#!/usr/bin/env python3
"""Namespaces, quotas, pools and rates as their users meet them: a real server, real processes.

usage: limits_test.py PROGRAM
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from server import Server

PROGRAM = ""

PAIR = b"""
name: pair
triggers:
  - {id: both, on: item, condition: {count: 2}, action: {finish: {result: "two came"}}}
"""

WORKER = """
import json, os, sys
print("worker is up", file=sys.stderr, flush=True)
for line in sys.stdin:
    call = json.loads(line)
    number = call["input"]
    if number == "die":
        os._exit(7)
    print(json.dumps({"id": call["id"], "heartbeat": True}), flush=True)
    print(json.dumps({"id": call["id"], "result": {"number": number, "pid": os.getpid(), "run": call["run"],
                                                    "key": call["idempotency_key"]}}), flush=True)
"""

POOLED = """
name: pooled
functions:
  work:
    command: [%s, %s]
    pool: {max: 2, calls: 4}
triggers:
  - id: begin
    on: sluice.run.started
    action: {invoke: {function: work, input: "${index}", each: 10}}
  - id: all
    on: {type: sluice.task.succeeded, subject: work}
    condition: {count: 10}
    action: {finish: {result: "${data.result}"}}
"""

DYING = """
name: dying
functions:
  work: {command: [%s, %s], pool: {max: 1}}
triggers:
  - {id: begin, on: sluice.run.started, action: {invoke: {function: work, input: die}}}
  - {id: failed, on: sluice.task.failed, action: {invoke: {function: work, input: again, subject: second}}}
  - {id: done, on: {type: sluice.task.succeeded, subject: second}, action: {finish: {result: "${data.result.number}"}}}
"""

RATED = """
name: rated
functions:
  work: {builtin: echo, rate: 20/s, burst: 1}
triggers:
  - {id: begin, on: sluice.run.started, action: {invoke: {function: work, each: 5}}}
  - {id: all, on: sluice.task.succeeded, condition: {count: 5}, action: {finish: {result: done}}}
"""


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)


class FunctionTest(FolderTest):
    def run_file(self, text):
        path = self.file("definition.yaml", text)
        done = subprocess.run([PROGRAM, "run", path], capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, "TMPDIR": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def worker(self):
        return json.dumps(sys.executable), json.dumps(self.file("worker.py", WORKER))

    def test_a_pool_keeps_its_workers_and_leaves_none_behind(self):
        result = self.run_file(POOLED % self.worker())
        self.assertIn(result["number"], range(10))
        self.assertTrue(result["key"].startswith(result["run"] + "/"))
        with self.assertRaises(ProcessLookupError):
            os.kill(result["pid"], 0)

    def test_a_worker_that_dies_fails_its_call_alone(self):
        self.assertEqual(self.run_file(DYING % self.worker()), "again")

    def test_a_rate_spreads_calls_over_time(self):
        begun = time.monotonic()
        self.assertEqual(self.run_file(RATED), "done")
        self.assertGreaterEqual(time.monotonic() - begun, 0.2)


class ServerTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.start()
        self.addCleanup(lambda: self.server.kill())

    def start(self, *arguments):
        self.server = Server(PROGRAM, str(self.folder / "data"), *arguments)

    def stop(self):
        self.assertEqual(self.server.stop(), 0)
        self.server.kill()

    def ask(self, method, path, body=None, content_type="application/json"):
        connection = self.server.connect()
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection.request(method, path, content, {"Content-Type": content_type})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        self.headers = answer.headers
        return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else text

    def send(self, run, number, space):
        event = {"specversion": "1.0", "id": str(number), "source": "/test", "type": "item", "run": run}
        return self.ask("POST", f"/events?namespace={space}", event, "application/cloudevents+json")

    def begin(self, run, space="team"):
        return self.ask("POST", f"/v1/runs?namespace={space}", {"id": run, "definition": "pair"})

    def make_team(self, quota=None):
        self.assertEqual(self.ask("PUT", "/v1/namespaces/team", {"description": "ours"})[0], 200)
        self.assertEqual(self.ask("POST", "/v1/definitions?namespace=team", PAIR)[0], 201)
        if quota:
            self.assertEqual(self.ask("PUT", "/v1/namespaces/team/quota", quota)[0], 200)

    def test_a_namespace_is_made_before_it_is_used(self):
        status, problem = self.ask("POST", "/v1/definitions?namespace=team", PAIR)
        self.assertEqual((status, problem["code"]), (404, "unknown_namespace"))
        self.assertIn("PUT /v1/namespaces/team", problem["detail"])
        self.assertEqual(self.ask("PUT", "/v1/namespaces/Team")[0], 400)
        self.make_team()
        self.stop()
        self.start()
        self.assertEqual(self.begin("r1")[0], 201)
        names = [each["namespace"] for each in self.ask("GET", "/v1/namespaces")[1]["namespaces"]]
        self.assertEqual(names, ["default", "team"])

    def test_standing_runs_go_with_their_namespace(self):
        self.make_team()
        line = {"name": "line", "strategy": "sequential", "tasks": {"a": {"wait": {"event": {"type": "go"}}}}}
        self.assertEqual(self.ask("POST", "/v1/definitions?namespace=team", line)[0], 201)
        for run in ("r1", "r2"):
            self.assertEqual(self.ask("POST", "/v1/runs?namespace=team", {"id": run, "definition": "line"})[0], 201)
        self.until_told('"queued"', "/v1/runs/r2?namespace=team")
        self.assertEqual(self.ask("POST", "/v1/definitions?namespace=team", {**line, "strategy": {"parallel": 2}})[0], 201)
        self.until_told('"running"', "/v1/runs/r2?namespace=team")
        for run in ("r1", "r2"):
            self.assertEqual(self.ask("POST", f"/v1/runs/{run}/terminate?namespace=team")[0], 200)
            self.assertEqual(self.ask("DELETE", f"/v1/runs/{run}?namespace=team")[0], 200)

        self.assertEqual(self.ask("DELETE", "/v1/namespaces/team")[0], 200)

        self.make_team()
        self.assertEqual(self.ask("GET", "/v1/runs?namespace=team&standing=true")[1]["runs"], [])

    def test_a_namespace_with_runs_stays(self):
        self.make_team({"definitions": 5})
        self.begin("r1")
        status, problem = self.ask("DELETE", "/v1/namespaces/team")
        self.assertEqual(status, 409)
        self.assertIn("has runs", problem["detail"])
        self.assertEqual(self.ask("POST", "/v1/runs/r1/terminate?namespace=team")[0], 200)
        self.assertEqual(self.ask("DELETE", "/v1/runs/r1?namespace=team")[0], 200)
        self.assertEqual(self.ask("DELETE", "/v1/namespaces/team")[0], 200)
        self.assertEqual(self.begin("r2")[0], 404)
        self.assertEqual(self.ask("PUT", "/v1/namespaces/team")[0], 200)
        self.assertEqual(self.ask("GET", "/v1/definitions/pair?namespace=team")[0], 404)
        self.assertEqual(self.ask("GET", "/v1/namespaces/team/quota")[0], 404)
        self.assertEqual(self.ask("DELETE", "/v1/namespaces/default")[0], 400)

    def test_events_beyond_the_quota_are_refused_and_others_are_not(self):
        self.make_team({"events_rate": "1/m", "events_burst": 2})
        self.begin("r1")
        self.assertEqual(self.send("r1", 1, "team")[0], 202)
        self.assertEqual(self.send("r1", 1, "team")[0], 202)
        status, problem = self.send("r1", 2, "team")
        self.assertEqual((status, problem["code"], problem["quota"]), (429, "quota_exceeded", "events_rate"))
        self.assertGreater(int(self.headers["Retry-After"]), 30)
        self.assertEqual(self.send("none", 1, "default")[0], 404)
        self.assertEqual(self.ask("DELETE", "/v1/namespaces/team/quota")[0], 200)
        self.assertEqual(self.send("r1", 2, "team")[0], 202)

    def test_a_nested_run_waits_for_the_quota(self):
        self.make_team({"running_runs": 2})
        nest = {"name": "nest", "tasks": {"inner": {"subworkflow": "pair"}}}
        self.assertEqual(self.ask("POST", "/v1/definitions?namespace=team", nest)[0], 201)
        self.begin("r1")
        self.assertEqual(self.ask("POST", "/v1/runs?namespace=team", {"id": "p", "definition": "nest"})[0], 201)
        self.until_told("quota_exceeded", "/v1/runs/p/events?namespace=team")
        self.assertEqual(self.ask("GET", "/v1/runs/p?namespace=team")[1]["status"], "running")

        self.ask("POST", "/v1/runs/r1/terminate?namespace=team")

        self.until_told('"pair"', "/v1/runs?namespace=team&status=running")

    def until_told(self, text, path):
        deadline = time.monotonic() + 30
        while text not in json.dumps(self.ask("GET", path)[1]):
            self.assertLess(time.monotonic(), deadline, path)
            time.sleep(0.05)

    def test_runs_and_definitions_are_bounded_also_after_a_restart(self):
        self.make_team({"running_runs": 2, "definitions": 1})
        self.stop()
        self.start()
        self.assertEqual(self.begin("r1")[0], 201)
        self.assertEqual(self.begin("r2")[0], 201)
        status, problem = self.begin("r3")
        self.assertEqual((status, problem["quota"]), (429, "running_runs"))
        status, problem = self.ask("POST", "/v1/definitions?namespace=team", PAIR.replace(b"pair", b"more"))
        self.assertEqual((status, problem["quota"]), (429, "definitions"))
        self.assertEqual(self.ask("POST", "/v1/definitions?namespace=team", PAIR)[0], 201)
        self.assertEqual(self.ask("POST", "/v1/runs/r1/terminate?namespace=team")[0], 200)
        deadline = time.monotonic() + 10
        while self.begin("r3")[0] == 429:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_a_caller_that_asks_too_often_is_told_when_to_ask_again(self):
        self.stop()
        self.start("--limits-requests", "1", "--limits-requests-burst", "3")
        statuses = [self.ask("GET", "/v1/namespaces")[0] for _ in range(3)]
        self.assertEqual(statuses, [200] * 3)
        status, problem = self.ask("GET", "/v1/namespaces")
        self.assertEqual((status, problem["code"], self.headers["Retry-After"]), (429, "too_many_requests", "1"))

    def test_a_quota_that_means_nothing_is_refused(self):
        self.assertEqual(self.ask("PUT", "/v1/namespaces/default/quota", {"events": 5})[0], 400)
        self.assertEqual(self.ask("PUT", "/v1/namespaces/none/quota", {})[0], 404)
        self.assertEqual(self.ask("GET", "/v1/namespaces/default/quota")[0], 404)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
