"""NATS with JetStream, its streams in a folder."""
import json
import ssl

from broker import Broker, make_certificate


class Nats(Broker):
    NAME = "nats"
    PACKAGE = "nats-server"
    PROGRAM = "nats-server"

    def __init__(self, *, tls=False, password="", arguments=(), **common):
        super().__init__(**common)
        self.is_tls = tls
        self.password = password
        self.arguments = arguments
        self.certificate = None

    def prepare(self):
        if self.is_tls:
            self.key, self.certificate = make_certificate(self)

    def command(self):
        words = ["nats-server", "-a", self.host, "-p", self.port, "-js", "-sd", self.folder]
        if self.is_tls:
            words += ["--tls", "--tlscert", self.certificate, "--tlskey", self.key]
        if self.password:
            words += ["--user", "sluice", "--pass", self.password]
        return [*words, *self.arguments]

    @property
    def url(self):
        who = f"sluice:{self.password}@" if self.password else ""
        return f"{'tls' if self.is_tls else 'nats'}://{who}{self.host}:{self.port}"

    def answers(self):
        return "error" not in self.request("$JS.API.INFO")

    def request(self, subject, content=""):
        """The answer to a request, of JetStream's API for instance, by a connection of its own."""
        body = content if isinstance(content, str) else json.dumps(content)
        connection = self.log_in()
        try:
            connection.sendall(f"SUB answer 1\r\nPUB {subject} answer {len(body.encode())}\r\n{body}\r\n".encode())
            while not (line := read_line(connection)).startswith(b"MSG "):
                # HMSG: nobody listens there, JetStream not yet.
                if line.startswith((b"-ERR", b"HMSG")):
                    raise ConnectionError(line.decode())
            return json.loads(read(connection, int(line.split()[-1])))
        finally:
            connection.close()

    def publish(self, subject, *bodies):
        """To whoever listens; returns when the server has them."""
        connection = self.log_in()
        try:
            for body in bodies:
                connection.sendall(f"PUB {subject} {len(body.encode())}\r\n{body}\r\n".encode())
            connection.sendall(b"PING\r\n")
            while (line := read_line(connection)) != b"PONG":
                if line.startswith(b"-ERR"):
                    raise ConnectionError(line.decode())
        finally:
            connection.close()

    def log_in(self):
        connection = self.connect()
        try:
            greeting = read_line(connection)
            if not greeting.startswith(b"INFO "):
                raise ConnectionError(f"no greeting but {greeting!r}")
            if self.is_tls:
                context = ssl.create_default_context(cafile=self.certificate)
                connection = context.wrap_socket(connection, server_hostname=self.host)
            who = {"user": "sluice", "pass": self.password} if self.password else {}
            options = json.dumps({"verbose": False, "headers": True, "no_responders": True, **who})
            connection.sendall(f"CONNECT {options}\r\n".encode())
            return connection
        except BaseException:
            connection.close()
            raise


def read(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError("closed")
        data += part
    return data


def read_line(connection):
    # Byte by byte: nothing that follows may be taken, TLS begins right behind the greeting.
    line = b""
    while not line.endswith(b"\r\n"):
        line += read(connection, 1)
    return line.rstrip()
