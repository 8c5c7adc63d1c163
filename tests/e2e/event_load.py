#!/usr/bin/env python3
"""How many events a server takes over HTTP, answered after the sync: with wrk, single ones and in batches.

usage: event_load.py PROGRAM [--batch 1 100] [--connections 64] [--seconds 8] [--rounds 3] [--check]

The client runs on the same machine and shares its processors. Prints one JSON object per round, beside a bare synced
write to the same disk. With --check it fails below 40,000 single events a second, 300,000 in batches, or above a 99th
percentile of 20 ms, at the median of the rounds.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from server import Server

LEAST = {1: 40_000, 100: 300_000}
P99_MS_MAX = 20
DEFINITION = b"name: load\ntriggers:\n  - {id: t, on: item, condition: {count: 1000000000}, action: {finish: {}}}\n"
SCRIPT = pathlib.Path(__file__).with_name("event_load.lua")


def sync_us(folder):
    """The median of a write of 300 bytes and its sync."""
    times = []
    with open(os.path.join(folder, "sync"), "wb", buffering=0) as file:
        for _ in range(300):
            began = time.perf_counter()
            file.write(b"x" * 300)
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e6


def measure(program, batch, options):
    with tempfile.TemporaryDirectory() as folder:
        ceiling = sync_us(folder)
        server = Server(program, folder)
        try:
            server.ask("POST", "/v1/definitions", DEFINITION, headers={"Content-Type": "application/yaml"})
            assert server.ask("POST", "/v1/runs", {"definition": "load", "id": "load"})[0] == 201
            out = subprocess.run(
                ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}", "--timeout", "10", "-s", SCRIPT,
                 f"http://127.0.0.1:{server.port}"],
                env={**os.environ, "BATCH": str(batch), "RUN": "load"}, capture_output=True, text=True, check=True).stdout
        finally:
            server.kill()
    figures = json.loads(out.strip().splitlines()[-1])
    return {"batch": batch, "events_per_second": round(figures["requests"] * batch / figures["seconds"]), **figures,
            "ceiling_sync_us": round(ceiling)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 100])
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("event_load.py needs wrk: apt-get install wrk")
    is_good = True
    for batch in options.batch:
        rounds = []
        for _ in range(options.rounds):
            rounds.append(measure(options.program, batch, options))
            print(json.dumps(rounds[-1]), flush=True)
        rate = statistics.median(each["events_per_second"] for each in rounds)
        p99 = statistics.median(each["p99_ms"] for each in rounds)
        is_good = is_good and not any(each["refused"] for each in rounds)
        is_good = is_good and rate >= LEAST.get(batch, 0) and p99 <= P99_MS_MAX
        print(f"batches of {batch}: {rate:,.0f} events/s, p99 {p99:.1f} ms", file=sys.stderr)
    sys.exit(0 if is_good or not options.check else 1)


if __name__ == "__main__":
    main()
