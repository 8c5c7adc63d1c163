#!/usr/bin/env python3
"""`sluice serve` as its users meet it: a real server, a real socket.

usage: serve_test.py PROGRAM
"""
import http.client
import json
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

PROGRAM = ""

DEFINITION = b"""
name: pair
triggers:
  - {id: both, on: item, condition: {count: 2}, action: {finish: {result: "two came"}}}
"""


class ServeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.start()

    def tearDown(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.folder.cleanup()

    def start(self):
        self.process = subprocess.Popen([PROGRAM, "serve", "--data", self.folder.name, "--listen", "127.0.0.1:0"],
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)", line).group(1))

    def ask(self, method, path, body=None, content_type="application/json"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection.request(method, path, content, {"Content-Type": content_type})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else text

    def send(self, run, number):
        event = {"specversion": "1.0", "id": str(number), "source": "/test", "type": "item", "run": run}
        return self.ask("POST", "/events", event, "application/cloudevents+json")[0]

    def begin(self, run="r1"):
        self.assertEqual(self.ask("POST", "/v1/definitions", DEFINITION)[0], 201)
        status, answer = self.ask("POST", "/v1/runs", {"id": run, "definition": "pair", "labels": {"team": "a"}})
        self.assertEqual((status, answer["existing"]), (201, False))

    def test_a_run_from_its_start_to_its_end(self):
        self.begin()
        self.assertTrue(self.ask("POST", "/v1/runs", {"id": "r1", "definition": "pair", "labels": {"team": "a"}})[1]["existing"])
        self.assertEqual(self.send("r1", 1), 202)
        self.assertEqual(self.send("r1", 1), 202)
        self.assertEqual(self.ask("GET", "/v1/runs/r1")[1]["status"], "running")
        self.assertEqual(self.send("r1", 2), 202)

        status, ending = self.ask("POST", "/v1/runs?wait=30s", {"id": "r1", "definition": "pair", "labels": {"team": "a"}})

        self.assertEqual((status, ending["status"], ending["result"]), (200, "succeeded", "two came"))

    def test_waiting_ends_when_its_time_is_over(self):
        self.begin()
        status, answer = self.ask("POST", "/v1/runs?wait=1ms", {"id": "r1", "definition": "pair", "labels": {"team": "a"}})
        self.assertEqual((status, answer["status"]), (202, "running"))

    def test_lists_take_filters(self):
        self.begin("r1")
        self.begin("r2")
        self.assertEqual(self.ask("POST", "/v1/runs/r2/terminate")[0], 200)
        listed = lambda query: [run["run"] for run in self.ask("GET", "/v1/runs" + query)[1]["runs"]]
        self.assertEqual(sorted(listed("")), ["r1", "r2"])
        self.assertEqual(listed("?status=running&label=team%3Da"), ["r1"])
        self.assertEqual(listed("?definition=none"), [])
        status, page = self.ask("GET", "/v1/runs?limit=1")
        self.assertEqual(len(page["runs"]), 1)
        self.assertEqual(len(self.ask("GET", "/v1/runs?limit=1&cursor=" + urllib.parse.quote(page["cursor"]))[1]["runs"]), 1)
        self.assertEqual(self.ask("GET", "/v1/runs?limit=0")[0], 400)
        self.assertEqual(self.ask("GET", "/v1/runs?colour=red")[0], 400)

    def test_problems_say_what_is_wrong(self):
        self.begin()
        status, problem = self.ask("GET", "/v1/runs/none")
        self.assertEqual((status, problem["code"]), (404, "not_found"))
        self.assertIn("none", problem["detail"])
        self.assertEqual(self.send("none", 1), 404)
        self.assertEqual(self.ask("POST", "/v1/runs", {"id": "x", "definition": "none"})[0], 404)
        self.assertEqual(self.ask("POST", "/v1/runs", {"id": "x", "colour": 1})[0], 400)
        self.assertEqual(self.ask("POST", "/v1/runs", b"{")[0], 400)
        status, problem = self.ask("POST", "/v1/definitions", b"name: x\ntriggers: 7\n")
        self.assertEqual((status, problem["code"]), (422, "invalid_definition"))
        self.assertEqual(problem["findings"][0]["line"], 2)
        self.assertEqual(self.ask("DELETE", "/v1/runs/r1")[0], 409)

    def test_what_was_acknowledged_is_there_after_a_kill(self):
        self.begin()
        self.assertEqual(self.send("r1", 1), 202)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()
        self.start()
        self.assertEqual(self.send("r1", 1), 202)
        self.assertEqual(self.ask("GET", "/v1/runs/r1")[1]["status"], "running")
        self.assertEqual(self.send("r1", 2), 202)
        self.assertEqual(self.ask("GET", "/v1/runs/r1")[1]["result"], "two came")

    def test_it_is_ready_counts_and_stops_when_asked(self):
        self.assertEqual(self.ask("GET", "/healthz")[0], 200)
        self.assertEqual(self.ask("GET", "/readyz")[0], 200)
        self.assertIn(b"sluice_http_requests", self.ask("GET", "/metrics")[1])
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(timeout=30), 0)

    def test_it_listens_on_loopback_only(self):
        done = subprocess.run([PROGRAM, "serve", "--data", self.folder.name + "/b", "--listen", "0.0.0.0:0"],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 2)
        self.assertIn("without authentication", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
