#!/usr/bin/env python3
"""A selection of faults.py for every change: each fault once, on pairs that start quickly.

usage: faults_test.py PROGRAM
"""
import pathlib
import subprocess
import sys

FAULTS = pathlib.Path(__file__).with_name("faults.py")
CHOSEN = [("nats", "postgres", "kill,bus,store,cut-store"), ("redis", "redis", "pause,stall-store,cut-bus")]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    words = [[sys.executable, FAULTS, sys.argv[1], "--bus", bus, "--store", store, "--fault", faults, "--lease", "2"]
             for bus, store, faults in CHOSEN]
    tries = [subprocess.Popen(each) for each in words]
    sys.exit(max(each.wait() for each in tries))


if __name__ == "__main__":
    main()
