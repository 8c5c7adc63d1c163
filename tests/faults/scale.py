#!/usr/bin/env python3
"""How much faster two workers are than one, each held to a share of a CPU by a cgroup.

usage: scale.py PROGRAM [--bus BUS] [--store STORE] [--runs N] [--share CPU] [--least RATIO]

Runs of four calls each, whose processes count against their worker's share. Needs root.
"""
import argparse
import contextlib
import os
import pathlib
import sys
import threading
import time

from load import deploy
from servers import BUSES, STORES
from system import Failed, System, ask

CALLS = 4
WORK = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; echo 1"
SPREAD = """
name: spread
tasks:
  each: {map: {over: "${[1, 2, 3, 4]}", call: work}}
"""
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


def rate(options, count):
    """Calls a second that so many workers make, the work of the calls included."""
    with System(options.program, options.bus, options.store, 6, ["--allow-process"]) as system, contextlib.ExitStack() as groups:
        for number in range(count):
            group = Group(f"sluice-scale-{os.getpid()}-{number}", options.share)
            groups.callback(group.close)
            groups.callback(system.close_workers)
            group.add(system.add_worker().process)
        insist(system, "PUT", "/v1/functions/work", {"command": ["sh", "-c", WORK]})
        deploy(system, SPREAD)
        system.wait_balanced()
        began = time.monotonic()
        for number in range(options.runs):
            insist(system, "POST", "/v1/runs", {"definition": "spread", "id": f"r{number}"})
        for number in range(options.runs):
            system.wait_until(lambda: ask(system.gateway, "GET", f"/v1/runs/r{number}")[1].get("status") == "succeeded",
                              f"the end of r{number}", 300)
        taken = time.monotonic() - began
        print(f"{count} workers at {options.share} CPU: {options.runs * CALLS / taken:.1f} calls/s, {taken:.1f} s", flush=True)
        return options.runs * CALLS / taken


def insist(system, method, path, body):
    status, answer = ask(system.gateway, method, path, body, timeout=60)
    if status >= 300 or status == 0:
        raise Failed(f"{method} {path}: {status} {answer}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--bus", default="nats", choices=BUSES)
    parser.add_argument("--store", default="redis", choices=STORES)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--least", type=float, default=1.6)
    options = parser.parse_args()
    one, two = rate(options, 1), rate(options, 2)
    print(f"{options.bus} {options.store}: {two / one:.2f} x")
    return 0 if two / one >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
