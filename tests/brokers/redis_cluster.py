"""A Redis Cluster of three masters without replicas, a third of the slots each."""
import time

from broker import Missing
from redis_server import Redis

SLOTS = 16384
NODE_TIMEOUT_MS = 1000


class ClusterNode(Redis):
    """One master, which is joined to the others by whoever has all of them."""

    NAME = "redis-cluster"
    PORT_COUNT = 2  # Clients', and the one that nodes talk by.

    def __init__(self, *, tls=False, **common):
        if tls:
            raise Missing("redis-cluster: without TLS here")
        super().__init__(**common)
        self.arguments = ("--cluster-enabled", "yes", "--cluster-node-timeout", NODE_TIMEOUT_MS,
                          "--cluster-port", self.ports[1])

    def ask(self, *words):
        """What it answers, as it comes."""
        with self.connect() as connection:
            login = f"AUTH {self.password}\r\n" if self.password else ""
            connection.sendall((login + " ".join(str(word) for word in words) + "\r\nQUIT\r\n").encode())
            answer = b""
            while part := connection.recv(65536):
                answer += part
            return answer.decode()


class RedisCluster(ClusterNode):
    """The first node, and two companions. `kill` ends all of them, `kill_node` one, and `start` starts what is missing."""

    def __init__(self, **common):
        super().__init__(**common)
        self.companions = [ClusterNode(**common) for _ in range(2)]
        self.is_joined = False

    @property
    def nodes(self):
        return [self, *self.companions]

    @property
    def url(self):
        others = ",".join(f"{node.host}:{node.port}" for node in self.companions)
        return f"{super().url}/?nodes={others}"

    def start(self):
        if not self.is_running():
            return super().start()
        for node in self.companions:
            if not node.is_running():
                node.start()
        self.wait_until_ready(time.monotonic())
        return self

    def kill(self):
        for node in self.companions:
            node.kill()
        super().kill()

    def kill_node(self, number):
        ClusterNode.kill(self.nodes[number])

    def stop(self):
        super().stop()
        for node in self.companions:
            node.stop()

    def answers(self):
        """Once all nodes see all slots served."""
        if not super().answers():
            return False
        if not self.is_joined:
            self.join()
        return all(self.is_served(node) for node in self.nodes)

    def join(self):
        for number, node in enumerate(self.nodes):
            node.ask("CLUSTER", "ADDSLOTSRANGE", number * SLOTS // 3, (number + 1) * SLOTS // 3 - 1)
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            self.ask("CLUSTER", "MEET", node.host, *node.ports)
        self.is_joined = True

    @staticmethod
    def is_served(node):
        info = node.ask("CLUSTER", "INFO")
        return "cluster_state:ok" in info and f"cluster_slots_ok:{SLOTS}\r" in info and "cluster_size:3\r" in info
