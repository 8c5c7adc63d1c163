#!/usr/bin/env python3
"""Runs recorded scientific workflows with their run times scaled, and holds each run against its file.

usage: wfcommons_test.py PROGRAM [FOLDER] [--all] [--times] [--time-scale SCALE] [--durability strict|relaxed]

FOLDER has WfFormat files; default ../shared/workloads/wfcommons. Without --all only those that take less than a few seconds run.
Each task must have been called once, after all its parents had ended. With --times, for a machine that does nothing else, the run must
also have taken no longer than its critical path, computed here from the file, and a little: 3% of it or 5 ms.
"""
import argparse
import collections
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/crash"))

from order import faults_in  # noqa: E402

SMALL_SECONDS_MAX = 3.5
SHARE_MAX, SECONDS_MAX = 0.03, 0.005
ATTEMPTS_MAX = 5
COMMAND_SECONDS_MAX = 600


class Instance:
    """A WfFormat file of version 1.5, read without the program."""

    def __init__(self, file):
        workflow = json.loads(file.read_text())["workflow"]
        self.file = file
        self.parents = {task["id"]: set(task["parents"]) for task in workflow["specification"]["tasks"]}
        self.seconds = {task["id"]: task["runtimeInSeconds"] for task in workflow["execution"]["tasks"]}

    def critical_path(self):
        """The seconds of the longest way through it."""
        ends, behind, open_parents = {}, collections.defaultdict(list), {}
        for task, parents in self.parents.items():
            open_parents[task] = len(parents)
            for parent in parents:
                behind[parent].append(task)
        ready = [task for task, count in open_parents.items() if count == 0]
        for task in ready:
            ends[task] = self.seconds[task] + max((ends[parent] for parent in self.parents[task]), default=0)
            for other in behind[task]:
                open_parents[other] -= 1
                if open_parents[other] == 0:
                    ready.append(other)
        assert len(ends) == len(self.parents), f"{self.file}: the tasks wait for each other"
        return max(ends.values())


def ask(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=COMMAND_SECONDS_MAX, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def moment(text):
    """In seconds: datetime knows no nanoseconds."""
    whole, _, parts = text.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat(whole).timestamp() + float(f"0.{parts or 0}")


def run(program, instance, options):
    """How long it took, and what was wrong."""
    with tempfile.TemporaryDirectory(prefix="wfcommons-") as data:
        ask(program, "run", instance.file, "--functions", "simulate", "--time-scale", options.time_scale, "--data", data,
            "--run", "run", "--quiet", "--durability", options.durability)
        shown = json.loads(ask(program, "show", "run", "--data", data, "--json"))
        lines = ask(program, "show", "run", "--history", "--json", "--limit", 10_000_000, "--data", data).splitlines()
    faults = [] if shown["status"] == "succeeded" else [f"it ended as {shown['status']}"]
    faults += faults_in([json.loads(line) for line in lines], instance.parents)
    return moment(shown["ended"]) - moment(shown["started"]), faults


def hold(program, instance, options):
    """The line of the table, and whether all is well. Only slowness is tried again: other programs may have had the machine."""
    path = instance.critical_path() * options.time_scale
    allowed = max(path * SHARE_MAX, SECONDS_MAX)
    for attempt in range(1, ATTEMPTS_MAX + 1):
        taken, faults = run(program, instance, options)
        is_slow = taken > path + allowed
        if faults or not is_slow or not options.times:
            break
    slow = [f"more than {allowed * 1000:.1f} ms over, {attempt} times"] if is_slow and options.times else []
    verdict = "; ".join((faults + slow)[:3]) or ("ok" if attempt == 1 else f"ok the {attempt}. time")
    print(f"{instance.file.stem:42} {len(instance.parents):6} {path * 1000:10.1f} {taken * 1000:10.1f} {(taken - path) * 1000:8.2f} "
          f"{(taken / path - 1) * 100:7.2f}  {verdict}", flush=True)
    return not faults and not slow


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT.parent / "shared/workloads/wfcommons")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--time-scale", type=float, default=0.01)
    parser.add_argument("--durability", default="strict", choices=["strict", "relaxed"])
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.json"))
    if not files:
        print(f"wfcommons: left out, there are no WfFormat files in {options.folder}; name another folder")
        return
    instances = [Instance(file) for file in files]
    chosen = [one for one in instances if options.all or one.critical_path() * options.time_scale < SMALL_SECONDS_MAX]
    print(f"{'workflow':42} {'tasks':>6} {'path ms':>10} {'run ms':>10} {'over ms':>8} {'over %':>7}")
    wrong = [one for one in chosen if not hold(options.program, one, options)]
    print(f"wfcommons: {len(chosen) - len(wrong)} of {len(chosen)} workflows ok, {len(instances) - len(chosen)} left for --all")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
