#!/usr/bin/env python3
"""How much faster two workers are than one, each held to a share of a CPU by a cgroup.

usage: scale.py PROGRAM [--bus BUS] [--store STORE] [--events N] [--share CPU] [--least RATIO]

The events lie on the bus before the workers begin, and the time counts from a tenth of them to nine tenths.
"""
import argparse
import contextlib
import os
import pathlib
import re
import sys
import threading
import time

from load import BATCHES, TALLY, deploy
from servers import BUSES, STORES
from system import Failed, System, ask

RUNS = 256
BATCH = 250
PERIOD = 100_000
GROUPS = pathlib.Path("/sys/fs/cgroup/cpu")


class Group:
    """A cgroup, version 1 or 2, that holds its processes to so much of a CPU."""

    def __init__(self, name, share):
        is_old = (GROUPS / "cpu.cfs_period_us").exists()
        self.folder = (GROUPS if is_old else GROUPS.parent) / name
        self.folder.mkdir()
        if is_old:
            (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD))
            (self.folder / "cpu.cfs_quota_us").write_text(str(int(share * PERIOD)))
        else:
            (self.folder / "cpu.max").write_text(f"{int(share * PERIOD)} {PERIOD}")

    def add(self, process):
        (self.folder / "cgroup.procs").write_text(str(process.process.pid))

    def close(self):
        for _ in range(100):
            try:
                self.folder.rmdir()
                return
            except OSError:
                threading.Event().wait(0.05)


def fill(system, events):
    """Runs first, by a worker that then leaves; then their events, which nobody takes yet."""
    first = system.add_worker()
    deploy(system, TALLY)
    for number in range(RUNS):
        status, answer = ask(system.gateway, "POST", "/v1/runs", {"definition": "tally", "id": f"r{number}"})
        if status >= 300:
            raise Failed(f"no run: {status} {answer}")
    first.stop()
    system.remove(first)
    for begin in range(0, events, BATCH):
        batch = [{"specversion": "1.0", "id": str(number), "source": "/scale", "type": "item", "run": f"r{number % RUNS}"}
                 for number in range(begin, begin + BATCH)]
        status, answer = ask(system.gateway, "POST", "/events", batch, BATCHES)
        if status >= 300:
            raise Failed(f"events were not taken: {status} {answer}")


def decided(system):
    total = 0
    for worker in system.workers:
        _, answer = ask(worker.process, "GET", "/metrics")
        found = re.search(rb"^sluice_events_total (\d+)", answer, re.MULTILINE)
        total += int(found.group(1)) if found else 0
    return total


def rate(options, count):
    """Events a second that so many workers decide."""
    with System(options.program, options.bus, options.store, 6) as system, contextlib.ExitStack() as groups:
        fill(system, options.events)
        begun = time.monotonic()
        for number in range(count):
            group = Group(f"sluice-scale-{os.getpid()}-{number}", options.share)
            groups.callback(group.close)
            groups.callback(system.close_workers)
            group.add(system.add_worker().process)
        marks = {}

        def is_done():
            there = decided(system)
            for mark in (0.1, 0.9):
                if there >= options.events * mark:
                    marks.setdefault(mark, (time.monotonic(), there))
            return 0.9 in marks
        system.wait_until(is_done, "nine tenths of the events are decided", 300)
        (began, first), (ended, last) = marks[0.1], marks[0.9]
        found = (last - first) / (ended - began)
        print(f"{count} workers at {options.share} CPU: {found:.0f} events/s, all within {ended - begun:.1f} s", flush=True)
        return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--bus", default="nats", choices=BUSES)
    parser.add_argument("--store", default="redis", choices=STORES)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--least", type=float, default=1.6)
    options = parser.parse_args()
    one, two = rate(options, 1), rate(options, 2)
    print(f"{options.bus} {options.store}: {two / one:.2f} x")
    return 0 if two / one >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
