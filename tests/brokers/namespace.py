"""A network of its own for a server, joined to ours by a cable that can be pulled. Needs root."""
import os
import random
import shutil
import subprocess

from broker import Broker, Broken, Missing, claim


class Namespace(Broker):
    """Lives as long as the process in it, so that nothing of it stays when that is killed.

    Give it to servers (`Redis(namespace=namespace)`): they listen on its address.
    """

    NAME = "namespace"
    PACKAGE = "util-linux iproute2"
    PROGRAM = "unshare"
    PORT_COUNT = 0

    def __init__(self, **common):
        super().__init__(**common)
        self.number, held = claim_number()
        self.claims.append((None, held))
        self.cable = f"sluice{self.number}"
        place = f"10.213.{self.number // 64}."
        first = self.number % 64 * 4
        self.outside, self.address = f"{place}{first + 1}", f"{place}{first + 2}"

    # It has an address without a port.
    address = None

    @classmethod
    def require(cls):
        super().require()
        if os.getuid() != 0:
            raise Missing("namespace: only root may make networks")
        if not shutil.which("ip"):
            raise Missing("namespace: no ip here; apt-get install iproute2")

    def command(self):
        return ["unshare", "--net", "sleep", "infinity"]

    def answers(self):
        """Once the process has its own network, the cable is laid."""
        if os.readlink(self.path) == os.readlink("/proc/self/ns/net"):
            return False
        run("ip", "link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", str(self.pid))
        run("ip", "address", "add", self.outside + "/30", "dev", self.cable)
        run("ip", "link", "set", self.cable, "up")
        self.inside("ip", "address", "add", self.address + "/30", "dev", "eth0")
        self.inside("ip", "link", "set", "lo", "up")
        self.heal()
        return True

    @property
    def path(self):
        return f"/proc/{self.pid}/ns/net"

    @property
    def url(self):
        return self.address

    def cut(self):
        """Packets vanish both ways and nobody is told: connections stay and are silent."""
        self.inside("ip", "link", "set", "eth0", "down")

    def heal(self):
        self.inside("ip", "link", "set", "eth0", "up")

    def inside(self, *words):
        run("nsenter", "--net=" + self.path, "--", *words)


def claim_number():
    for number in random.sample(range(64 * 256), 100):
        if held := claim(f"network-{number}"):
            return number, held
    raise Broken("namespace: no free network under 10.213.0.0/16")


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    if done.returncode != 0:
        raise Broken(f"namespace: {' '.join(words)}: {done.stderr.strip()}")
