#!/usr/bin/env python3
"""Starts one real server for people, prints its URL, and removes it on Ctrl-C.

usage: brokers.py redis|redis-cluster|rabbitmq|nats|postgres|kafka|old-kafka [--tls] [--password TEXT]
"""
import argparse
import signal
import sys

from broker import Broken, Missing
from kafka_server import Kafka, OldKafka, any_kafka
from nats_server import Nats
from postgres_server import Postgres
from rabbitmq_server import RabbitMQ
from redis_cluster import RedisCluster
from redis_server import Redis

SERVERS = {"redis": Redis, "redis-cluster": RedisCluster, "rabbitmq": RabbitMQ, "nats": Nats, "postgres": Postgres,
           "kafka": any_kafka, "old-kafka": OldKafka}
__all__ = ["SERVERS", "Broken", "Missing", "Kafka", "OldKafka", "any_kafka", "Nats", "Postgres", "RabbitMQ", "Redis", "RedisCluster"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("server", choices=SERVERS)
    parser.add_argument("--tls", action="store_true", help="with a certificate that is its own authority")
    parser.add_argument("--password", default="", help="asked of user sluice")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with SERVERS[options.server](tls=options.tls, password=options.password) as server:
            print(server.url, flush=True)
            if server.certificate:
                print("certificate:", server.certificate, flush=True)
            wait_for_the_end()
    except KeyboardInterrupt:
        return 130
    except (Missing, Broken) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def wait_for_the_end():
    """The signals stay blocked, so that none interrupts the stopping."""
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    signal.sigwait(ends)


if __name__ == "__main__":
    sys.exit(main())
