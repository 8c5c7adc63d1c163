#!/usr/bin/env python3
"""Metrics, traces, backup and restore of a real server.

usage: operations_test.py PROGRAM
"""
import http.server
import json
import os
import sys
import threading

from server import ServerTest, TIMEOUT, unittest

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
DEFINITION = b"""
name: traced
context: {seen: 0}
triggers:
  - {id: each, on: item, lifetime: persistent, action: {set: {run: {seen: "${run.context.seen + 1}"}}}}
  - {id: call, on: go, action: {invoke: {function: echo, input: "${data}"}}}
  - {id: pass, on: sluice.task.succeeded, action: {emit: passed}}
  - {id: end, on: passed, action: {finish: {result: "${run.context.seen}"}}}
"""


class Collector:
    """Takes OTLP over HTTP and keeps the spans."""

    def __init__(self):
        self.spans = {}
        self.heard = threading.Condition()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with collector.heard:
                    for resource in body["resourceSpans"]:
                        for scope in resource["scopeSpans"]:
                            collector.spans.update((span["name"], span) for span in scope["spans"])
                    collector.heard.notify_all()
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait_for(self, *names):
        with self.heard:
            if not self.heard.wait_for(lambda: set(names) <= set(self.spans), TIMEOUT):
                raise AssertionError(f"heard only of {sorted(self.spans)}")
            return [self.spans[name] for name in names]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class OperationsTest(ServerTest):
    def begin(self, server, run="r"):
        self.assertEqual(server.ask("POST", "/v1/definitions", DEFINITION)[0], 201)
        self.assertEqual(server.ask("POST", "/v1/runs", {"id": run, "definition": "traced"})[0], 201)

    def send(self, server, kind, number, **more):
        event = {"specversion": "1.0", "id": str(number), "source": "/t", "type": kind, "run": "r", **more}
        self.assertEqual(server.ask("POST", "/events", event, headers={"Content-Type": "application/cloudevents+json"})[0], 202)

    def test_a_trace_goes_through_calls_answers_and_emitted_events(self):
        collector = Collector()
        self.addCleanup(collector.close)
        server = self.serve("--traces", f"http://127.0.0.1:{collector.server.server_port}/v1/traces")
        self.begin(server)

        self.send(server, "go", 1, traceparent=f"00-{TRACE}-{PARENT}-01", data=7)

        event, call, answer, emitted = collector.wait_for("go", "echo", "sluice.task.succeeded", "passed")
        self.assertEqual({each["traceId"] for each in (event, call, answer, emitted)}, {TRACE})
        self.assertEqual(event["parentSpanId"], PARENT)
        self.assertEqual(answer["parentSpanId"], call["spanId"], "the answer comes from the call")
        self.assertEqual(emitted["parentSpanId"], answer["spanId"], "the answer let it be emitted")
        self.assertLessEqual(int(call["startTimeUnixNano"]), int(call["endTimeUnixNano"]))

    def test_a_collector_that_is_gone_slows_nothing(self):
        server = self.serve("--traces", "http://127.0.0.1:1/v1/traces")
        self.begin(server)
        for number in range(50):
            self.send(server, "item", number, traceparent=f"00-{TRACE}-{PARENT}-01")
        self.assertEqual(server.ask("GET", "/v1/runs/r/context")[1]["run"]["seen"], 50)
        server.wait_for("the trace collector took nothing")

    def test_metrics_tell_what_happened(self):
        server = self.serve()
        self.begin(server)
        self.send(server, "item", 1)
        text = server.ask("GET", "/metrics")[1].decode()
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        self.assertEqual(values["sluice_events_total"], "2")
        self.assertGreaterEqual(int(values["sluice_commit_seconds_count"]), 2)
        self.assertEqual(values['sluice_commit_seconds_bucket{le="+Inf"}'], values["sluice_commit_seconds_count"])
        self.assertGreaterEqual(int(values["sluice_http_request_seconds_count"]), 3)
        self.send(server, "go", 2, data=1)
        self.assertEqual(server.ask("GET", "/v1/runs/r/end?wait=30s")[1]["result"], 1)
        text = server.ask("GET", "/metrics")[1].decode()
        self.assertIn('sluice_function_seconds_count{function="echo"} 1\n', text)
        self.assertIn('sluice_function_failures_total{function="echo"} 0\n', text)
        families = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
        self.assertEqual(len(families), len(set(families)), "each family once")

    def test_a_backup_has_all_that_was_answered_before_it_began(self):
        server = self.serve()
        self.begin(server)
        for number in range(20):
            self.send(server, "item", number)
        stopped = threading.Event()

        def keep_sending():
            number = 1000
            while not stopped.is_set():
                self.send(server, "item", number)
                number += 1

        sender = threading.Thread(target=keep_sending)
        sender.start()
        backup = os.path.join(self.folder, "backup")
        done = self.run_program("backup", backup, "--server", f"http://127.0.0.1:{server.port}")
        stopped.set()
        sender.join()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(server.ask("GET", "/v1/backups")[1]["backups"], [])
        server.kill()

        restored = os.path.join(self.folder, "restored")
        done = self.run_program("restore", backup, "--data", restored)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.data = restored
        again = self.serve()
        self.assertGreaterEqual(again.ask("GET", "/v1/runs/r/context")[1]["run"]["seen"], 20)
        self.assertTrue(again.ask("GET", "/v1/runs/r/replay")[1]["same"])

    def test_what_is_no_whole_backup_is_not_restored(self):
        server = self.serve()
        self.begin(server)
        backup = os.path.join(self.folder, "backup")
        self.assertEqual(self.run_program("backup", backup, "--server", f"http://127.0.0.1:{server.port}").returncode, 0)
        log = next(os.path.join(backup, name) for name in os.listdir(backup) if name.endswith(".log"))
        os.truncate(log, os.path.getsize(log) - 1)
        done = self.run_program("restore", backup, "--data", os.path.join(self.folder, "restored"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("not as long as backup.json says", done.stderr)
        os.remove(os.path.join(backup, "backup.json"))
        done = self.run_program("restore", backup, "--data", os.path.join(self.folder, "restored"))
        self.assertIn("no whole backup", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "restored")))

    def test_a_file_outside_of_a_backup_is_not_read(self):
        server = self.serve()
        made = server.ask("POST", "/v1/backups")[1]
        for path in (f"{made['backup']}/files/..%2F..%2FCURRENT", "..%2F/files/CURRENT", f"{made['backup']}/files/.hidden"):
            self.assertEqual(server.ask("GET", "/v1/backups/" + path)[0], 404, path)
        self.assertEqual(server.ask("DELETE", f"/v1/backups/{made['backup']}")[0], 200)
        self.assertEqual(server.ask("DELETE", f"/v1/backups/{made['backup']}")[0], 404)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ServerTest.PROGRAM = sys.argv.pop(1)
    unittest.main()
