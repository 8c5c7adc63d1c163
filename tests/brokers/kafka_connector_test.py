#!/usr/bin/env python3
"""Tries the Kafka connector against real brokers: the current version, one with TLS and a password, and 0.9.

usage: kafka_connector_test.py TEST_PROGRAM [--only plain|secure|old] [--filter GTEST_FILTER]

TEST_PROGRAM is sluice_connector_kafka_test. It is told where Kafka is (SLUICE_KAFKA_URL) and asks for restarts and kills
by lines over a socket (SLUICE_KAFKA_CONTROL), each answered with `done`. A Kafka that cannot be had is named with the
reason and skipped.
"""
import argparse
import os
import socket
import subprocess
import sys
import threading
import urllib.parse

from broker import Missing
from kafka_server import Kafka, OldKafka

TIMEOUT = 600
PASSWORD = "s3cret/of@sluice"


def plain():
    return Kafka(), "", "RealKafka*:*/RealKafka*"


def secure():
    kafka = Kafka(tls=True, password=PASSWORD)
    return kafka, "secure", "RealKafka.*"


def old():
    return OldKafka(settings={"num.partitions": 4}), "?broker=0.9", "OldKafka*"


VARIANTS = {"plain": plain, "secure": secure, "old": old}


def url_of(kafka, extra):
    if extra != "secure":
        return kafka.url + extra
    host = kafka.url.removeprefix("kafka://")
    return (f"kafkas://sluice:{urllib.parse.quote(PASSWORD, safe='')}@{host}"
            f"?ca={urllib.parse.quote(kafka.certificate, safe='')}")


def obey(kafka, control):
    """Does what the test asks for, until it is gone."""
    with control.makefile("rw", encoding="ascii") as lines:
        for line in lines:
            {"kill": kafka.kill, "start": kafka.start, "restart": kafka.restart, "stop": kafka.stop}[line.strip()]()
            lines.write("done\n")
            lines.flush()


def run(kafka, url, program, only):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        threading.Thread(target=obey, args=(kafka, ours), daemon=True).start()
        environment = os.environ | {"SLUICE_KAFKA_URL": url, "SLUICE_KAFKA_CONTROL": str(theirs.fileno())}
        done = subprocess.run([program, f"--gtest_filter={only}"], env=environment, pass_fds=[theirs.fileno()],
                              timeout=TIMEOUT, check=False)
        ours.shutdown(socket.SHUT_RDWR)
    return done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", choices=VARIANTS)
    parser.add_argument("--filter")
    options = parser.parse_args()
    failed = []
    for name in [options.only] if options.only else VARIANTS:
        try:
            kafka, extra, chosen = VARIANTS[name]()
            with kafka:
                print(f"kafka_connector_test: {name}", flush=True)
                if run(kafka, url_of(kafka, extra), options.program, options.filter or chosen) != 0:
                    failed.append(name)
        except Missing as error:
            print(f"kafka_connector_test: {name} skipped: {error}", flush=True)
    print("kafka_connector_test:", f"failed: {', '.join(failed)}" if failed else "all well", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
