"""What all servers of the tests have in common: a folder, ports, a beginning and an end."""
import json
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from processes import signal_tree

TIMEOUT = 60
KEEPER = pathlib.Path(__file__).parent / "keeper.py"
# Below what the kernel gives to outgoing connections: one of those could take a server's port while it is down.
PORTS = range(20000, 32000)


class Missing(Exception):
    """The server cannot be had on this machine; says why and what would help."""


class Broken(Exception):
    """The server does not do what it should; says what it told last."""


class Broker:
    """A real server for one test. `start` and `stop` keep its data and its ports, `close` gives up both."""

    NAME = ""
    PACKAGE = ""
    PROGRAM = ""
    PORT_COUNT = 1
    STOP_SIGNAL = signal.SIGTERM
    REFUSES_ROOT = False

    def __init__(self, *, namespace=None, is_quiet=False):
        self.require()
        self.namespace = namespace
        self.is_quiet = is_quiet
        self.host = namespace.address if namespace else "127.0.0.1"
        self.claims = [claim_port(self.host) for _ in range(self.PORT_COUNT)]
        self.ports = [port for port, _ in self.claims]
        self.folder = None
        self.keeper = None
        self.pid = None
        self.is_paused = False
        self.companions = []

    # What each server says of itself.

    @classmethod
    def require(cls):
        """Raises Missing with the reason."""
        if not shutil.which(cls.PROGRAM, path=search_path()):
            raise Missing(f"{cls.NAME}: no {cls.PROGRAM} here; apt-get install {cls.PACKAGE}")

    def prepare(self):
        """Makes what has to be in the folder before the first start."""

    def command(self):
        raise NotImplementedError

    def environment(self):
        return {}

    def answers(self):
        """Whether it serves, asked by its own protocol; OSError counts as no."""
        raise NotImplementedError

    @property
    def url(self):
        raise NotImplementedError

    # What they share.

    @property
    def port(self):
        return self.ports[0]

    @property
    def address(self):
        return self.host, self.port

    @property
    def addresses(self):
        """All that its clients connect to."""
        return [self.address]

    @property
    def user(self):
        """Who runs it, as user and group; none: who runs the test."""
        if not self.REFUSES_ROOT or os.getuid() != 0:
            return None
        names = {entry.pw_name: entry for entry in pwd.getpwall()}
        entry = names.get(self.NAME) or names["nobody"]
        return entry.pw_uid, entry.pw_gid

    def start(self):
        began = time.monotonic()
        try:
            for companion in self.companions:
                if not companion.is_running():
                    companion.start()
            if not self.folder:
                self.make_folder()
            self.launch()
            self.wait_until_ready(began)
        except BaseException:
            self.kill()
            raise
        self.tell(f"ready after {time.monotonic() - began:.2f} s at {self.url}")
        return self

    def make_folder(self):
        self.folder = tempfile.mkdtemp(prefix=f"sluice-{self.NAME}-")
        self.tell("preparing " + self.folder)
        try:
            if self.user:
                os.chown(self.folder, *self.user)
            self.prepare()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None
            raise

    def launch(self):
        order = {"command": [str(word) for word in self.command()], "folder": self.folder, "log": self.log_path(),
                 "environment": {**os.environ, "PATH": search_path(), "HOME": self.folder, **self.environment()},
                 "user": self.user, "network": self.namespace.path if self.namespace else None}
        self.keeper = subprocess.Popen([sys.executable, "-S", "-E", KEEPER], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, start_new_session=True, text=True)
        self.keeper.stdin.write(json.dumps(order) + "\n")
        self.keeper.stdin.flush()
        line = self.keeper.stdout.readline()
        if not line:
            raise Broken(f"{self.NAME}: could not be run: {' '.join(order['command'])}")
        self.pid = int(line)

    def wait_until_ready(self, began):
        while not self.is_answering():
            if self.keeper.poll() is not None:
                raise Broken(f"{self.NAME}: ended while it started\n{self.logs()}")
            if time.monotonic() - began > TIMEOUT:
                raise Broken(f"{self.NAME}: does not answer within {TIMEOUT} s\n{self.logs()}")
            time.sleep(0.02)

    def is_answering(self):
        try:
            return self.answers()
        except OSError:
            return False

    def is_running(self):
        return self.keeper is not None and self.keeper.poll() is None

    def stop(self):
        """As an operator would; what it holds is kept."""
        if not self.is_running():
            self.let_go()
            return
        self.resume()
        try:
            os.kill(self.pid, self.STOP_SIGNAL)
            self.keeper.wait(TIMEOUT)
        except ProcessLookupError:
            pass
        except subprocess.TimeoutExpired:
            raise Broken(f"{self.NAME}: did not stop within {TIMEOUT} s\n{self.logs()}") from None
        finally:
            self.let_go()
        self.tell("stopped")

    def kill(self):
        """SIGKILL for all of its processes; what it has written is kept."""
        if self.keeper:
            self.let_go()
            self.tell("killed")

    def let_go(self):
        if not self.keeper:
            return
        if self.is_running():
            signal_tree(self.pid, signal.SIGKILL)
            self.keeper.wait()
        self.keeper.stdin.close()
        self.keeper.stdout.close()
        self.keeper = None
        self.is_paused = False

    def restart(self):
        self.stop()
        return self.start()

    def pause(self):
        signal_tree(self.pid, signal.SIGSTOP)
        self.is_paused = True

    def resume(self):
        if self.is_paused:
            signal_tree(self.pid, signal.SIGCONT)
            self.is_paused = False

    def close(self):
        """Stops it and leaves nothing behind."""
        try:
            self.stop()
        finally:
            for companion in self.companions:
                companion.close()
            if self.folder:
                shutil.rmtree(self.folder, ignore_errors=True)
                self.folder = None
            for _, claim in self.claims:
                claim.close()

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, kind, error, trace):
        if kind and issubclass(kind, Exception):
            self.tell("the test failed; what the server told last:\n" + self.logs())
        self.close()

    def log_path(self):
        return os.path.join(self.folder, self.NAME + ".log")

    def logs(self, lines=40):
        if not self.folder or not os.path.exists(self.log_path()):
            return "(it told nothing)"
        with open(self.log_path(), encoding="utf-8", errors="replace") as file:
            return "".join(line[:500] for line in file.readlines()[-lines:])

    def file(self, name, text):
        """A file in its folder, to be read by it alone."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o600)
        if self.user:
            os.chown(path, *self.user)
        return path

    def connect(self, timeout=5, port=None):
        return socket.create_connection((self.host, port or self.port), timeout=timeout)

    def tell(self, text):
        if not self.is_quiet:
            print(f"{self.NAME}: {text}", file=sys.stderr, flush=True)


def search_path():
    return os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"


def claim(name):
    """A name that is ours until the socket is closed or we are gone, or None: another test has it."""
    holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        holder.bind("\0sluice-test-" + name)
        return holder
    except OSError:
        holder.close()
        return None


def claim_port(host):
    """A port that nobody listens on, and the claim that keeps other tests from it."""
    for port in random.sample(PORTS, 200):
        held = claim(f"port-{port}")
        if not held:
            continue
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((host if host.startswith("127.") else "127.0.0.1", port))
                return port, held
            except OSError:
                held.close()
    raise Broken(f"no free port between {PORTS.start} and {PORTS.stop}")


def make_certificate(broker):
    """A key and a certificate for this server that is its own authority, in the server's folder."""
    key, certificate = broker.file("server.key", ""), broker.file("server.crt", "")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", f"subjectAltName=DNS:localhost,IP:{broker.host}",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return key, certificate
