#!/usr/bin/env python3
"""What live readers cost a busy run: sends events as fast as they are taken, with and without readers, in turns.

usage: live_load.py PROGRAM [--readers 1000] [--stuck 50] [--seconds 4] [--rounds 5] [--check]

Prints events per second and CPU time of the server per event for both, as medians over the rounds. With --check it
fails when readers cost more than a tenth of the throughput.
"""
import argparse
import http.client
import multiprocessing
import os
import selectors
import socket
import statistics
import sys
import time

import live_server as server

DEFINITION = b"""
name: busy
dedupe: none
triggers:
  - {id: count, on: item, lifetime: persistent, condition: {count: 1000000000}}
"""
BATCH = 100


def send(port, seconds, connections, total):
    """Batches over one connection, each when the one before is answered."""
    events = ",".join('{"specversion":"1.0","id":"%d","source":"/load","type":"item","data":{"value":%d}}' % (at, at)
                      for at in range(BATCH))
    body = f"[{events}]".encode()
    head = {"Content-Type": "application/cloudevents-batch+json"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    end = time.monotonic() + seconds
    sent = 0
    while time.monotonic() < end:
        connection.request("POST", "/v1/runs/busy/events", body, head)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 202, answer.status
        sent += BATCH
    with total.get_lock():
        total.value += sent


def read(port, readers, stuck, ready, stop, received):
    """Keeps all streams open and throws away what comes; those that are stuck take nothing."""
    selector = selectors.DefaultSelector()
    held = []
    for at in range(readers):
        each = socket.socket()
        if at < stuck:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        each.connect(("127.0.0.1", port))
        each.sendall(b"GET /v1/runs/busy/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        if at < stuck:
            held.append(each)
        else:
            each.setblocking(False)
            selector.register(each, selectors.EVENT_READ)
    ready.set()
    buffer = bytearray(1 << 16)
    count = 0
    while not stop.is_set():
        for key, _ in selector.select(0.2):
            count += key.fileobj.recv_into(buffer)
    received.value = count


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(where, options, senders=4):
    total = multiprocessing.Value("q", 0)
    before = cpu_seconds(where.process.pid)
    began = time.monotonic()
    processes = [multiprocessing.Process(target=send, args=(where.port, options.seconds, senders, total))
                 for _ in range(senders)]
    for each in processes:
        each.start()
    for each in processes:
        each.join()
    taken = time.monotonic() - began
    return total.value / taken, (cpu_seconds(where.process.pid) - before) / max(1, total.value)


def measure_with_readers(where, options):
    ready, stop, received = multiprocessing.Event(), multiprocessing.Event(), multiprocessing.Value("q", 0)
    reader = multiprocessing.Process(target=read, args=(where.port, options.readers, options.stuck, ready, stop, received))
    reader.start()
    ready.wait()
    figures = measure(where, options)
    stop.set()
    reader.join()
    return *figures, received.value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    for name, default in (("readers", 1000), ("stuck", 50), ("rounds", 5)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    where = server.Server(options.program)
    try:
        where.ask("POST", "/v1/definitions", DEFINITION)
        where.ask("POST", "/v1/runs", {"id": "busy", "definition": "busy"})
        measure(where, options)
        without, with_readers = [], []
        for _ in range(options.rounds):
            without.append(measure(where, options))
            with_readers.append(measure_with_readers(where, options))
        memory = [line for line in open(f"/proc/{where.process.pid}/status") if line.startswith("VmHWM")][0].split()[1]
    finally:
        where.close()
    rates = [statistics.median(each[0] for each in figures) for figures in (without, with_readers)]
    costs = [statistics.median(each[1] for each in figures) * 1e6 for figures in (without, with_readers)]
    print(f"without readers      {rates[0]:10.0f} events/s  {costs[0]:6.2f} us of CPU per event")
    print(f"with {options.readers:5} readers   {rates[1]:10.0f} events/s  {costs[1]:6.2f} us of CPU per event, "
          f"{statistics.median(each[2] for each in with_readers) / options.seconds / 1e6:.1f} MB/s read")
    print(f"ratio {rates[1] / rates[0]:.3f}, {options.stuck} of the readers stuck, server at most {int(memory) >> 10} MiB")
    return 1 if options.check and rates[1] < 0.9 * rates[0] else 0


if __name__ == "__main__":
    sys.exit(main())
