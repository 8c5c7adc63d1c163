#!/usr/bin/env python3
"""What those who mean no good cost the others: 10,000 idle connections, slow senders, floods of header fields.

usage: hostile_load.py PROGRAM [--connections N] [--requests N] [--rounds N]

Measures requests of a well-behaved client before, during and after, and what memory the server takes. Prints the figures
as JSON; exit code 1 when the 99th percentile rose by more than a fifth or memory went beyond its bound.
"""
import argparse
import json
import multiprocessing
import resource
import select
import socket
import statistics
import sys
import tempfile
import time

from server import Server

RISE_MAX = 1.2
MEMORY_MAX_MIB = 600
SLOW_SENDERS = 500
FLOODS_PER_SECOND = 50
DEFINITION = b"name: pair\ntriggers:\n  - {id: t, on: item, condition: {count: 1000000}, action: {finish: {}}}\n"


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def attack(port, connections, ready, stop):
    """A process of its own: the idle ones are opened once, then it sends slowly and floods until it is told to stop."""
    idle = [connect(port) for _ in range(connections)]
    slow_headers = [connect(port) for _ in range(SLOW_SENDERS // 2)]
    slow_bodies = [connect(port) for _ in range(SLOW_SENDERS // 2)]
    for each in slow_bodies:
        each.sendall(b"POST /events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4000000\r\n\r\n")
    flood = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"x" * 100) for n in range(600))
    ready.set()
    while not stop.is_set():
        began = time.monotonic()
        for group, byte in ((slow_headers, b"G"), (slow_bodies, b" " * 1000)):
            for at, each in enumerate(group):
                try:
                    each.sendall(byte)
                except OSError:
                    each.close()
                    group[at] = connect(port)
        for _ in range(FLOODS_PER_SECOND):
            with connect(port) as flooding:
                try:
                    flooding.sendall(flood)
                except OSError:
                    pass
        stop.wait(max(0, 1 - (time.monotonic() - began)))
    closed = select.poll()
    for each in idle:
        closed.register(each, select.POLLIN)
    print(f"{connections - len(closed.poll(0))} of {connections} idle connections were kept", file=sys.stderr)


def receive(connection):
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(65536)
    head, body = answer.split(b"\r\n\r\n", 1)
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return int(head.split()[1])


def measure(port, requests, round_number):
    """Milliseconds of each kind of request, one after the other over one connection."""
    times = {"read": [], "send": []}
    with connect(port) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(requests):
            event = json.dumps({"specversion": "1.0", "id": f"{round_number}-{number}", "source": "/t", "type": "item", "run": "r1"}).encode()
            for kind, text in (("read", b"GET /v1/runs/r1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
                               ("send", b"POST /events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/cloudevents+json\r\n"
                                        b"Content-Length: %d\r\n\r\n" % len(event) + event)):
                began = time.perf_counter()
                connection.sendall(text)
                status = receive(connection)
                times[kind].append((time.perf_counter() - began) * 1000)
                if status not in (200, 202):
                    sys.exit(f"{kind}: {status}")
    return times


def percentiles(rounds):
    """The median over rounds: one stall of the machine does not decide."""
    def of(kind, share):
        return statistics.median(sorted(each[kind])[int(len(each[kind]) * share)] for each in rounds)
    return {f"{kind}_{name}_ms": round(of(kind, share), 3) for kind in ("read", "send") for name, share in (("p50", 0.5), ("p99", 0.99))}


def run(program, connections, requests, rounds):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder, "--durability", "relaxed")
        try:
            server.ask("POST", "/v1/definitions", DEFINITION)
            server.ask("POST", "/v1/runs", {"id": "r1", "definition": "pair"})
            figures = {"connections": connections, "memory_before_mib": server.memory() >> 20}
            numbers = iter(range(1_000_000))
            calm = [measure(server.port, requests, next(numbers)) for _ in range(rounds)]
            ready, stop = multiprocessing.Event(), multiprocessing.Event()
            attacker = multiprocessing.Process(target=attack, args=(server.port, connections, ready, stop))
            attacker.start()
            ready.wait()
            attacked, memory = [], 0
            for _ in range(rounds):
                attacked.append(measure(server.port, requests, next(numbers)))
                memory = max(memory, server.memory())
            stop.set()
            attacker.join()
            calm += [measure(server.port, requests, next(numbers)) for _ in range(rounds)]
            figures |= {"memory_attacked_mib": memory >> 20, "calm": percentiles(calm), "attacked": percentiles(attacked)}
            figures["rise"] = {kind: round(figures["attacked"][f"{kind}_p99_ms"] / figures["calm"][f"{kind}_p99_ms"], 3)
                               for kind in ("read", "send")}
            figures["stopped_with"] = server.stop()
            return figures
        finally:
            server.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    figures = run(options.program, options.connections, options.requests, options.rounds)
    print(json.dumps(figures, indent=2))
    is_good = max(figures["rise"].values()) <= RISE_MAX and figures["memory_attacked_mib"] <= MEMORY_MAX_MIB
    sys.exit(0 if is_good and figures["stopped_with"] == 0 else 1)


if __name__ == "__main__":
    main()
