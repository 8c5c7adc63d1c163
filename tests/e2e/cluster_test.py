#!/usr/bin/env python3
"""Several processes on one store and one bus: work is shared, moves when a process dies, and nothing is lost or done twice.

usage: cluster_test.py PROGRAM [--cycles N]

Needs redis-server, which is store and bus here; says so and skips where it is not installed. `--cycles` for more kills than usual.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/brokers"))
sys.path.insert(0, str(ROOT / "tests/e2e"))

from redis_server import Redis  # noqa: E402
from server import Server, ServerTest  # noqa: E402

LEASE = 2
WAIT_MAX = 60
CYCLES = 2

JOIN = b"""
name: join
triggers:
  - {id: all, on: item, condition: {count: 40}, action: {finish: {result: "${event.id}"}}}
"""
TASKS = b"""
name: tasks
tasks:
  first: {call: echo, input: {x: 1}}
  each: {after: first, map: {over: "${[1, 2, 3, 4, 5, 6, 7, 8]}", call: echo, input: {item: "${item}"}}}
"""
PARENT = b"""
name: parent
tasks:
  child: {subworkflow: tasks, id: "child-${run.id}"}
"""


RESIZE = b"""
name: resize
tasks:
  work: {call: resize, input: {run: "${run.id}"}}
result: "${tasks.work.result}"
"""
GREET = b"""
name: greet
tasks:
  call: {call: hello}
  own:
    after: call
    script: echo '"script"'
result: ["${tasks.call.result}", "${tasks.own.result}"]
"""


class ClusterTest(ServerTest):
    def setUp(self):
        super().setUp()
        if shutil.which("redis-server") is None:
            self.skipTest("redis-server is not installed")
        self.redis = Redis()
        self.redis.__enter__()
        self.addCleanup(self.redis.__exit__, None, None, None)
        self.count = 0

    def process(self, part, *arguments):
        self.count += 1
        made = Server(self.PROGRAM, os.path.join(self.folder, f"{part}-{self.count}"), "--store", f"{self.redis.url}/store",
                      "--bus", f"{self.redis.url}/bus", "--lease", f"{LEASE}s", "--log-level", "info", *arguments, part=part)
        self.addCleanup(made.kill)
        return made

    def wait_until(self, is_so, what):
        until = time.monotonic() + WAIT_MAX
        while not is_so():
            self.assertLess(time.monotonic(), until, f"{what} did not come to be")
            threading.Event().wait(0.02)

    def deploy(self, server, *definitions):
        for definition in definitions:
            status, answer = server.ask("POST", "/v1/definitions", definition, headers={"Content-Type": "application/yaml"})
            self.assertIn(status, (200, 201), answer)

    def insist(self, server, method, path, body, headers=None):
        """Whatever is asked, until somebody takes it: all of it may be repeated."""
        until = time.monotonic() + WAIT_MAX
        while True:
            try:
                status, answer = server.ask(method, path, body, headers=headers)
                if status < 500:
                    self.assertLess(status, 300, answer)
                    return status, answer
            except OSError as error:
                status, answer = 0, error
            self.assertLess(time.monotonic(), until, f"{method} {path}: {status} {answer}")
            threading.Event().wait(0.05)

    def run_of(self, server, run):
        return server.ask("GET", f"/v1/runs/{run}")[1]

    def wait_ended(self, server, run):
        self.wait_until(lambda: self.run_of(server, run).get("status") not in ("running", "queued"), f"the end of {run}")
        return self.run_of(server, run)

    def send(self, server, run, numbers):
        events = [{"specversion": "1.0", "id": str(number), "source": "/test", "type": "item", "run": run} for number in numbers]
        return self.insist(server, "POST", "/events", events, {"Content-Type": "application/cloudevents-batch+json"})

    def test_runs_are_shared_by_workers(self):
        first = self.process("worker")
        first.wait_for("owned=64")
        second = self.process("worker")
        gateway = self.process("gateway")
        second.wait_for("owned=32")
        self.deploy(gateway, TASKS, PARENT, JOIN)
        for number in range(12):
            self.insist(gateway, "POST", "/v1/runs", {"definition": "parent", "id": f"p{number}"})
        for number in range(12):
            ended = self.wait_ended(gateway, f"p{number}")
            self.assertEqual(ended["status"], "succeeded", ended)
        # Whoever is asked answers, also of what is decided elsewhere.
        self.assertEqual(len(first.ask("GET", "/v1/runs?definition=parent")[1]["runs"]), 12)
        self.assertEqual(self.run_of(second, "p3")["status"], "succeeded")
        self.assertEqual(first.stop(), 0)
        self.insist(gateway, "POST", "/v1/runs", {"definition": "tasks", "id": "last"})
        self.assertEqual(self.wait_ended(gateway, "last")["status"], "succeeded")

    def test_what_is_no_event_is_set_aside(self):
        worker = self.process("worker")
        worker.wait_for("owned=64")
        self.deploy(worker, JOIN)
        self.insist(worker, "POST", "/v1/runs", {"definition": "join", "id": "j"})
        self.send(worker, "j", range(1))
        stream = self.redis.cli("--scan", "--pattern", "bus:*").split()
        used = next(name for name in stream if self.redis.cli("TYPE", name).strip() == "stream"
                    and int(self.redis.cli("XLEN", name).strip() or 0) > 0)
        self.redis.cli("XADD", used, "*", "event", "{this is no JSON")
        self.redis.cli("XADD", used, "*", "event",
                       '{"specversion":"1.0","id":"f","source":"/x","type":"sluice.message","data_base64":"AAAA"}')
        self.send(worker, "j", range(1, 40))
        self.assertEqual(self.wait_ended(worker, "j")["status"], "succeeded")
        aside = worker.ask("GET", "/v1/quarantine")[1]["events"]
        self.assertEqual(len(aside), 2, aside)
        self.assertTrue(all(each["reason"] for each in aside), aside)

    def test_what_is_set_up_at_one_process_holds_at_all(self):
        """And processes that begin at once on an empty store agree on its secret."""
        processes = {}

        def begin(name, part):
            processes[name] = self.process(part, "--allow-process")
        begins = [threading.Thread(target=begin, args=each) for each in (("one", "worker"), ("two", "worker"), ("gate", "gateway"))]
        for each in begins:
            each.start()
        for each in begins:
            each.join()
        workers, gateway = [processes["one"], processes["two"]], processes["gate"]
        for worker in workers:
            self.wait_until(lambda: b"\nsluice_cluster_shards_owned 32\n" in worker.ask("GET", "/metrics")[1], "its share")
        self.insist(gateway, "PUT", "/v1/functions/hello", {"command": ["echo", '"hello"']})
        self.insist(gateway, "PUT", "/v1/namespaces/team", {})
        self.insist(gateway, "PUT", "/v1/routes/orders", {
            "filter": {"exact": {"type": "order"}}, "to": {"run": {"key": "subject", "prefix": "o-"}, "definition": "greet"}})
        self.insist(gateway, "PUT", "/v1/schedules/often", {"every": "1s", "start": {"definition": "greet"}})
        for worker in workers:
            self.wait_until(lambda: worker.ask("GET", "/v1/functions/hello")[0] == 200, "the function at a worker")
            self.wait_until(lambda: "team" in str(worker.ask("GET", "/v1/namespaces")[1]), "the namespace at a worker")
        self.deploy(workers[0], GREET)
        # Runs on shards of both, started by both.
        for number in range(16):
            order = {"specversion": "1.0", "id": "1", "source": "/test", "type": "order", "subject": str(number)}
            self.insist(workers[number % 2], "POST", "/events", order, {"Content-Type": "application/cloudevents+json"})
        for number in range(16):
            ended = self.wait_ended(gateway, f"o-{number}")
            self.assertEqual((ended["status"], ended["result"]), ("succeeded", ["hello", "script"]), ended)
        self.wait_until(lambda: any(each["run"].startswith("often") for each in
                                    gateway.ask("GET", "/v1/runs?definition=greet&limit=100")[1]["runs"]), "a scheduled run")
        self.insist(workers[1], "DELETE", "/v1/routes/orders", None)
        self.wait_until(lambda: gateway.ask("GET", "/v1/routes/orders")[0] == 404, "the route's end at the gateway")

    def under_load(self, disturb):
        """Joins are fed through a gateway while something happens to the workers."""
        workers = [self.process("worker")]
        workers[0].wait_for("owned=64")
        workers.append(self.process("worker"))
        gateway = self.process("gateway")
        self.deploy(gateway, JOIN, TASKS)
        runs = [f"j{number}" for number in range(16)]
        for run in runs:
            self.insist(gateway, "POST", "/v1/runs", {"definition": "join", "id": run})

        def feed():
            for begin in range(0, 40, 4):
                for run in runs:
                    self.send(gateway, run, range(begin, begin + 4))
                self.insist(gateway, "POST", "/v1/runs", {"definition": "tasks", "id": f"t{begin}"})

        feeder = threading.Thread(target=feed)
        feeder.start()
        disturb(workers)
        feeder.join(WAIT_MAX)
        self.assertFalse(feeder.is_alive(), "the feeder is stuck")
        for run in runs:
            ended = self.wait_ended(gateway, run)
            self.assertEqual((ended["status"], ended["result"]), ("succeeded", "39"), ended)
        for begin in range(0, 40, 4):
            self.assertEqual(self.wait_ended(gateway, f"t{begin}")["status"], "succeeded")
        for run in runs:
            status, report = gateway.ask("GET", f"/v1/runs/{run}/replay")
            self.assertEqual((status, report.get("same"), report.get("events")), (200, True, 41), report)

    def poll(self, server, wait="10s", most=5):
        status, answer = self.insist(server, "POST", f"/v1/functions/resize/poll?most={most}&wait={wait}", {})
        return answer["tasks"] if status == 200 else []

    def complete(self, server, task):
        self.insist(server, "POST", f"/v1/tasks/{task['token']}/complete", {"result": task["input"]["run"]})

    def heartbeat(self, server, task):
        return server.ask("POST", f"/v1/tasks/{task['token']}/heartbeat", {"lease": task["lease"]})[0]

    def test_workers_of_ones_own_ask_any_process(self):
        first = self.process("worker")
        first.wait_for("owned=64")
        second = self.process("worker")
        gateway = self.process("gateway")
        second.wait_for("owned=32")
        status, answer = gateway.ask("PUT", "/v1/functions/resize", {"kind": "poll", "heartbeat": "30s",
                                                                      "retry": {"attempts": 3, "interval": "10ms"}})
        self.assertEqual(status, 200, answer)
        self.deploy(gateway, RESIZE)
        runs = {f"w{number}" for number in range(16)}
        for server in (first, second):  # What was set up at the gateway is known there within a second.
            self.wait_until(lambda: server.ask("GET", "/v1/functions/resize")[0] == 200, "the function")
        for run in runs:
            self.insist(gateway, "POST", "/v1/runs", {"definition": "resize", "id": run})
        tasks = {}
        while len(tasks) < len(runs):
            for task in self.poll(gateway):
                self.assertNotIn(task["input"]["run"], tasks)
                tasks[task["input"]["run"]] = task
        self.assertEqual(self.poll(second, wait="0s"), [])
        # Heartbeats and answers reach whoever made the call, and what fails is tried again as it says.
        for task in tasks.values():
            self.assertEqual(self.heartbeat(gateway, task), 204)
            self.insist(gateway, "POST", f"/v1/tasks/{task['token']}/fail", {"kind": "flaky", "message": "not this time"})
            self.assertEqual(self.heartbeat(gateway, task), 409)
        again = {}
        while len(again) < len(runs):
            for task in self.poll(first):
                self.assertEqual(task["attempt"], 2)
                again[task["input"]["run"]] = task
        # A task outlives the process that offered it: its worker is heard of where the task is now.
        second.kill()
        for task in again.values():
            self.wait_until(lambda: self.heartbeat(gateway, task) == 204, f"a heartbeat of {task['input']['run']}")
            self.complete(gateway, task)
        for run in runs:
            ended = self.wait_ended(gateway, run)
            self.assertEqual((ended["status"], ended["result"]), ("succeeded", run), ended)

    def test_a_task_is_handed_to_who_waits_at_another_process(self):
        first = self.process("worker")
        first.wait_for("owned=64")
        gateway = self.process("gateway")
        self.assertEqual(gateway.ask("PUT", "/v1/functions/resize", {"kind": "poll"})[0], 200)
        self.deploy(gateway, RESIZE)
        self.wait_until(lambda: first.ask("GET", "/v1/functions/resize")[0] == 200, "the function")
        taken = []
        waiting = threading.Thread(target=lambda: taken.extend(self.poll(gateway, wait="60s")))
        waiting.start()
        began = time.monotonic()
        self.insist(gateway, "POST", "/v1/runs", {"definition": "resize", "id": "w"})
        waiting.join(WAIT_MAX)
        self.assertEqual([task["input"]["run"] for task in taken], ["w"])
        self.assertLess(time.monotonic() - began, 5)
        self.complete(gateway, taken[0])
        self.assertEqual(self.wait_ended(gateway, "w")["status"], "succeeded")

    def test_a_brokers_source_is_read_on_when_its_reader_is_killed(self):
        workers = [self.process("worker")]
        workers[0].wait_for("owned=64")
        workers.append(self.process("worker"))
        gateway = self.process("gateway")
        workers[1].wait_for("owned=32")
        self.deploy(gateway, JOIN)
        self.insist(gateway, "PUT", "/v1/routes/items", {
            "filter": {"exact": {"type": "item"}}, "to": {"run": {"key": "subject"}, "definition": "join"}})
        self.insist(gateway, "PUT", "/v1/sources/shop", {"kind": "broker", "url": self.redis.url, "streams": ["items"]})
        runs = [f"s{number}" for number in range(16)]

        def add(numbers):
            events = [json.dumps({"specversion": "1.0", "id": str(number), "source": "/shop", "type": "item", "subject": run})
                      for number in numbers for run in runs]
            commands = "".join(f"XADD items * event '{event}'\n" for event in events)
            self.redis.cli(text=commands)

        def events_in(run):
            return len(gateway.ask("GET", f"/v1/runs/{run}/events?limit=100")[1].get("events", []))

        for cycle in range(2):
            add(range(cycle * 10, cycle * 10 + 10))
            self.wait_until(lambda: events_in(runs[cycle]) > cycle * 10, "the first of them")
            # Whichever reads it, the other goes on from where the shards are.
            workers.pop(0).kill()
            add(range(20 + cycle * 10, 30 + cycle * 10))
            workers[0].wait_for("owned=64")
            workers.append(self.process("worker"))
            workers[-1].wait_for("owned=32")
        for run in runs:
            self.assertEqual(self.wait_ended(gateway, run)["status"], "succeeded")
            status, report = gateway.ask("GET", f"/v1/runs/{run}/replay")
            self.assertEqual((status, report.get("same"), report.get("events")), (200, True, 41), report)
        self.assertEqual(gateway.ask("GET", "/v1/quarantine")[1]["events"], [])
        for worker in workers:  # Also the one that reads goes soon, and so does the last.
            began = time.monotonic()
            self.assertEqual(worker.stop(), 0)
            self.assertLess(time.monotonic() - began, 10)

    def test_a_killed_workers_shards_move(self):
        def disturb(workers):
            for _ in range(CYCLES):
                victim = workers.pop(random.randrange(len(workers)))
                victim.kill()
                began = time.monotonic()
                workers[0].wait_for("owned=64")
                self.assertLess(time.monotonic() - began, 10)
                workers.append(self.process("worker"))
                workers[-1].wait_for("owned=32")

        self.under_load(disturb)

    def test_a_paused_worker_changes_nothing_when_it_comes_back(self):
        def disturb(workers):
            paused, other = workers
            paused.signal(signal.SIGSTOP)
            other.wait_for("owned=64")
            paused.signal(signal.SIGCONT)
            # By its lease, or by a commit that was refused.
            self.wait_until(lambda: any("given up" in line or "another process's" in line for line in paused.lines if line),
                            "that it notices")

        self.under_load(disturb)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ServerTest.PROGRAM = os.path.abspath(sys.argv.pop(1))
    if "--cycles" in sys.argv:
        at = sys.argv.index("--cycles")
        CYCLES = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main(verbosity=2)
