"""The buses and stores that a system can be made of, by name."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "brokers"))

from broker import Missing  # noqa: E402
from kafka_server import any_kafka  # noqa: E402
from namespace import Namespace  # noqa: E402
from nats_server import Nats  # noqa: E402
from postgres_server import Postgres  # noqa: E402
from rabbitmq_server import RabbitMQ  # noqa: E402
from redis_cluster import RedisCluster  # noqa: E402
from redis_server import Redis  # noqa: E402

__all__ = ["BUSES", "DIRECT", "STORES", "Missing", "Namespace"]


class Place:
    """One server of the system, which processes reach at addresses that may be proxies'."""

    def __init__(self, server, url):
        self.server = server
        self.make_url = url

    def url(self, addresses=None):
        (host, port), *others = addresses or self.server.addresses
        return self.make_url(f"{host}:{port}", *(str(port) for _, port in others))


def place(server, url):
    """Makes the server, in a network of its own where one is given; AT in the URL stands for its address, OTHER for the port of a second."""
    def make_url(at, other=""):
        return url.replace("AT", at).replace("OTHER", other)
    return lambda namespace=None: Place(server(namespace=namespace, is_quiet=True), make_url)


def redis_cluster(namespace=None):
    server = RedisCluster(namespace=namespace, is_quiet=True)
    return Place(server, lambda at: server.url.replace("/?", "/store?"))


# Their clients go where they say they are, past any proxy.
DIRECT = {"kafka", "redis-cluster"}
BUSES = {"redis": place(Redis, "redis://AT/bus"), "nats": place(Nats, "nats://AT/bus"), "kafka": place(any_kafka, "kafka://AT/bus"),
         "amqp": place(RabbitMQ, "amqp://guest:guest@AT/?queue=stream&stream_port=OTHER"),
         "amqp-quorum": place(RabbitMQ, "amqp://guest:guest@AT/?queue=quorum")}
STORES = {"redis": place(Redis, "redis://AT/store"), "redis-cluster": redis_cluster,
          "postgres": place(Postgres, "postgres://sluice@AT/postgres")}
