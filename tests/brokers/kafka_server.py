"""Kafka: a current broker in KRaft mode, or else an old one with ZooKeeper."""
import os
import shutil
import struct
import subprocess
import time

import kafka_download
from broker import TIMEOUT, Broker, Broken, Missing, make_certificate

METADATA = 3


class JavaServer(Broker):
    NAME = "kafka"
    PACKAGE = "default-jre-headless maven"
    PROGRAM = "java"
    VERSION = ""
    MAIN = ""

    def __init__(self, *, jvm=("-Xmx512m", "-XX:+UseSerialGC"), **common):
        super().__init__(**common)
        self.jvm = jvm
        try:
            self.jars = kafka_download.jars(self.VERSION, self.tell)
        except kafka_download.Unreachable as error:
            self.close()
            raise Missing(f"{self.NAME} {self.VERSION}: {error}") from None

    def properties(self, settings):
        self.file("server.properties", "".join(f"{name}={value}\n" for name, value in settings.items()))

    def java(self, *words):
        return ["java", *self.jvm, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                f"-Dlog4j.configuration=file:{self.folder}/log4j.properties", "-cp", f"{self.jars}/*", *words]

    def command(self):
        return self.java(self.MAIN, os.path.join(self.folder, "server.properties"))

    def has_brokers(self, port):
        """Whether it names brokers, itself one of them, when asked for them (Metadata, version 0)."""
        with self.connect(port=port) as connection:
            request = struct.pack("!hhih4si", METADATA, 0, 1, 4, b"test", 0)
            connection.sendall(struct.pack("!i", len(request)) + request)
            answer = connection.recv(12)
            return len(answer) == 12 and struct.unpack("!iii", answer)[2] > 0


class Kafka(JavaServer):
    """The current version. `advertise` is the address that clients are sent to, a proxy's for instance."""

    VERSION = kafka_download.CURRENT
    MAIN = "kafka.Kafka"
    PORT_COUNT = 3
    CLIENT_SETTINGS = {}

    def __init__(self, *, tls=False, password="", settings=None, advertise=None, **common):
        super().__init__(**common)
        self.is_tls = tls
        self.password = password
        self.settings = settings or {}
        self.advertise = advertise or self.address
        self.certificate = None

    def prepare(self):
        client, controller, internal = (f"{self.host}:{port}" for port in self.ports)
        protocol = ("SASL_" if self.password else "") + ("SSL" if self.is_tls else "PLAINTEXT")
        settings = {
            "process.roles": "broker,controller", "node.id": 1, "controller.quorum.voters": f"1@{controller}",
            "listeners": f"CLIENT://{client},CONTROLLER://{controller},INTERNAL://{internal}",
            "advertised.listeners": f"CLIENT://{self.advertise[0]}:{self.advertise[1]},INTERNAL://{internal}",
            "controller.listener.names": "CONTROLLER", "inter.broker.listener.name": "INTERNAL",
            "listener.security.protocol.map": f"CLIENT:{protocol},CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT",
            "log.dirs": f"{self.folder}/data",
            "offsets.topic.replication.factor": 1, "offsets.topic.num.partitions": 4,
            "transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 4, "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1, "group.initial.rebalance.delay.ms": 0,
            # After a SIGKILL it may come back only when its old session has ended: 9 s as it comes.
            "broker.session.timeout.ms": 2000, "broker.heartbeat.interval.ms": 500}
        if self.is_tls:
            settings |= self.tls_settings()
        if self.password:
            settings |= {"sasl.enabled.mechanisms": "PLAIN", "listener.name.client.plain.sasl.jaas.config":
                         "org.apache.kafka.common.security.plain.PlainLoginModule required "
                         f'user_sluice="{self.password}";'}
        self.properties(settings | self.settings)
        # Any 16 bytes in URL-safe base64 without padding.
        done = subprocess.run(self.java("kafka.tools.StorageTool", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c",
                                        os.path.join(self.folder, "server.properties")),
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            raise Broken(f"{self.NAME}: formatting its folder failed: {(done.stdout + done.stderr)[-1000:]}")

    def tls_settings(self):
        key, self.certificate = make_certificate(self)
        with open(key, encoding="ascii") as first, open(self.certificate, encoding="ascii") as second:
            pair = self.file("server.pem", first.read() + second.read())
        return {"listener.name.client.ssl.keystore.type": "PEM", "listener.name.client.ssl.keystore.location": pair}

    @property
    def url(self):
        return f"kafka://{self.advertise[0]}:{self.advertise[1]}"

    @property
    def client_settings(self):
        """What librdkafka has to be told."""
        found = dict(self.CLIENT_SETTINGS)
        if self.is_tls or self.password:
            found["security.protocol"] = ("sasl_" if self.password else "") + ("ssl" if self.is_tls else "plaintext")
        if self.is_tls:
            found["ssl.ca.location"] = self.certificate
        if self.password:
            found |= {"sasl.mechanism": "PLAIN", "sasl.username": "sluice", "sasl.password": self.password}
        return found

    def answers(self):
        return self.has_brokers(self.ports[2])

    def cli(self, *words, text=""):
        """What kcat prints, another program on librdkafka (Debian's package kcat)."""
        if not shutil.which("kcat"):
            raise Missing("kafka: no kcat here; apt-get install kcat")
        options = [word for name, value in self.client_settings.items() for word in ("-X", f"{name}={value}")]
        return subprocess.run(["kcat", "-b", f"{self.advertise[0]}:{self.advertise[1]}", *options, *words], input=text,
                              capture_output=True, text=True, timeout=30, check=True).stdout.strip()


class ZooKeeper(JavaServer):
    NAME = "zookeeper"
    VERSION = kafka_download.OLD
    MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"

    def prepare(self):
        self.file("log4j.properties", LOG4J)
        self.properties({"dataDir": f"{self.folder}/data", "clientPort": self.port, "clientPortAddress": self.host,
                         # The shortest session is two ticks.
                         "tickTime": 500})

    @property
    def url(self):
        return f"zookeeper://{self.host}:{self.port}"

    def answers(self):
        return self.ask("ruok") == "imok"

    def ask(self, word):
        with self.connect() as connection:
            connection.sendall(word.encode())
            return connection.makefile(encoding="ascii").read()


class OldKafka(Kafka):
    """0.9: groups and replication, but no headers, timestamps, idempotent producers or transactions."""

    VERSION = kafka_download.OLD
    PORT_COUNT = 1
    CLIENT_SETTINGS = {"api.version.request": "false", "broker.version.fallback": "0.9.0.1"}

    def __init__(self, **common):
        super().__init__(**common)
        if self.is_tls or self.password:
            self.close()
            raise Missing(f"kafka {self.VERSION}: no TLS or passwords here")
        self.zookeeper = ZooKeeper(namespace=self.namespace, is_quiet=True)
        self.companions = [self.zookeeper]

    def prepare(self):
        self.file("log4j.properties", LOG4J)
        self.properties({
            "broker.id": 1, "listeners": f"PLAINTEXT://{self.host}:{self.port}",
            "advertised.host.name": self.advertise[0], "advertised.port": self.advertise[1],
            "log.dirs": f"{self.folder}/data", "zookeeper.connect": f"{self.host}:{self.zookeeper.port}",
            "zookeeper.session.timeout.ms": 2000, "offsets.topic.num.partitions": 4,
            "offsets.topic.replication.factor": 1, "group.max.session.timeout.ms": 300000} | self.settings)

    def launch(self):
        """After a SIGKILL its old session has to end first, or it refuses to come back."""
        end = time.monotonic() + TIMEOUT
        while "/brokers/ids/1" in self.zookeeper.ask("dump"):
            if time.monotonic() > end:
                raise Broken("kafka: ZooKeeper keeps the session of the broker that was killed")
            time.sleep(0.05)
        super().launch()

    def answers(self):
        return self.has_brokers(self.port)


LOG4J = """log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %c %m%n
"""


def any_kafka(**options):
    """The current one where it can be had, else the old one; says why."""
    try:
        return Kafka(**options)
    except Missing as first:
        if not shutil.which("java"):
            raise
        try:
            found = OldKafka(**options)
        except Missing as second:
            raise Missing(f"{first}; {second}") from None
        found.tell(f"{first}; taking {found.VERSION} instead")
        return found
