#!/usr/bin/env python3
"""Kills the program at random moments under load, starts it again, and checks that nothing was lost or done twice.

usage: crash_test.py [--program PROGRAM] [--cycles N] [--seed SEED] [--data FOLDER] [--large]
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from births import Births
from flows import Flows
from graphs import Graphs, LargeGraphs
from joins import Joins, Lines
from machines import Machines
from nested import Nested
from queues import Queues
from tasks import Tasks
from world import Broken, Figures

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORLDS = [Joins, Tasks, Lines, Nested, Flows, Graphs, Queues, Machines, Births]
SERIES_CYCLES_MAX = 10
SERIES_AT_ONCE = 2


def play(world_type, program, folder, seed, cycles):
    """One series: the figures, or what is broken."""
    folder.mkdir(parents=True)
    world = world_type(program, folder, random.Random(seed))
    step = "start"
    try:
        for number in range(cycles):
            step = f"cycle {number + 1} of {cycles}"
            world.cycle()
        step = "the end without a kill"
        world.complete()
        step = "the checks"
        world.check()
    except (Broken, KeyError, ValueError, subprocess.TimeoutExpired) as error:
        return world.figures, f"{world_type.__name__}, seed {seed}, {step}, data in {folder}:\n{type(error).__name__}: {error}"
    return world.figures, None


def play_all(options, folder):
    """All series, two at a time; ends early at the first that is broken."""
    worlds = [LargeGraphs] if options.large else WORLDS
    figures, broken = Figures(), []
    most = max(1, min(SERIES_CYCLES_MAX, options.cycles // len(worlds)))
    count = -(-options.cycles // most)
    with concurrent.futures.ThreadPoolExecutor(SERIES_AT_ONCE) as pool:
        def begin(number):
            if broken:
                return
            series = folder / f"series-{number}"
            cycles = min(most, options.cycles - number * most)
            found, error = play(worlds[number % len(worlds)], options.program, series, f"{options.seed}.{number}", cycles)
            nonlocal figures
            figures += found
            if error:
                broken.append(error)
            elif not options.data:
                shutil.rmtree(series, ignore_errors=True)
        for future in [pool.submit(begin, number) for number in range(count)]:
            future.result()
    return figures, broken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.environ.get("SLUICE", str(ROOT / "build/release/bin/sluice")))
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--data", help="a folder for the data directories, which are then kept")
    parser.add_argument("--large", action="store_true", help="graphs of many tasks, and nothing else")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    folder = pathlib.Path(options.data or tempfile.mkdtemp(prefix="crash-")).absolute()
    print(f"crash: {options.cycles} cycles, seed {options.seed}", flush=True)

    began = time.monotonic()
    figures, broken = play_all(options, folder)
    for error in broken:
        print(f"\nFAILED: {error}", file=sys.stderr)
    print(f"crash: {figures.cycles} cycles with {figures.kills} kills in {time.monotonic() - began:.1f} s: "
          f"{figures.acknowledged} events acknowledged, {figures.taken} taken, {figures.calls} calls, "
          f"{figures.runs} runs, {figures.replayed} replayed: {'FAILED' if broken else 'ok'}")
    if not broken and not options.data:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
