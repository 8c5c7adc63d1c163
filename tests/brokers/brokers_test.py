#!/usr/bin/env python3
"""Starts every server that can be had, writes and reads, restarts, kills, and looks whether anything is left.

usage: brokers_test.py [-v] [NAME…]    (unittest's arguments)
"""
import base64
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import kafka_download
from amqp import Channel, NotYet
from brokers import Kafka, Missing, Nats, OldKafka, Postgres, RabbitMQ, Redis, RedisCluster, any_kafka
from namespace import Namespace
from processes import children
from proxy import Proxy


def processes_of(folder):
    """Those that run in this folder or name it, whatever their parent."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if folder in (entry / "cmdline").read_text("utf-8", "replace") or os.readlink(entry / "cwd") == folder:
                found.append(int(entry.name))
        except OSError:
            pass
    return found


class BrokerTest(unittest.TestCase):
    def make(self, kind, **options):
        try:
            return kind(**options)
        except Missing as reason:
            self.skipTest(str(reason))

    def run_through(self, broker, write, read):
        """write(broker, text) and read(broker), which gives all that was written."""
        with broker:
            folder, ports = broker.folder, broker.ports
            write(broker, "one")
            self.assertEqual(read(broker), ["one"])
            broker.restart()
            self.assertEqual(read(broker), ["one"])
            write(broker, "two")
            broker.kill()
            with self.assertRaises(OSError):
                broker.connect().close()
            self.assertEqual(processes_of(folder), [])
            broker.start()
            self.assertEqual(read(broker), ["one", "two"])
            self.check_pause(broker)
            self.assertEqual(broker.ports, ports)
        self.assertEqual(processes_of(folder), [])
        self.assertFalse(os.path.exists(folder))
        for companion in broker.companions:
            self.assertFalse(companion.is_running())

    def check_pause(self, broker):
        broker.pause()
        stalled = threading.Thread(target=broker.is_answering)
        stalled.start()
        stalled.join(0.2)
        self.assertTrue(stalled.is_alive())
        broker.resume()
        stalled.join()
        self.assertTrue(broker.is_answering())


def redis_write(broker, text):
    broker.cli("XADD", "stream", "*", "text", text)


def redis_read(broker):
    return broker.cli("--raw", "XRANGE", "stream", "-", "+").splitlines()[2::3]


class RedisTest(BrokerTest):
    def test_keeps_a_stream(self):
        self.run_through(self.make(Redis), redis_write, redis_read)

    def test_asks_for_a_password_over_tls(self):
        broker = self.make(Redis, tls=True, password="secret")
        self.run_through(broker, redis_write, redis_read)


class RedisClusterTest(BrokerTest):
    def test_keeps_a_stream_over_the_loss_of_one_and_of_all(self):
        broker = self.make(RedisCluster)

        def write(broker, text):
            broker.cli("-c", "XADD", "stream", "*", "text", text)

        def read(broker):
            return broker.cli("-c", "--raw", "XRANGE", "stream", "-", "+").splitlines()[2::3]

        with broker:
            folders = [node.folder for node in broker.nodes]
            write(broker, "one")
            for number in range(3):
                broker.kill_node(number)
                self.assertEqual(processes_of(folders[number]), [])
                broker.start()
                self.assertEqual(read(broker), ["one"])
            write(broker, "two")
            broker.kill()
            self.assertEqual([processes_of(folder) for folder in folders], [[], [], []])
            broker.start()
            self.assertEqual(read(broker), ["one", "two"])
        for folder in folders:
            self.assertEqual(processes_of(folder), [])
            self.assertFalse(os.path.exists(folder))


def nats_write(broker, text):
    answer = broker.request("events.one", text)
    if "error" in answer and "seq" not in answer:
        raise AssertionError(answer)


def nats_read(broker):
    count = broker.request("$JS.API.STREAM.INFO.EVENTS")["state"]["last_seq"]
    found = [broker.request("$JS.API.STREAM.MSG.GET.EVENTS", {"seq": place + 1}) for place in range(count)]
    return [base64.b64decode(one["message"]["data"]).decode() for one in found]


class NatsTest(BrokerTest):
    def run_stream(self, **options):
        broker = self.make(Nats, **options)

        def write(broker, text):
            if text == "one":
                broker.request("$JS.API.STREAM.CREATE.EVENTS", {"name": "EVENTS", "subjects": ["events.>"]})
            nats_write(broker, text)

        self.run_through(broker, write, nats_read)

    def test_keeps_a_stream(self):
        self.run_stream()

    def test_asks_for_a_password_over_tls(self):
        self.run_stream(tls=True, password="secret")


class PostgresTest(BrokerTest):
    def run_table(self, **options):
        broker = self.make(Postgres, **options)

        def write(broker, text):
            broker.cli("create table if not exists kept (place serial, content text)")
            broker.cli(f"insert into kept (content) values ('{text}')")

        self.run_through(broker, write, lambda broker: broker.cli("select content from kept order by 1").splitlines())

    def test_keeps_a_table(self):
        self.run_table()

    def test_asks_for_a_password_over_tls(self):
        self.run_table(tls=True, password="secret")


class RabbitMQTest(BrokerTest):
    KINDS = "classic", "quorum", "stream"

    def write(self, broker, text):
        channel = Channel(broker)
        for kind in self.KINDS:
            channel.declare(kind, kind)
            channel.publish(kind, text.encode())
        channel.close()

    def read(self, broker, kind, count):
        found = []

        def is_read():
            channel = Channel(broker)
            try:
                found.extend(body.decode() for body in channel.consume(kind, kind, count))
            except NotYet:
                return False
            finally:
                channel.close()
            return True

        wait_until(is_read)
        return found

    def test_keeps_queues_of_all_kinds(self):
        broker = self.make(RabbitMQ)
        with broker:
            folder, epmd = broker.folder, broker.epmd.port
            self.write(broker, "one")
            broker.restart()
            for kind in self.KINDS:
                self.assertEqual(self.read(broker, kind, 1), ["one"])
            self.write(broker, "two")
            broker.kill()
            broker.start()
            # What was consumed is gone from a queue, and stays in a stream.
            for kind in ("classic", "quorum"):
                self.assertEqual(self.read(broker, kind, 1), ["two"])
            self.assertEqual(self.read(broker, "stream", 2), ["one", "two"])
            self.check_pause(broker)
        self.assertEqual(processes_of(folder), [])
        self.assertFalse(os.path.exists(folder))
        with self.assertRaises(OSError):
            socket.create_connection(("127.0.0.1", epmd)).close()

    def test_asks_for_a_password_over_tls(self):
        with self.make(RabbitMQ, tls=True, password="secret") as broker:
            self.write(broker, "one")
            self.assertEqual(self.read(broker, "quorum", 1), ["one"])


def kafka_write(broker, text):
    broker.cli("-P", "-t", "events", text=text)


def kafka_read(broker):
    return broker.cli("-C", "-t", "events", "-o", "beginning", "-e", "-q").splitlines()


class KafkaTest(BrokerTest):
    def test_keeps_a_topic(self):
        self.run_through(self.make(Kafka), kafka_write, kafka_read)

    def test_asks_for_a_password_over_tls(self):
        with self.make(Kafka, tls=True, password="secret") as broker:
            kafka_write(broker, "one")
            self.assertEqual(kafka_read(broker), ["one"])

    def test_is_reached_through_a_proxy(self):
        with Proxy() as proxy, self.make(Kafka, advertise=proxy.address) as broker:
            proxy.target = broker.address
            kafka_write(broker, "one")
            self.assertEqual(kafka_read(broker), ["one"])
            self.assertGreater(proxy.passed_bytes, 0)

    def test_says_why_none_can_be_had(self):
        refusal = kafka_download.Unreachable("the wire is cut")
        with tempfile.TemporaryDirectory() as empty, \
                unittest.mock.patch.dict(os.environ, SLUICE_BROKERS_CACHE=empty), \
                unittest.mock.patch.object(kafka_download, "run", side_effect=refusal):
            with self.assertRaisesRegex(Missing, r"kafka 4\S+: the wire is cut; kafka 0\S+: the wire is cut|no java"):
                any_kafka()
            self.assertEqual(os.listdir(empty), ["lock"])

    def test_has_an_old_one_to_fall_back_on(self):
        self.run_through(self.make(OldKafka), kafka_write, kafka_read)


def ping(connection):
    connection.sendall(b"PING\r\n")
    return connection.recv(100)


class NetworkTest(BrokerTest):
    def test_proxy_stalls_cuts_and_heals(self):
        with self.make(Redis) as broker, Proxy(broker.address) as proxy:
            with socket.create_connection(proxy.address, timeout=0.2) as connection:
                self.assertEqual(ping(connection), b"+PONG\r\n")
                proxy.stall()
                self.assertRaises(TimeoutError, ping, connection)
                connection.settimeout(5)
                proxy.heal()
                self.assertEqual(connection.recv(100), b"+PONG\r\n")
                proxy.cut()
                self.assertRaises(ConnectionResetError, connection.recv, 100)
            self.assertRaises(ConnectionRefusedError, socket.create_connection, proxy.address)
            proxy.heal()
            with socket.create_connection(proxy.address, timeout=5) as connection:
                self.assertEqual(ping(connection), b"+PONG\r\n")

    def test_proxy_resets_while_the_server_is_away(self):
        with self.make(Redis) as broker, Proxy(broker.address) as proxy:
            broker.kill()
            # The reset may come as early as in the connecting.
            with self.assertRaises(ConnectionResetError):
                with socket.create_connection(proxy.address, timeout=5) as connection:
                    connection.recv(100)

    def test_namespace_loses_packets_and_keeps_connections(self):
        with self.make(Namespace) as namespace:
            path = f"/sys/class/net/{namespace.cable}"
            with self.make(Redis, namespace=namespace) as broker, broker.connect(timeout=0.2) as connection:
                self.assertEqual(ping(connection), b"+PONG\r\n")
                namespace.cut()
                self.assertRaises(TimeoutError, ping, connection)
                connection.settimeout(10)
                namespace.heal()
                self.assertEqual(connection.recv(100), b"+PONG\r\n")
        wait_until(lambda: not os.path.exists(path))

    def test_namespace_holds_every_server(self):
        with self.make(Namespace) as namespace:
            for kind in (Nats, Postgres, RabbitMQ):
                with self.subTest(kind.NAME), self.make(kind, namespace=namespace) as broker:
                    self.assertTrue(broker.is_answering())


def wait_until(is_true):
    end = time.monotonic() + 20
    while not is_true():
        if time.monotonic() > end:
            raise AssertionError("it did not come about")
        time.sleep(0.02)


class AbandonedTest(BrokerTest):
    """The process that started a server is gone."""

    def check(self, number, name="postgres"):
        command = [sys.executable, str(pathlib.Path(__file__).parent / "brokers.py"), name]
        with tempfile.TemporaryDirectory(prefix="abandoned-") as place:
            owner = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                     env={**os.environ, "TMPDIR": place})
            os.chmod(place, 0o755)
            if not owner.stdout.readline():
                told = owner.communicate()[1]
                self.skipTest(told.strip())
            self.assertTrue(os.listdir(place))
            keepers = children(owner.pid)
            owner.send_signal(number)
            owner.communicate()
            wait_until(lambda: not os.listdir(place))
            wait_until(lambda: not any(os.path.exists(f"/proc/{keeper}") for keeper in keepers))
            self.assertEqual([pid for pid in processes_of(place) if pid != os.getpid()], [])
            return owner.returncode

    def test_killed(self):
        self.assertEqual(self.check(signal.SIGKILL), -signal.SIGKILL)

    def test_killed_with_companions(self):
        self.assertEqual(self.check(signal.SIGKILL, "rabbitmq"), -signal.SIGKILL)

    def test_interrupted(self):
        self.assertEqual(self.check(signal.SIGINT), 0)

    def test_keeper_killed(self):
        with self.make(Redis) as broker:
            broker.keeper.kill()
            wait_until(lambda: not os.path.exists(f"/proc/{broker.pid}"))

    def test_started_by_a_thread_that_ended(self):
        broker = self.make(Redis)
        thread = threading.Thread(target=broker.start)
        thread.start()
        thread.join()
        self.assertTrue(broker.is_answering())
        broker.close()

    def test_fails_to_start(self):
        broker = self.make(Redis, arguments=("--no-such-setting", "1"))
        with self.assertRaisesRegex(Exception, "no-such-setting"):
            broker.start()
        broker.close()


if __name__ == "__main__":
    unittest.main()
