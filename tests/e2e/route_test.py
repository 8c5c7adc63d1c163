#!/usr/bin/env python3
"""Routes, sources and schedules as their users meet them: a real server, a real socket, real kills.

usage: route_test.py PROGRAM
"""
import datetime
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
TIMEOUT = 60

PAIR = b"""
name: pair
triggers:
  - {id: both, on: item, condition: {count: 2}, action: {finish: {result: "${event.id}"}}}
"""
FIRED = b"""
name: fired
triggers:
  - {id: start, on: sluice.run.started, action: {finish: {result: "${run.input.time}"}}}
"""
NOTIFICATION = {"Records": [{
    "eventVersion": "2.1", "eventSource": "minio:s3", "awsRegion": "", "eventTime": "2026-11-15T05:57:30Z",
    "eventName": "s3:ObjectCreated:Put",
    "s3": {"bucket": {"name": "in"}, "object": {"key": "a+b.jpg", "size": 7, "eTag": "e", "sequencer": "1"}}}]}


class RouteTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.inbox = self.folder / "inbox"
        self.inbox.mkdir()
        self.process = None
        self.start()
        self.addCleanup(self.kill)

    def start(self, *options):
        self.process = subprocess.Popen([PROGRAM, "serve", "--data", str(self.folder / "data"), "--listen", "127.0.0.1:0",
                                         "--watch-roots", str(self.inbox), *options], stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)", line).group(1))

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def restart(self, *options):
        self.kill()
        self.start(*options)

    def ask(self, method, path, body=None, content_type="application/json", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection.request(method, path, content, {"Content-Type": content_type})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if headers is not None:
            headers.update(answer.getheaders())
        return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else text

    def define(self, source):
        self.assertEqual(self.ask("POST", "/v1/definitions", source)[0], 201)

    def put(self, path, body):
        status, answer = self.ask("PUT", path, body)
        self.assertEqual(status, 200, answer)
        return answer

    def event(self, number, subject="order 7", kind="item"):
        return {"specversion": "1.0", "id": str(number), "source": "/test", "type": kind, "subject": subject}

    def send(self, *events, headers=None):
        return self.ask("POST", "/events", list(events), "application/cloudevents-batch+json", headers)

    def run_of(self, run):
        return self.ask("GET", "/v1/runs/" + run)[1]

    def result_of(self, run):
        """Waits for the end of a run that exists."""
        status, ending = self.ask("POST", "/v1/runs?wait=30s", {"id": run, "definition": "pair"})
        self.assertEqual(status, 200, ending)
        return ending["result"]

    def until(self, claim):
        deadline = time.monotonic() + TIMEOUT
        while not claim():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def route_pairs(self):
        self.define(PAIR)
        self.put("/v1/routes/pairs", {"filter": {"exact": {"type": "item"}},
                                      "to": {"run": {"key": "subject"}, "definition": "pair"}})

    def test_events_find_their_run_and_start_it(self):
        self.route_pairs()
        status, tested = self.ask("POST", "/v1/routes/test", self.event(1), "application/cloudevents+json")
        self.assertEqual(status, 200)
        self.assertEqual(tested["events"][0]["routes"],
                         [{"route": "pairs", "run": "order%207", "start": "if_none", "definition": "pair"}])
        self.assertEqual(self.ask("GET", "/v1/runs/order%25207")[0], 404)

        self.assertEqual(self.send(self.event(1))[0], 202)
        self.assertEqual(self.send(self.event(1))[0], 202)
        self.assertEqual(self.run_of("order%25207")["status"], "running")
        self.assertEqual(self.send(self.event(2))[0], 202)
        self.assertEqual(self.run_of("order%25207")["result"], "2")

    def test_a_batch_is_taken_whole_or_not_at_all(self):
        self.route_pairs()
        status, problem = self.send(self.event(1, "a"), self.event(2, "a", "other"))
        self.assertEqual((status, problem["code"]), (404, "no_route"))
        self.assertIn("event 2", problem["detail"])
        self.assertEqual(self.ask("GET", "/v1/runs/a")[0], 404)
        self.assertEqual(self.send(self.event(1, "a"), self.event(2, "a"))[0], 202)
        self.assertEqual(self.run_of("a")["result"], "2")

    def test_what_no_route_takes_may_be_accepted(self):
        self.restart("--unrouted", "accept")
        headers = {}
        self.assertEqual(self.send(self.event(1), headers=headers)[0], 202)
        self.assertEqual({name.lower(): value for name, value in headers.items()}["sluice-unrouted"], "1")

    def test_routes_are_set_up_and_removed(self):
        self.route_pairs()
        self.assertEqual(self.ask("GET", "/v1/routes/pairs")[1]["filter"], {"exact": {"type": "item"}})
        self.assertEqual([route["route"] for route in self.ask("GET", "/v1/routes")[1]["routes"]], ["pairs"])
        self.put("/v1/namespaces/other", {})
        self.assertEqual(self.ask("GET", "/v1/routes?namespace=other")[1]["routes"], [])
        self.put("/v1/routes/pairs?namespace=other", {"filter": {}, "to": {"run": {"key": "subject"}}})
        self.assertEqual(self.ask("DELETE", "/v1/namespaces/other")[0], 409)
        status, problem = self.ask("PUT", "/v1/routes/bad", {"filter": {"sql": "x ="}, "to": {}})
        self.assertEqual(status, 400)
        self.assertIn("filter.sql", problem["detail"])
        self.assertEqual(self.ask("DELETE", "/v1/routes/pairs")[0], 200)
        self.assertEqual(self.ask("DELETE", "/v1/routes/pairs")[0], 404)
        self.assertEqual(self.send(self.event(1))[0], 404)

    def test_a_routed_event_that_was_acknowledged_survives_a_kill(self):
        self.route_pairs()
        for number in range(20):
            self.assertEqual(self.send(self.event(1, f"r{number}"))[0], 202)
            if number % 5 == 4:
                self.restart()
        for number in range(20):
            self.assertEqual(self.send(self.event(1, f"r{number}"))[0], 202)
            self.assertEqual(self.run_of(f"r{number}")["status"], "running")
            self.assertEqual(self.send(self.event(2, f"r{number}"))[0], 202)
            self.assertEqual(self.run_of(f"r{number}")["result"], "2")

    def test_each_event_starts_one_run_however_often_it_is_sent(self):
        self.define(PAIR)
        self.put("/v1/routes/new", {"filter": {}, "to": {"definition": "pair"}})
        for _ in range(3):
            self.assertEqual(self.send(self.event(1), self.event(2))[0], 202)
            self.restart()
        self.assertEqual(len(self.ask("GET", "/v1/runs")[1]["runs"]), 2)

    def test_object_stores_tell_of_objects(self):
        self.define(PAIR.replace(b"on: item", b"on: com.amazonaws.s3.*").replace(b"event.id", b"event.subject"))
        self.put("/v1/sources/pictures", {"kind": "s3"})
        self.put("/v1/routes/objects", {"filter": {"prefix": {"type": "com.amazonaws.s3."}},
                                        "to": {"run": {"key": "data.s3.bucket.name"}, "definition": "pair"}})
        self.assertEqual(self.ask("POST", "/hooks/s3/pictures", {"Event": "s3:TestEvent"})[0], 202)
        for _ in range(2):
            self.assertEqual(self.ask("POST", "/hooks/s3/pictures", NOTIFICATION)[0], 202)
        self.assertEqual(self.run_of("in")["status"], "running")
        second = json.loads(json.dumps(NOTIFICATION).replace("a+b", "c").replace('"1"', '"2"'))
        self.assertEqual(self.ask("POST", "/hooks/s3/pictures", second)[0], 202)
        self.assertEqual(self.run_of("in")["result"], "c.jpg")
        self.assertEqual(self.ask("POST", "/hooks/s3/pictures", {"Records": [{}]})[0], 400)
        self.assertEqual(self.ask("POST", "/hooks/s3/none", NOTIFICATION)[0], 404)
        self.assertEqual(self.ask("GET", "/v1/sources/pictures")[1]["state"]["events"], 3)

    def test_files_become_events_once_also_over_kills(self):
        self.define(PAIR.replace(b"on: item", b"on: file.written").replace(b"event.id", b"event.data.content"))
        self.assertEqual(self.ask("POST", "/v1/runs", {"id": "files", "definition": "pair"})[0], 201)
        self.put("/v1/sources/inbox", {"kind": "directory", "path": str(self.inbox), "content_max": 1000,
                                       "to": {"run": "files"}})
        (self.inbox / "one").write_text("first")
        self.until(lambda: self.ask("GET", "/v1/sources/inbox")[1]["state"]["events"] == 1)
        self.restart()
        self.until(lambda: self.ask("GET", "/v1/sources/inbox")[1]["state"]["events"] == 1)
        self.assertEqual(self.run_of("files")["status"], "running")
        self.kill()
        (self.inbox / ".two").write_text("second")
        os.rename(self.inbox / ".two", self.inbox / "two")
        self.start()
        self.assertEqual(self.result_of("files"), "second")

    def test_directories_outside_the_roots_are_refused(self):
        for path in (str(self.folder), str(self.inbox / ".."), "/etc"):
            status, problem = self.ask("PUT", "/v1/sources/x", {"kind": "directory", "path": path})
            self.assertEqual((status, problem["code"]), (403, "forbidden"))
            self.assertIn("watch_roots", problem["detail"])

    def test_schedules_run_once_for_each_time_also_over_kills(self):
        self.define(FIRED)
        self.put("/v1/schedules/tick", {"every": "1s", "start": {"definition": "fired"}, "missed": "run_all"})
        fired = lambda: {run["run"] for run in self.ask("GET", "/v1/runs?definition=fired&limit=1000")[1]["runs"]}
        for kills in range(1, 4):
            self.until(lambda: len(fired()) >= 2 * kills)
            self.restart()
        self.until(lambda: len(fired()) >= 8)
        self.assertEqual(self.ask("POST", "/v1/schedules/tick/pause")[1]["paused"], True)
        times = sorted(datetime.datetime.fromisoformat(run[len("tick-"):-1]) for run in fired())
        gaps = {(later - earlier).total_seconds() for earlier, later in zip(times, times[1:])}
        self.assertEqual(gaps, {1.0}, "every second once, and none left out")
        self.assertEqual(self.ask("GET", "/v1/schedules/tick")[1]["state"]["failed"], 0)

    def test_schedules_tell_when_and_are_triggered(self):
        self.define(FIRED)
        put = self.put("/v1/schedules/nightly", {"cron": "30 2 * * *", "zone": "Europe/Berlin", "start": {"definition": "fired"}})
        self.assertEqual(put["schedule"], "nightly")
        self.assertEqual(len(self.ask("GET", "/v1/schedules/nightly/next?count=3")[1]["next"]), 3)
        self.assertEqual(self.ask("GET", "/v1/schedules/nightly/next?count=0")[0], 400)
        status, triggered = self.ask("POST", "/v1/schedules/nightly/trigger")
        self.assertEqual(status, 200)
        self.assertEqual(self.run_of(triggered["run"])["definition"], "fired")
        status, problem = self.ask("PUT", "/v1/schedules/bad", {"cron": "* * *", "start": {"definition": "fired"}})
        self.assertEqual(status, 400)
        self.assertIn("3 fields", problem["detail"])
        self.assertEqual(self.ask("DELETE", "/v1/schedules/nightly")[0], 200)
        self.assertEqual(self.ask("GET", "/v1/schedules/nightly")[0], 404)

    def test_a_schedule_sends_events_through_routes(self):
        self.route_pairs()
        self.put("/v1/schedules/item", {"every": "1s", "send": {"type": "item", "subject": "made"}})
        self.until(lambda: self.run_of("made").get("status") == "succeeded")
        self.assertTrue(self.run_of("made")["result"].startswith("item-"))

    def test_a_runs_timers_are_listed(self):
        self.define(b"""
name: waits
triggers:
  - {id: start, on: sluice.run.started, action: {schedule: {timer: nap, after: 1h, type: awake}}}
""")
        self.assertEqual(self.ask("POST", "/v1/runs", {"id": "w", "definition": "waits"})[0], 201)
        timers = self.ask("GET", "/v1/runs/w/timers")[1]["timers"]
        self.assertEqual([(timer["name"], timer["clock"]) for timer in timers], [("nap", "steady")])
        self.assertEqual(self.ask("GET", "/v1/runs/none/timers")[0], 404)

    def test_it_stops_in_good_order(self):
        self.route_pairs()
        self.put("/v1/sources/inbox", {"kind": "directory", "path": str(self.inbox)})
        self.put("/v1/schedules/tick", {"every": "1s", "start": {"definition": "pair"}})
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(timeout=30), 0)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
