#!/usr/bin/env python3
"""Kills the server while clients send to it, and looks for everything it has answered with 202.

usage: serve_crash_test.py PROGRAM [CYCLES]
"""
import http.client
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

PROGRAM = ""
CYCLES = 6
CLIENTS = 8
RUNS = 4

DEFINITION = b"""
name: tally
context: {seen: 0}
triggers:
  - {id: each, on: item, lifetime: persistent, action: {set: {run: {seen: "${run.context.seen + 1}"}}}}
  - {id: end, on: end, action: {finish: {result: "${run.context.seen}"}}}
"""


class Server:
    def __init__(self, folder):
        self.process = subprocess.Popen([PROGRAM, "serve", "--data", folder, "--listen", "127.0.0.1:0"],
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)", line).group(1))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(self, method, path, body, content_type="application/json"):
        connection = self.connect()
        connection.request(method, path, body, {"Content-Type": content_type})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text else None


def event(run, number, kind="item"):
    return {"specversion": "1.0", "id": str(number), "source": "/client", "type": kind, "run": f"r{run}"}


class Client(threading.Thread):
    """Sends until the server is gone, one event or several at a time, and notes what was answered."""

    def __init__(self, server, numbers, seed):
        super().__init__()
        self.server = server
        self.numbers = numbers
        self.random = random.Random(seed)
        self.taken = []
        self.unknown = []

    def run(self):
        connection = self.server.connect()
        while True:
            batch = [event(self.random.randrange(RUNS), next(self.numbers)) for _ in range(self.random.choice([1, 1, 5]))]
            try:
                connection.request("POST", "/events", json.dumps(batch),
                                   {"Content-Type": "application/cloudevents-batch+json"})
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                self.unknown += batch
                connection.close()
                return
            (self.taken if answer.status == 202 else self.unknown).extend(batch)


class Numbers:
    def __init__(self):
        self.next = 0
        self.lock = threading.Lock()

    def __next__(self):
        with self.lock:
            self.next += 1
            return self.next


class ServeCrashTest(unittest.TestCase):
    def test_what_was_answered_is_there_after_a_kill(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(folder)
            self.assertEqual(server.ask("POST", "/v1/definitions", DEFINITION)[0], 201)
            for run in range(RUNS):
                self.assertEqual(server.ask("POST", "/v1/runs", json.dumps({"id": f"r{run}", "definition": "tally"}))[0], 201)
            numbers, taken, unknown = Numbers(), [], []
            for cycle in range(CYCLES):
                clients = [Client(server, numbers, cycle * CLIENTS + at) for at in range(CLIENTS)]
                for client in clients:
                    client.start()
                target = numbers.next + random.Random(cycle).randrange(100, 1500)
                while numbers.next < target:
                    pass
                server.kill()
                for client in clients:
                    client.join()
                    taken += client.taken
                    unknown += client.unknown
                server = Server(folder)
                self.check(server, taken, unknown)
            self.finish(server, taken, unknown)
            server.kill()
            print(f"{CYCLES} kills, {len(taken)} events answered with 202, all there; {len(unknown)} unanswered")

    def seen(self, server, run):
        return server.ask("GET", f"/v1/runs/r{run}/context", None)[1]["run"]["seen"]

    def check(self, server, taken, unknown):
        for run in range(RUNS):
            answered = sum(each["run"] == f"r{run}" for each in taken)
            unanswered = sum(each["run"] == f"r{run}" for each in unknown)
            seen = self.seen(server, run)
            self.assertGreaterEqual(seen, answered, "an event that was answered with 202 is lost")
            self.assertLessEqual(seen, answered + unanswered, "an event fired twice")

    def finish(self, server, taken, unknown):
        """What nobody answered is sent again, and some that was answered: each counts once."""
        again = unknown + taken[-500:]
        for at in range(0, len(again), 100):
            status, _ = server.ask("POST", "/events", json.dumps(again[at:at + 100]),
                                   "application/cloudevents-batch+json")
            self.assertEqual(status, 202)
        for run in range(RUNS):
            server.ask("POST", "/events", json.dumps(event(run, 0, "end")), "application/cloudevents+json")
            _, answer = server.ask("GET", f"/v1/runs/r{run}", None)
            self.assertEqual(answer["result"], sum(each["run"] == f"r{run}" for each in taken + unknown))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv[1]
    CYCLES = int(sys.argv[2]) if len(sys.argv) > 2 else CYCLES
    sys.argv = sys.argv[:1]
    unittest.main()
