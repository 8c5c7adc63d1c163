"""Redis 7, every write on disk before it is answered."""
import shutil
import ssl
import subprocess

from broker import Broker, make_certificate


class Redis(Broker):
    NAME = "redis"
    PACKAGE = "redis-server"
    PROGRAM = "redis-server"

    def __init__(self, *, appendfsync="always", tls=False, password="", arguments=(), **common):
        super().__init__(**common)
        self.appendfsync = appendfsync
        self.is_tls = tls
        self.password = password
        self.arguments = arguments
        self.certificate = None

    def prepare(self):
        if self.is_tls:
            self.key, self.certificate = make_certificate(self)

    def command(self):
        words = ["redis-server", "--bind", self.host, "--protected-mode", "no", "--dir", self.folder, "--save", "",
                 "--appendonly", "yes", "--appendfsync", self.appendfsync]
        if self.is_tls:
            words += ["--port", "0", "--tls-port", self.port, "--tls-cert-file", self.certificate,
                      "--tls-key-file", self.key, "--tls-auth-clients", "no"]
        else:
            words += ["--port", self.port]
        if self.password:
            words += ["--requirepass", self.password]
        return [*words, *self.arguments]

    @property
    def url(self):
        who = f":{self.password}@" if self.password else ""
        return f"{'rediss' if self.is_tls else 'redis'}://{who}{self.host}:{self.port}"

    def connect(self, timeout=5, port=None):
        plain = super().connect(timeout, port)
        if not self.is_tls:
            return plain
        return ssl.create_default_context(cafile=self.certificate).wrap_socket(plain, server_hostname=self.host)

    def answers(self):
        """Also false while it reads its file: it then answers LOADING."""
        with self.connect() as connection:
            if self.password:
                connection.sendall(f"AUTH {self.password}\r\n".encode())
                if connection.recv(100) != b"+OK\r\n":
                    return False
            connection.sendall(b"PING\r\n")
            return connection.recv(100) == b"+PONG\r\n"

    def cli(self, *words, text=None):
        """What redis-cli prints for this command, or for those in the text, a line each."""
        options = ["-h", self.host, "-p", str(self.port)]
        options += ["--no-auth-warning", "-a", self.password] if self.password else []
        options += ["--tls", "--cacert", self.certificate] if self.is_tls else []
        return subprocess.run([shutil.which("redis-cli"), *options, *words], input=text, capture_output=True,
                              text=True, timeout=30, check=True).stdout.strip()
