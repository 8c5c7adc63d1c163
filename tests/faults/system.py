"""A broker, a store, a gateway and workers, each worker with a network of its own to both."""
import contextlib
import os
import pathlib
import re
import sys
import tempfile
import threading
import time

from servers import BUSES, DIRECT, STORES, Namespace

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from proxy import Proxy  # noqa: E402
from server import Server  # noqa: E402

WAIT_MAX = 90
TOLD_LINES = 25


class Failed(Exception):
    """What was promised did not hold."""


class Net:
    """The network between a worker and one server: a proxy for each address that the server has."""

    def __init__(self, targets):
        self.proxies = [Proxy(target) for target in targets]
        self.addresses = [proxy.address for proxy in self.proxies]

    def heal(self):
        for proxy in self.proxies:
            proxy.heal()

    def stall(self):
        for proxy in self.proxies:
            proxy.stall()

    def cut(self):
        for proxy in self.proxies:
            proxy.cut()

    def close(self):
        for proxy in self.proxies:
            proxy.close()


class Worker:
    """A worker behind proxies, which are its alone."""

    def __init__(self, system, name):
        self.system = system
        self.name = name
        self.nets = {net: Net(place.server.addresses) for net, place in system.places.items() if net not in system.direct}
        self.process = None
        self.is_paused = False

    def start(self):
        urls = {net: place.url(self.nets[net].addresses if net in self.nets else None) for net, place in self.system.places.items()}
        self.process = self.system.run("worker", self.name, **urls)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process = None

    def stop(self):
        process, self.process = self.process, None
        code = process.stop()
        process.kill()
        if code != 0:
            raise Failed(f"{self.name} ended with {code}:\n{told(process)}")

    def close(self):
        self.kill()
        for net in self.nets.values():
            net.close()


class System:
    """All of it; left with the context, nothing stays behind."""

    def __init__(self, program, bus, store, lease, arguments=(), apart=None):
        self.program = program
        self.lease = lease
        self.arguments = arguments
        # The one that has a network of its own, "bus" or "store", with a cable that can be pulled.
        self.apart = apart
        self.namespace = None
        self.makers = {"bus": BUSES[bus], "store": STORES[store]}
        self.places = {}
        self.direct = {apart, *(net for net, name in (("bus", bus), ("store", store)) if name in DIRECT)}
        self.workers = []
        self.count = 0
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="sluice-faults-"))
            if self.apart:
                self.namespace = stack.enter_context(Namespace(is_quiet=True))
            for net, make in self.makers.items():
                self.places[net] = make(self.namespace if net == self.apart else None)
                stack.callback(self.places[net].server.close)
            starts = [threading.Thread(target=place.server.start) for place in self.places.values()]
            for start in starts:
                start.start()
            for start in starts:
                start.join()
            stack.callback(self.close_workers)
            self.gateway = self.run("gateway", "gateway", **{net: place.url() for net, place in self.places.items()})
            stack.callback(self.gateway.kill)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def close_workers(self):
        while self.workers:
            self.workers.pop().close()

    def run(self, part, name, *, store, bus):
        return Server(self.program, os.path.join(self.folder, name), "--store", store, "--bus", bus, "--lease", f"{self.lease}s",
                      "--log-level", "info", *self.arguments, part=part)

    def add_worker(self):
        self.count += 1
        worker = Worker(self, f"worker-{self.count}")
        self.workers.append(worker)
        worker.start()
        return worker

    def remove(self, worker):
        self.workers.remove(worker)
        worker.close()

    def owned(self, worker):
        """Shards that it decides, as of the last half second."""
        status, answer = ask(worker.process, "GET", "/metrics")
        found = re.search(rb"^sluice_cluster_shards_owned (\d+)", answer, re.MULTILINE) if status == 200 else None
        return int(found.group(1)) if found else -1

    def check_alive(self):
        """Nobody but the test ends a process."""
        for worker in self.workers:
            if worker.process and worker.process.process.poll() is not None:
                raise Failed(f"{worker.name} ended by itself with {worker.process.process.returncode}:\n{told(worker.process)}")
        if self.gateway.process.poll() is not None:
            raise Failed(f"the gateway ended by itself with {self.gateway.process.returncode}:\n{told(self.gateway)}")

    def wait_until(self, is_so, what, seconds=WAIT_MAX):
        until = time.monotonic() + seconds
        while not is_so():
            self.check_alive()
            if time.monotonic() > until:
                raise Failed(f"after {seconds} s still not: {what}\n{self.told()}")
            threading.Event().wait(0.02)

    def wait_balanced(self):
        """Each worker has its share, and none is on the move."""
        share = 64 // len(self.workers)

        def is_balanced():
            owned = [self.owned(worker) for worker in self.workers]
            return sum(owned) == 64 and min(owned) >= share
        self.wait_until(is_balanced, "each worker has its share of the shards")

    def told(self):
        parts = [f"gateway:\n{told(self.gateway)}"]
        parts += [f"{worker.name}:\n{told(worker.process)}" for worker in self.workers if worker.process]
        return "\n".join(parts)


def told(process):
    """The last of what a process said."""
    with process.heard:
        return "".join(line for line in process.lines[-TOLD_LINES:] if line)


def ask(process, method, path, body=None, headers=None, timeout=15):
    """Status and answer; status 0 where none came."""
    try:
        return process.ask(method, path, body, headers=headers, timeout=timeout)
    except (OSError, ValueError) as error:
        return 0, {"error": str(error)}
    except Exception as error:  # http.client has exceptions of its own for what breaks off.
        if type(error).__module__ != "http.client":
            raise
        return 0, {"error": repr(error)}
