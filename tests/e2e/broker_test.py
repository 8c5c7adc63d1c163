#!/usr/bin/env python3
"""Brokers as sources and sinks, as their users set them up: a real server, real brokers, events that come in, and go out again.

usage: broker_test.py PROGRAM [BrokerTest.NAME…]

A broker that cannot be had is named with the reason, and its test skipped.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/brokers"))
sys.path.insert(0, str(ROOT / "tests/e2e"))

import amqp  # noqa: E402
from broker import Missing  # noqa: E402
from kafka_server import Kafka  # noqa: E402
from nats_server import Nats  # noqa: E402
from rabbitmq_server import RabbitMQ  # noqa: E402
from redis_server import Redis  # noqa: E402
from server import ServerTest  # noqa: E402

WAIT_MAX = 40
BROKEN = "{broken"
EMIT = '{emit: {type: done, data: "${event.id}", to: {sink: out-%s}}}'
INVOKE = '{invoke: {function: out-%s, input: {type: done, data: "${event.id}"}}}'
HEARD = """
name: heard
triggers:
  - {id: count, on: done, condition: {count: 1000}, action: finish}
"""


def event(number, **attributes):
    return json.dumps({"specversion": "1.0", "id": str(number), "source": "/test", "type": "item", **attributes})


class Way:
    """One way to use a broker: what is read, and what is written and read again."""

    dedupe = "none"  # By position a run needs no memory of ids: the position alone tells what was taken.
    action = EMIT
    partitions = 1
    is_kept = True  # Otherwise what comes while nobody listens is gone.

    def __init__(self, broker):
        self.broker = broker

    def prepare(self):
        """Makes what does not come into being by itself."""

    @property
    def definition(self):
        return f"""
name: {self.name}
dedupe: {self.dedupe}
triggers:
  - {{id: pass, on: item, lifetime: persistent, action: {self.action % self.name}}}
"""


class RedisPosition(Way):
    name = "streams"
    partitions = 2
    source = {"streams": ["orders-0", "orders-1"]}
    sink = {"streams": ["done"]}
    back = {"streams": ["done"]}

    def add(self, events):
        for number, text in events:
            self.broker.cli("XADD", f"orders-{number % 2}", "*", "event", text)


class RedisGroup(Way):
    name = "group"
    dedupe = "run"
    action = INVOKE
    source = {"streams": ["shared"], "reading": "group", "group": "billing"}
    sink = {"streams": ["shared-done"], "mode": "binary"}
    back = {"streams": ["shared-done"]}

    def add(self, events):
        for _, text in events:
            self.broker.cli("XADD", "shared", "*", "event", text)


class NatsStream(Way):
    name = "jetstream"
    source = {"stream": "ORDERS"}
    sink = {"subject": "done.orders"}
    back = {"stream": "DONE", "filter": "done.orders"}

    def prepare(self):
        for stream, subject in (("ORDERS", "orders.>"), ("DONE", "done.>")):
            self.broker.request(f"$JS.API.STREAM.CREATE.{stream}", {"name": stream, "subjects": [subject]})

    def add(self, events):
        for _, text in events:
            assert "seq" in self.broker.request("orders.new", text)


class NatsSubject(Way):
    name = "subject"
    dedupe = "run"
    action = INVOKE
    is_kept = False
    source = {"subject": "sensors.*"}
    sink = {"subject": "done.sensors", "core": True, "mode": "binary"}
    back = {"stream": "DONE", "filter": "done.sensors"}

    def add(self, events):
        self.broker.publish("sensors.hall", *(text for _, text in events))


class RabbitQueue(Way):
    name = "quorum"
    dedupe = "run"
    action = INVOKE
    source = {"queue": "quorum"}
    sink = {"routing_key": "quorum-done", "mode": "binary"}
    back = {"queue": "quorum-done"}

    def prepare(self):
        self.call(lambda channel: [channel.declare(queue, self.name) for queue in (self.name, f"{self.name}-done")])

    def add(self, events):
        self.call(lambda channel: [channel.publish(self.name, text.encode()) for _, text in events])

    def call(self, do):
        channel = amqp.Channel(self.broker)
        try:
            do(channel)
        finally:
            channel.close()


class RabbitStream(RabbitQueue):
    name = "stream"
    dedupe = "none"
    action = EMIT
    source = {"queue": "stream", "type": "stream"}
    sink = {"routing_key": "stream-done"}
    back = {"queue": "stream-done", "type": "stream"}


class KafkaTopic(Way):
    name = "topic"
    partitions = 2
    source = {"topics": ["orders"]}
    sink = {"topics": ["done"]}
    back = {"topics": ["done"]}

    def prepare(self):
        for form in (self.source, self.sink):
            self.broker.cli("-L", "-t", form["topics"][0])

    def add(self, events):
        for partition in range(2):
            texts = [text for number, text in events if number % self.partitions == partition]
            if texts:
                self.broker.cli("-P", "-t", self.source["topics"][0], "-p", str(partition), text="\n".join(texts))


class KafkaGroup(KafkaTopic):
    name = "consumers"
    dedupe = "run"
    action = INVOKE
    partitions = 1
    # Until its session ends, a member that was killed keeps its partitions.
    source = {"topics": ["shared"], "consume": "group", "group": "billing",
              "settings": {"session.timeout.ms": 2000, "heartbeat.interval.ms": 500}}
    sink = {"topics": ["shared-done"], "mode": "binary"}
    back = {"topics": ["shared-done"]}


class BrokerTest(ServerTest):
    def test_redis(self):
        redis = self.have(Redis)
        self.go_through(redis, [RedisPosition(redis), RedisGroup(redis)])

    def test_nats(self):
        nats = self.have(Nats)
        self.go_through(nats, [NatsStream(nats), NatsSubject(nats)])

    def test_rabbitmq(self):
        rabbitmq = self.have(RabbitMQ)
        self.go_through(rabbitmq, [RabbitQueue(rabbitmq), RabbitStream(rabbitmq)])
        self.send_to_a_queue_that_comes_late(rabbitmq)

    def test_kafka(self):
        if shutil.which("kcat") is None:
            self.skipTest("kafka: no kcat here; apt-get install kcat")
        kafka = self.have(Kafka, settings={"num.partitions": 2, "group.min.session.timeout.ms": 1000,
                                           "group.initial.rebalance.delay.ms": 0})
        self.go_through(kafka, [KafkaTopic(kafka), KafkaGroup(kafka)])

    def go_through(self, broker, ways):
        """Events come once and in order and go out again, whatever is no event, is killed or goes away meanwhile."""
        server = self.serve()
        self.deploy(server, HEARD)
        for way in ways:
            way.prepare()
            if way.is_kept:
                self.add(way, 1, 2)
            self.set_up(server, broker, way)
        self.expect(server, ways, 1, 2)

        for way in ways:
            way.add([(3, BROKEN)])
            self.add(way, 3, 4)
        self.expect(server, ways, 3, 4)
        aside = server.ask("GET", "/v1/quarantine")[1]["events"]
        self.assertEqual(len(aside), len(ways), aside)

        for way in ways:
            self.add(way, 5, 6)
        server.kill()
        for way in ways:
            self.add(way, 7, 8)
        server = self.serve()
        self.expect(server, ways, 5, 6, 7, 8)

        # A stream of RabbitMQ 3.10 that was just made may not outlive a kill.
        broker.stop() if isinstance(broker, RabbitMQ) else broker.kill()
        for way in ways:
            self.wait_until(lambda: self.trouble(server, way.name), lambda: f"{way.name}: its trouble")
        broker.start()
        for way in ways:
            self.wait_until(lambda: not self.trouble(server, way.name), lambda: f"{way.name}: the end of its trouble")
            self.add(way, 9, 10)
        self.expect(server, ways, 9, 10)
        self.assertEqual(server.stop(), 0)

    def set_up(self, server, broker, way):
        self.put(server, f"/v1/functions/out-{way.name}", {"kind": "broker", "url": broker.url, **way.sink})
        self.deploy(server, way.definition)
        for run, definition in ((way.name, way.name), (f"heard-{way.name}", "heard")):
            server.ask("POST", "/v1/runs", {"definition": definition, "id": run})
        for source, form, run in ((way.name, way.source, way.name), (f"back-{way.name}", way.back, f"heard-{way.name}")):
            self.put(server, f"/v1/sources/{source}", {"kind": "broker", "url": broker.url, **form, "to": {"run": run}})

    def expect(self, server, ways, *newest):
        """Everything up to the newest was taken once, and came back once."""
        wanted = list(range(1, newest[-1] + 1))
        for way in ways:
            if not way.is_kept:
                self.repeat_until_taken(server, way, newest)
            for take in (self.taken, self.heard):
                self.wait_until(lambda: len(take(server, way)) >= len(wanted),
                                lambda: f"{way.name}: {wanted} instead of {take(server, way)}, {self.trouble(server, way.name)}")
            found = self.taken(server, way)
            for partition in range(way.partitions):
                self.assertEqual([each for each in found if each % way.partitions == partition],
                                 [each for each in wanted if each % way.partitions == partition], way.name)
            self.assertEqual(sorted(self.heard(server, way)), wanted, way.name)

    def repeat_until_taken(self, server, way, numbers):
        """Nobody says when a subject is listened to; the same id is taken once."""
        for number in numbers:
            def is_taken(number=number):
                if number in self.taken(server, way):
                    return True
                self.add(way, number)
                return False
            self.wait_until(is_taken, lambda number=number: f"{way.name}: event {number}")

    def test_routes_start_runs_and_what_no_route_takes_is_set_aside(self):
        redis = self.have(Redis)
        server = self.serve()
        self.deploy(server, HEARD)
        self.put(server, "/v1/routes/items", {"filter": {"exact": {"type": "item"}},
                                              "to": {"run": {"key": "subject"}, "definition": "heard"}})
        self.put(server, "/v1/sources/shop", {"kind": "broker", "url": redis.url, "streams": ["orders"]})
        for text in (event(1, subject="a"), BROKEN, event(2, subject="b"), event(9, type="other"), event(3, subject="a")):
            redis.cli("XADD", "orders", "*", "event", text)

        def ids(run):
            return [each["json"]["id"] for each in self.events(server, run) if each["json"]["type"] == "item"]
        self.wait_until(lambda: server.ask("GET", "/v1/runs/a")[0] == 200 and ids("a") == ["1", "3"], lambda: "run a")
        self.assertEqual(ids("b"), ["2"])
        aside = server.ask("GET", "/v1/quarantine")[1]["events"]
        self.assertEqual(len(aside), 2, aside)
        self.assertIn("no route takes it", " ".join(each["reason"] for each in aside))

    def test_mistakes_are_told_when_it_is_set_up(self):
        server = self.serve()
        shared = [{"url": "ftp://x"}, {"url": "redis://h", "streams": []}, {"url": "kafka://h"}, {"url": "nats://h"}, {"url": "amqp://h"},
                  {"url": "redis://h", "streams": ["orders"], "colour": "red"}]
        for form in shared:
            for path in ("/v1/sources/shop", "/v1/functions/out"):
                status, answer = server.ask("PUT", path, {"kind": "broker", **form})
                self.assertEqual(status, 400, (path, form, answer))
        self.assertEqual(server.ask("PUT", "/v1/functions/out", {"kind": "broker"})[0], 422)
        self.assertEqual(server.ask("PUT", "/v1/sources/shop", {"kind": "broker", "url": 7})[0], 400)

    def test_what_a_bus_brings_is_measured(self):
        redis = self.have(Redis)
        command = [self.PROGRAM, "bench", "join", "--bus", f"{redis.url}/bench", "--events", "2000", "--repetitions", "2", "--pairs", "2", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        figures = json.loads(done.stdout)
        self.assertEqual(figures["events"], 2000)
        for figure in ("events_per_second", "noop_over_join", "ceiling_group_events_per_second", "ceiling_position_events_per_second",
                       "ceiling_bare_events_per_second"):
            self.assertGreater(figures[figure], 0, figure)
        self.assertEqual(redis.cli("DBSIZE"), "0")

    def test_a_measurement_that_is_interrupted_leaves_nothing_behind(self):
        redis = self.have(Redis)
        command = [self.PROGRAM, "bench", "join", "--bus", f"{redis.url}/bench", "--repetitions", "1000"]
        with subprocess.Popen(command, env={**os.environ, "TMPDIR": self.folder}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as bench:
            self.wait_until(lambda: redis.cli("DBSIZE") != "0", lambda: "nothing is put on the bus")
            bench.send_signal(signal.SIGINT)
            told = bench.communicate(timeout=WAIT_MAX)
        self.assertEqual((bench.returncode, *told), (130, "", "sluice bench: interrupted\n"))
        self.assertEqual(redis.cli("DBSIZE"), "0")
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("sluice-bench")], [])

    def test_passwords_are_shown_nowhere(self):
        server = self.serve()
        form = {"kind": "broker", "url": "redis://ann:hidden@127.0.0.1:1", "streams": ["orders"], "password": "hidden"}
        for path in ("/v1/sources/shop", "/v1/functions/out"):
            answers = [server.ask("PUT", path, {**form, "nonsense": 1}), server.ask("PUT", path, form), server.ask("GET", path),
                       server.ask("GET", path.rsplit("/", 1)[0])]
            self.assertEqual([status for status, _ in answers], [400, 200, 200, 200], answers)
            self.assertNotIn("hidden", json.dumps(answers))
            self.assertIn("ann:", json.dumps(answers))

    def test_passwords_may_be_secrets_of_the_namespace(self):
        redis = self.have(Redis, password="hidden")
        os.makedirs(os.path.join(self.folder, "secrets", "default"))
        self.file("secrets/default/redis", "hidden\n")
        self.file("secrets/root", "hidden")
        server = self.serve("--secrets", os.path.join(self.folder, "secrets"))
        form = {"kind": "broker", "url": f"redis://127.0.0.1:{redis.port}", "streams": ["done"], "password": "${secret:redis}"}
        self.put(server, "/v1/functions/out", form)
        self.deploy(server, HEARD)
        self.deploy(server, """
name: sends
triggers:
  - {id: send, on: sluice.run.started, action: {emit: {type: done, data: "1", to: {sink: out}}}}
""")
        server.ask("POST", "/v1/runs", {"definition": "heard", "id": "h"})
        self.put(server, "/v1/sources/back", {**form, "to": {"run": "h"}})
        server.ask("POST", "/v1/runs", {"definition": "sends", "id": "s"})
        self.wait_until(lambda: "done" in [each["json"]["type"] for each in self.events(server, "h")], lambda: "what was sent")
        status, answer = server.ask("PUT", "/v1/functions/out", {**form, "password": "${secret:root}"})
        self.assertEqual(status, 404, "the operator's secrets are not the namespace's")
        self.assertNotIn("hidden", json.dumps([answer, server.ask("GET", "/v1/functions/out"), server.ask("GET", "/v1/sources/back")]))

    def send_to_a_queue_that_comes_late(self, rabbitmq):
        """What no queue takes fails, and is tried again: the same event."""
        server = self.serve()
        self.put(server, "/v1/functions/out", {"kind": "broker", "url": rabbitmq.url, "routing_key": "late", "retry":
                                               {"attempts": 100, "interval": "100ms", "backoff": 1}})
        self.deploy(server, """
name: sends
triggers:
  - {id: send, on: sluice.run.started, action: {invoke: {function: out, input: {type: done, subject: "7"}}}}
  - {id: sent, on: sluice.task.succeeded, action: finish}
""")
        server.ask("POST", "/v1/runs", {"definition": "sends", "id": "s"})
        self.wait_until(lambda: server.ask("GET", "/v1/runs/s/state")[1]["tasks"][0]["attempt"] > 1, lambda: "a second attempt")
        channel = amqp.Channel(rabbitmq)
        self.addCleanup(channel.close)
        channel.declare("late", "classic")
        self.wait_until(lambda: server.ask("GET", "/v1/runs/s")[1]["status"] == "succeeded", lambda: "the end of the run")
        sent = json.loads(channel.consume("late", "classic", 1)[0])
        self.assertEqual({name: sent[name] for name in ("id", "source", "type", "subject")},
                         {"id": "s/1/0", "source": "/namespaces/default/runs/s", "type": "done", "subject": "7"})

    def test_the_how_to_page_is_true(self):
        redis = self.have(Redis)
        server = self.serve()
        page = (ROOT / "docs/how-to/use-brokers.md").read_text()
        commands = "".join(re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
        for old, new in (("localhost:8080", f"127.0.0.1:{server.port}"), ("redis://localhost:6379", redis.url), ("-p 6379", f"-p {redis.port}")):
            commands = commands.replace(old, new)
        done = subprocess.run(["bash", "-e", "-c", commands], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"type":"order.shipped"', done.stdout)
        self.assertIn('"subject":"order-7"', done.stdout)
        self.wait_until(lambda: server.ask("GET", "/v1/runs/order-7")[1]["status"] == "succeeded", lambda: "the end of the run")

    def have(self, kind, **options):
        try:
            broker = kind(is_quiet=True, **options)
        except Missing as why:
            self.skipTest(str(why))
        broker.__enter__()
        self.addCleanup(broker.__exit__, None, None, None)
        return broker

    def deploy(self, server, definition):
        status, answer = server.ask("POST", "/v1/definitions", definition.encode(), headers={"Content-Type": "application/yaml"})
        self.assertIn(status, (200, 201), answer)

    def put(self, server, path, form):
        status, answer = server.ask("PUT", path, form)
        self.assertIn(status, (200, 201, 204), answer)

    def add(self, way, *numbers):
        way.add([(number, event(number)) for number in numbers])

    def wait_until(self, is_so, what):
        until = time.monotonic() + WAIT_MAX
        while not is_so():
            if time.monotonic() > until:
                self.fail(f"{what()} did not come to be")
            threading.Event().wait(0.02)

    def events(self, server, run):
        return server.ask("GET", f"/v1/runs/{run}/events?limit=1000")[1]["events"]

    def taken(self, server, way):
        """The numbers of the events that a run took, in order."""
        return [int(each["json"]["id"]) for each in self.events(server, way.name)
                if each["json"]["type"] == "item" and each["fate"] != "duplicate"]

    def heard(self, server, way):
        """The numbers that came back."""
        return [int(each["json"]["data"]) for each in self.events(server, f"heard-{way.name}")
                if each["json"]["type"] == "done" and each["fate"] != "duplicate"]

    def trouble(self, server, source):
        return server.ask("GET", f"/v1/sources/{source}")[1]["state"]["error"]


def run_beside_each_other(program):
    """Every test in a process of its own: most of their time brokers start."""
    def run(name):
        done = subprocess.run([sys.executable, __file__, program, f"BrokerTest.{name}"], stderr=subprocess.PIPE, text=True, check=False)
        print(done.stderr, file=sys.stderr, end="", flush=True)
        return done.returncode
    names = unittest.defaultTestLoader.getTestCaseNames(BrokerTest)
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        return int(any(list(threads.map(run, names))))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if len(sys.argv) == 2:
        sys.exit(run_beside_each_other(sys.argv[1]))
    ServerTest.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
