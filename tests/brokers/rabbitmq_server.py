"""RabbitMQ: a node of its own with classic, quorum and stream queues, and no management."""
import os
import secrets
import ssl
import struct

from broker import Broker, make_certificate

SCRIPT = "/usr/lib/rabbitmq/bin/rabbitmq-server"


class Epmd(Broker):
    """Erlang's list of nodes. Left to itself, the first node starts one as a daemon, for good and for the whole machine."""

    NAME = "epmd"
    PACKAGE = "erlang-base"
    PROGRAM = "epmd"

    def command(self):
        return ["epmd", "-port", self.port, "-address", self.host]

    @property
    def url(self):
        return f"epmd://{self.host}:{self.port}"

    def answers(self):
        with self.connect() as connection:
            connection.sendall(b"\0\x01n")
            return struct.unpack("!I", connection.recv(4))[0] == self.port


class RabbitMQ(Broker):
    NAME = "rabbitmq"
    PACKAGE = "rabbitmq-server"
    # The one in /usr/sbin would change to the package's user, its folders and its cookie.
    PROGRAM = SCRIPT
    PORT_COUNT = 3

    def __init__(self, *, tls=False, password="", settings=None, **common):
        super().__init__(**common)
        self.is_tls = tls
        self.user_name = "sluice" if password else "guest"
        self.password = password or "guest"
        self.settings = settings or {}
        self.certificate = None
        self.epmd = Epmd(namespace=self.namespace, is_quiet=True)
        self.companions = [self.epmd]

    def prepare(self):
        self.file(".erlang.cookie", secrets.token_hex(16))
        os.chmod(os.path.join(self.folder, ".erlang.cookie"), 0o400)
        self.file("enabled_plugins", "[rabbitmq_stream].\n")
        self.file("env.conf", "")
        kind = "ssl" if self.is_tls else "tcp"
        settings = {"listeners.tcp": "none", f"listeners.{kind}.1": f"{self.host}:{self.port}",
                    "stream.listeners.tcp": "none", f"stream.listeners.{kind}.1": f"{self.host}:{self.stream_port}",
                    "stream.advertised_host": self.host, "stream.advertised_port": self.stream_port,
                    "stream.advertised_tls_host": self.host, "stream.advertised_tls_port": self.stream_port,
                    "default_user": self.user_name, "default_pass": self.password, "loopback_users": "none",
                    "log.console": "true", "log.console.level": "info", "log.file": "false"}
        if self.is_tls:
            self.key, self.certificate = make_certificate(self)
            settings |= {"ssl_options.certfile": self.certificate, "ssl_options.keyfile": self.key,
                         "ssl_options.cacertfile": self.certificate}
        else:
            del settings["listeners.tcp"], settings["stream.listeners.tcp"]
        settings |= self.settings
        self.file("rabbitmq.conf", "".join(f"{name} = {value}\n" for name, value in settings.items()))

    def command(self):
        return [SCRIPT]

    def environment(self):
        inside = {"MNESIA_BASE": "mnesia", "LOG_BASE": "log", "CONFIG_FILE": "rabbitmq.conf", "PID_FILE": "pid",
                  "ENABLED_PLUGINS_FILE": "enabled_plugins", "CONF_ENV_FILE": "env.conf",
                  "GENERATED_CONFIG_DIR": "generated", "ADVANCED_CONFIG_FILE": "advanced.config"}
        return {**{f"RABBITMQ_{name}": os.path.join(self.folder, path) for name, path in inside.items()},
                "RABBITMQ_NODENAME": f"sluice-{self.port}@localhost", "RABBITMQ_DIST_PORT": str(self.ports[2]),
                "RABBITMQ_LOGS": "-",
                # The script then becomes the server rather than its parent, and signals reach it.
                "RUNNING_UNDER_SYSTEMD": "1",
                "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} -start_epmd false",
                "ERL_EPMD_PORT": str(self.epmd.port), "ERL_EPMD_ADDRESS": self.epmd.host}

    @property
    def stream_port(self):
        return self.ports[1]

    @property
    def addresses(self):
        return [self.address, (self.host, self.stream_port)]

    @property
    def url(self):
        """As Sluice reads it: the port of streams is not the usual one here."""
        scheme = "amqps" if self.is_tls else "amqp"
        return f"{scheme}://{self.user_name}:{self.password}@{self.host}:{self.port}/?stream_port={self.stream_port}"

    def connect(self, timeout=5, port=None):
        plain = super().connect(timeout, port)
        if not self.is_tls:
            return plain
        return ssl.create_default_context(cafile=self.certificate).wrap_socket(plain, server_hostname=self.host)

    def answers(self):
        """The first frame is a method on channel 0."""
        with self.connect() as connection:
            connection.sendall(b"AMQP\0\0\x09\x01")
            return connection.recv(3) == b"\x01\0\0"
