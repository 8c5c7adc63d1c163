#!/usr/bin/env python3
"""Builds and runs all tests and checks, says how long each took, and how many passed.

usage: test.py [STEP…]       all steps, in their order, when none is named

A step that fails does not keep the others from running. The steps and their commands are the list STEPS.
"""
import dataclasses
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
    command: str
    needs: str = ""       # A path of the tree: the step is left out, and says so, while it does not exist.
    results: str = ""     # A folder of JUnit files in build/results, to count single tests instead of the step.


def ctest(preset):
    """The unit tests under a preset's sanitizers: dev has address and undefined behaviour, tsan the threaded tests."""
    report = RESULTS / preset
    return (f"rm -rf {report} && cmake --preset {preset} >/dev/null && cmake --build --preset {preset} && "
            f"GTEST_OUTPUT=xml:{report}/ ctest --preset {preset} --parallel {os.cpu_count()} "
            f"--output-junit {report}/ctest.xml --no-tests=ignore")


STEPS = [
    Step("checks", "make -k --no-print-directory check"),
    Step("program", "make --no-print-directory build"),
    Step("commands", "python3 tests/e2e/cli_test.py build/release/bin/sluice"),
    Step("bad input", "python3 tests/e2e/bad_input_test.py build/release/bin/sluice"),
    Step("server", "python3 tests/e2e/serve_test.py build/release/bin/sluice"),
    Step("server killed", "python3 tests/e2e/serve_crash_test.py build/release/bin/sluice"),
    Step("API", "python3 tests/e2e/api_test.py build/release/bin/sluice"),
    Step("OpenAPI", "python3 tests/e2e/openapi_test.py build/release/bin/sluice"),
    Step("access", "python3 tests/e2e/access_test.py build/release/bin/sluice"),
    Step("hostile", "python3 tests/e2e/hostile_test.py build/release/bin/sluice"),
    Step("functions", "python3 tests/e2e/function_test.py build/release/bin/sluice"),
    Step("limits", "python3 tests/e2e/limits_test.py build/release/bin/sluice"),
    Step("routes", "python3 tests/e2e/route_test.py build/release/bin/sluice"),
    Step("client", "python3 tests/e2e/client_test.py build/release/bin/sluice"),
    Step("CloudEvents", "python3 tests/conformance/cloudevents_test.py build/release/bin/sluice"),
    Step("unit", ctest("dev"), results="dev"),
    Step("threads", ctest("tsan"), results="tsan"),
    Step("fuzzers", "tools/fuzz.sh 5"),
    Step("simulation", "make --no-print-directory simulate SEEDS=2000", needs="tests/simulation"),
    Step("crash", "make --no-print-directory crash CYCLES=160", needs="tests/crash"),
]


@dataclasses.dataclass
class Outcome:
    step: Step
    seconds: float = 0
    passed: int = 0
    failed: int = 0
    is_left_out: bool = False


def run(step):
    if step.needs and not (ROOT / step.needs).is_dir():
        return Outcome(step, is_left_out=True)
    print(f"\n=== {step.name}", flush=True)
    started = time.monotonic()
    is_success = subprocess.run(["bash", "-o", "pipefail", "-c", step.command], cwd=ROOT).returncode == 0
    passed, failed = count(RESULTS / step.results) if step.results else (0, 0)
    if not is_success and failed == 0:
        failed = 1
    elif is_success and passed == 0 and not step.results:
        passed = 1
    return Outcome(step, time.monotonic() - started, passed, failed)


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
    sys.exit(1 if report([run(step) for step in chosen]) else 0)


if __name__ == "__main__":
    main()
