"""The buses and stores that a system can be made of, by name."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "brokers"))

from broker import Missing  # noqa: E402
from kafka_server import any_kafka  # noqa: E402
from nats_server import Nats  # noqa: E402
from postgres_server import Postgres  # noqa: E402
from rabbitmq_server import RabbitMQ  # noqa: E402
from redis_server import Redis  # noqa: E402

__all__ = ["BUSES", "STORES", "Missing", "Place"]


class Place:
    """One server of the system, which processes reach at an address that may be a proxy's."""

    def __init__(self, server, url):
        self.server = server
        self.make_url = url

    def url(self, address=None):
        host, port = address or self.server.address
        return self.make_url(f"{host}:{port}")


def redis(path):
    return lambda: Place(Redis(is_quiet=True), lambda at: f"redis://{at}/{path}")


def rabbitmq(queue):
    return lambda: Place(RabbitMQ(is_quiet=True), lambda at: f"amqp://guest:guest@{at}/?queue={queue}")


def nats():
    return Place(Nats(is_quiet=True), lambda at: f"nats://{at}/bus")


def kafka():
    return Place(any_kafka(is_quiet=True), lambda at: f"kafka://{at}/bus")


def postgres():
    return Place(Postgres(is_quiet=True), lambda at: f"postgres://sluice@{at}/postgres")


BUSES = {"redis": redis("bus"), "nats": nats, "amqp": rabbitmq("stream"), "amqp-quorum": rabbitmq("quorum"), "kafka": kafka}
STORES = {"redis": redis("store"), "postgres": postgres}
