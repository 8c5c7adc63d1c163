#!/usr/bin/env python3
"""Builds and runs all tests and checks, says how long each took, and how many passed.

usage: test.py [STEP…]       all steps, in their order, when none is named

A step that fails does not keep the others from running. The steps and their commands are the list STEPS. While one
runs, what later ones need is compiled behind it, with the CPU that it leaves.
"""
import concurrent.futures
import dataclasses
import itertools
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "results"


@dataclasses.dataclass
class Step:
    name: str
    command: str = "true"
    build: str = ""       # What compiles it; the steps behind it wait as well.
    needs: str = ""       # A path of the tree: the step is left out, and says so, while it does not exist.
    results: str = ""     # A folder of JUnit files in build/results, to count single tests instead of the step.
    is_beside_others: bool = False  # Runs with its neighbours of this kind, a few at a time.


def unit(name, preset):
    """The unit tests under a preset's sanitizers: dev has address and undefined behaviour, tsan the threaded tests."""
    report = RESULTS / preset
    return Step(name, f"rm -rf {report} && GTEST_OUTPUT=xml:{report}/ ctest --preset {preset} --parallel {os.cpu_count() + 1} "
                      f"--output-junit {report}/ctest.xml --no-tests=ignore",
                build=f"cmake --preset {preset} >/dev/null && cmake --build --preset {preset}", results=preset)


def meeting(name, script):
    """The program as its users meet it: mostly waiting, so several go side by side."""
    return Step(name, f"python3 tests/{script} build/release/bin/sluice", is_beside_others=True)


STEPS = [
    Step("checks", "make -k --no-print-directory check"),
    Step("program", build="make --no-print-directory build"),
    meeting("commands", "e2e/cli_test.py"),
    meeting("bad input", "e2e/bad_input_test.py"),
    meeting("server", "e2e/serve_test.py"),
    meeting("server killed", "e2e/serve_crash_test.py"),
    meeting("API", "e2e/api_test.py"),
    meeting("OpenAPI", "e2e/openapi_test.py"),
    meeting("access", "e2e/access_test.py"),
    meeting("hostile", "e2e/hostile_test.py"),
    meeting("functions", "e2e/function_test.py"),
    meeting("limits", "e2e/limits_test.py"),
    meeting("expressions", "e2e/eval_test.py"),
    meeting("routes", "e2e/route_test.py"),
    meeting("tasks", "e2e/dag_test.py"),
    meeting("recorded", "e2e/recorded_test.py"),
    meeting("sharing", "e2e/sharing_test.py"),
    meeting("trials", "e2e/trial_test.py"),
    meeting("pictures", "e2e/graph_test.py"),
    meeting("machine files", "e2e/machine_file_test.py"),
    meeting("machine trials", "e2e/machine_run_test.py"),
    meeting("Step Functions", "e2e/stepfunctions_test.py"),
    meeting("client", "e2e/client_test.py"),
    meeting("operations", "e2e/operations_test.py"),
    meeting("broker sources and sinks", "e2e/broker_test.py"),
    meeting("several processes", "e2e/cluster_test.py"),
    meeting("deployment", "e2e/deploy_test.py"),
    meeting("faults", "faults/faults_test.py"),
    meeting("CloudEvents", "conformance/cloudevents_test.py"),
    meeting("JSONPath", "conformance/jsonpath_test.py"),
    meeting("CESQL", "conformance/cesql_test.py"),
    meeting("state machines", "conformance/asl_test.py"),
    meeting("TestState", "conformance/asl_state_test.py"),
    meeting("workloads", "conformance/wfcommons_test.py"),
    unit("unit", "dev"),
    unit("threads", "tsan"),
    Step("fuzzers", "tools/fuzz.sh 2", build="cmake --build --preset dev --target fuzzers"),
    Step("simulation", "make --no-print-directory simulate SEEDS=2000", needs="tests/simulation"),
    Step("crash", "make --no-print-directory crash CYCLES=160", needs="tests/crash"),
]


class Builds:
    """Compiles in the order of the steps, one at a time, behind whatever runs."""

    def __init__(self, steps):
        self.lane = concurrent.futures.ThreadPoolExecutor(1)
        self.done = {step.name: self.lane.submit(self.compile, step) for step in steps if step.build}

    def compile(self, step):
        began = time.monotonic()
        done = subprocess.run(["nice", "-n", "19", "bash", "-o", "pipefail", "-c", step.build], cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        text = done.stdout if done.returncode else "\n".join(done.stdout.splitlines()[-1:])
        print(f"\n=== compiled for {step.name} in {time.monotonic() - began:.1f} s\n{text}", flush=True)
        return done.returncode == 0

    def wait(self, step):
        return step.name not in self.done or self.done[step.name].result()

    def cancel(self):
        self.lane.shutdown(wait=False, cancel_futures=True)


@dataclasses.dataclass
class Outcome:
    step: Step
    seconds: float = 0
    passed: int = 0
    failed: int = 0
    is_left_out: bool = False


def run(step, builds):
    if step.needs and not (ROOT / step.needs).is_dir():
        return Outcome(step, is_left_out=True)
    if not builds.wait(step):
        return Outcome(step, failed=1)
    started = time.monotonic()
    if step.is_beside_others:
        done = subprocess.run(["bash", "-c", step.command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(f"\n=== {step.name}\n{done.stdout}", flush=True)
    else:
        print(f"\n=== {step.name}", flush=True)
        done = subprocess.run(["bash", "-o", "pipefail", "-c", step.command], cwd=ROOT)
    is_success = done.returncode == 0
    passed, failed = count(RESULTS / step.results) if step.results else (0, 0)
    if not is_success and failed == 0:
        failed = 1
    elif is_success and passed == 0 and not step.results:
        passed = 1
    return Outcome(step, time.monotonic() - started, passed, failed)


def run_all(steps):
    builds = Builds(steps)
    outcomes = []
    try:
        for is_beside, neighbours in itertools.groupby(steps, lambda step: step.is_beside_others):
            with concurrent.futures.ThreadPoolExecutor(3 if is_beside else 1) as threads:
                outcomes += threads.map(run, neighbours, itertools.repeat(builds))
    finally:
        builds.cancel()
    return outcomes


def count(folder):
    """GoogleTest's own cases; of a program that left no report, because it crashed or is no GoogleTest, the program."""
    passed = failed = 0
    programs = {path.stem for path in folder.glob("*.xml")}
    for path in folder.glob("*.xml"):
        cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
        if path.stem == "ctest":
            cases = [case for case in cases if case.get("name") not in programs]
        for case in cases:
            if case.find("failure") is not None or case.get("status") == "fail":
                failed += 1
            elif case.find("skipped") is None and case.get("status") not in ("notrun", "disabled"):
                passed += 1
    return passed, failed


def report(outcomes):
    print("\n=== summary")
    for outcome in outcomes:
        if outcome.is_left_out:
            print(f"      -     left out: there is no {outcome.step.needs}: {outcome.step.name}")
        else:
            verdict = "ok    " if outcome.failed == 0 else "FAILED"
            print(f"{outcome.seconds:7.1f} s  {verdict}  {outcome.step.name}")
    failed = sum(outcome.failed for outcome in outcomes)
    print(f"{sum(outcome.passed for outcome in outcomes)} passed, {failed} failed")
    return failed


def main():
    chosen = [step for step in STEPS if not sys.argv[1:] or step.name in sys.argv[1:]]
    if not chosen:
        sys.exit("test.py: no such step; there are: " + "; ".join(step.name for step in STEPS))
    sys.exit(1 if report(run_all(chosen)) else 0)


if __name__ == "__main__":
    main()
