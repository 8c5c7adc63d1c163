"""PostgreSQL, a cluster of its own."""
import glob
import os
import signal
import struct
import subprocess

from broker import Broker, Broken, Missing, make_certificate

PROTOCOL_3 = 196608


class Postgres(Broker):
    NAME = "postgres"
    PACKAGE = "postgresql-15"
    # Fast shutdown: SIGTERM would wait for the clients to leave.
    STOP_SIGNAL = signal.SIGINT
    REFUSES_ROOT = True

    def __init__(self, *, tls=False, password="", settings=None, **common):
        super().__init__(**common)
        self.is_tls = tls
        self.password = password
        self.settings = settings or {}
        self.certificate = None

    @classmethod
    def require(cls):
        if not programs():
            raise Missing(f"{cls.NAME}: no /usr/lib/postgresql/*/bin/initdb here; apt-get install {cls.PACKAGE}")

    def prepare(self):
        secret = self.file("password", self.password)
        how = ["-A", "scram-sha-256", "--pwfile", secret] if self.password else ["-A", "trust"]
        self.run("initdb", "-D", self.data, "-U", "sluice", "-E", "UTF8", "--locale=C", "--no-sync", *how)
        if self.namespace:
            # As it comes, it lets nobody in from another host.
            with open(os.path.join(self.data, "pg_hba.conf"), "a", encoding="ascii") as file:
                file.write(f"host all all {self.namespace.outside}/32 {how[1]}\n")
        if self.is_tls:
            self.key, self.certificate = make_certificate(self)

    @property
    def data(self):
        return os.path.join(self.folder, "data")

    def command(self):
        # No Unix socket: its path could be too long for a socket, and tests go by TCP.
        settings = {"unix_socket_directories": "", **self.settings}
        if self.is_tls:
            settings |= {"ssl": "on", "ssl_cert_file": self.certificate, "ssl_key_file": self.key}
        words = [os.path.join(programs(), "postgres"), "-D", self.data, "-h", self.host, "-p", self.port]
        for name, value in settings.items():
            words += ["-c", f"{name}={value}"]
        return words

    @property
    def url(self):
        who = f"sluice:{self.password}" if self.password else "sluice"
        return f"postgresql://{who}@{self.host}:{self.port}/postgres" + ("?sslmode=require" if self.is_tls else "")

    def answers(self):
        """It asks who we are; until it can serve, it refuses with an error instead."""
        words = b"user\0sluice\0database\0postgres\0\0"
        with self.connect() as connection:
            connection.sendall(struct.pack("!II", len(words) + 8, PROTOCOL_3) + words)
            return connection.recv(1) == b"R"

    def run(self, program, *words):
        """A program of the package, as the user of the server."""
        identity = {"user": self.user[0], "group": self.user[1], "extra_groups": []} if self.user else {}
        done = subprocess.run([os.path.join(programs(), program), *words], cwd=self.folder, capture_output=True,
                              text=True, timeout=60, check=False, env={**os.environ, "HOME": self.folder}, **identity)
        if done.returncode != 0:
            raise Broken(f"{self.NAME}: {program} failed: {done.stderr.strip()}")
        return done.stdout.strip()

    def cli(self, statement):
        """What psql prints for this statement."""
        return self.run("psql", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement, self.url)


def programs():
    """The folder of the newest version's programs."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    return os.path.dirname(found[-1]) if found else None
