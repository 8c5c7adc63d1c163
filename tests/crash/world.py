"""A program that is killed again and again, and what it leaves behind."""
import dataclasses
import json
import os
import pathlib
import random
import signal
import subprocess
import time

OK, NOT_FOUND, WAITING = 0, 3, 5
COMMAND_SECONDS_MAX = 120
REPLAYS_MAX = 6
LIMIT = 10_000_000


class Broken(Exception):
    """A promise that was not kept."""


@dataclasses.dataclass
class Figures:
    cycles: int = 0
    kills: int = 0
    acknowledged: int = 0
    taken: int = 0
    calls: int = 0
    runs: int = 0
    replayed: int = 0

    def __iadd__(self, other):
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))
        return self


class World:
    """One data directory, the runs in it, and one workload.

    A workload says how a process is started and fed, what its progress means, how it comes to its end, and what must hold then.
    """

    kill_seconds = (0.005, 0.150)

    def __init__(self, program: str, folder: pathlib.Path, choices: random.Random):
        self.program = program
        self.folder = folder
        self.choices = choices
        self.data = folder / "data"
        self.figures = Figures()
        self.generation = 0
        self.is_made = False

    def cycle(self):
        raise NotImplementedError

    def complete(self):
        raise NotImplementedError

    def check(self):
        raise NotImplementedError

    # What the program is asked, and how it is killed.

    def run_arguments(self, file, run, *arguments):
        durability = self.choices.choice(["strict", "strict", "relaxed"])
        threads = self.choices.randint(1, 3)
        return [self.program, "run", str(file), "--data", str(self.data), "--run", run, "--json", "--durability", durability,
                "--threads", str(threads), *map(str, arguments)]

    def kill_under_load(self, file, run, *arguments, lines=b"", ends=(OK,), is_at_start=False):
        """Starts the program, feeds it lines and kills it; the progress that it told, and its exit code if it was faster.

        Progress goes to a file, so that what was told before the kill is there after it, to the last byte.
        """
        self.generation += 1
        told = self.folder / f"told.{self.generation}"
        with told.open("wb") as errors:
            process = subprocess.Popen(self.run_arguments(file, run, *arguments), stdin=subprocess.PIPE,
                                       stdout=subprocess.DEVNULL, stderr=errors, env=self.environment())
            self.feed_and_kill(process, told, lines, is_at_start)
        code = process.returncode
        self.figures.cycles += 1
        self.figures.kills += code == -signal.SIGKILL
        if code not in (-signal.SIGKILL, *ends):
            raise Broken(f"the program ended by itself with {code}:\n{tail(told.read_text())}")
        progress = self.progress_in(told.read_bytes())
        told.unlink()
        self.is_made = self.is_made or bool(progress)
        if self.choices.random() < 0.2:
            self.look()
        return progress, code

    def feed_and_kill(self, process, told, lines, is_at_start):
        """At a moment after its start, or after it has told something."""
        seconds = self.choices.uniform(*self.kill_seconds)
        deadline = time.monotonic() + seconds
        is_for_told = not is_at_start and self.choices.random() < 0.6
        os.set_blocking(process.stdin.fileno(), False)
        try:
            while process.poll() is None and (is_for_told or time.monotonic() < deadline):
                lines = lines[self.write_some(process.stdin.fileno(), lines):]
                time.sleep(self.choices.choice([0, 0.001, 0.003]) if lines else 0.001)
                if is_for_told and told.stat().st_size > 0:
                    deadline, is_for_told = time.monotonic() + seconds, False
                if time.monotonic() > deadline + COMMAND_SECONDS_MAX:
                    raise Broken(f"nothing was told within {COMMAND_SECONDS_MAX} s")
        finally:
            process.kill()
            process.wait()
            process.stdin.close()

    def write_some(self, descriptor, lines):
        try:
            return os.write(descriptor, lines[:self.choices.choice([100, 2_000, 60_000])]) if lines else 0
        except (BlockingIOError, BrokenPipeError):
            return 0

    def environment(self):
        return {**os.environ, "TMPDIR": str(self.folder)}

    def run_to_end(self, file, run, *arguments, lines=b"", code=OK):
        """Not killed: the progress and what it printed."""
        done = subprocess.run(self.run_arguments(file, run, *arguments), input=lines, capture_output=True, check=False,
                              timeout=COMMAND_SECONDS_MAX, env=self.environment())
        if done.returncode != code:
            raise Broken(f"{run} ended with {done.returncode}, expected {code}:\n{tail(done.stderr.decode())}")
        return self.progress_in(done.stderr), done.stdout

    @staticmethod
    def progress_in(told):
        """What was told in whole lines."""
        progress = []
        for line in told.split(b"\n")[:-1]:
            if not line.startswith(b"{"):
                continue
            one = json.loads(line)
            if one.get("kind") in ("refused", "error", "fault"):
                raise Broken(f"the program told {one}")
            progress.append(one)
        return progress

    def ask(self, *arguments, codes=(OK,)):
        done = subprocess.run([self.program, *map(str, arguments), "--data", str(self.data)], capture_output=True, text=True,
                              timeout=COMMAND_SECONDS_MAX, check=False)
        if done.returncode not in codes:
            raise Broken(f"{' '.join(map(str, arguments))} ended with {done.returncode}:\n{tail(done.stdout + done.stderr)}")
        return done.stdout

    def look(self):
        """What a crash left can be read and is sound, before anything was mended; at the very first there may be no store yet."""
        codes = (OK,) if self.is_made else (OK, NOT_FOUND)
        self.ask("store", "check", codes=codes)
        self.ask("show", codes=codes)

    # What is there afterwards.

    def history(self, run):
        return [json.loads(line) for line in self.ask("show", run, "--history", "--json", "--limit", LIMIT).splitlines()]

    def fired(self, run):
        """How often each trigger of a run that has not ended has fired, by the state that is stored."""
        triggers = json.loads(self.ask("show", run, "--triggers", "--json"))
        return {one["trigger"]["id"]: sum(state["fired"] for state in one["states"]) for one in triggers}

    def check_any(self):
        """What must hold for every data directory: it is sound, and its runs decide the same again."""
        self.ask("store", "check")
        runs = [run["run"] for run in json.loads(self.ask("show", "--json", "--limit", LIMIT))["runs"]]
        for run in self.choices.sample(runs, min(len(runs), REPLAYS_MAX)):
            self.ask("replay", run)
            self.figures.replayed += 1
        self.figures.runs += len(runs)
        return runs

    @staticmethod
    def expect(what, found, expected):
        if found != expected:
            raise Broken(f"{what}: found {found}, expected {expected}")


def tail(text, lines=20):
    return "\n".join(text.splitlines()[-lines:])



def some(items, most=20):
    """Items in their order, few enough to be read."""
    items = sorted(items)
    return f"{items[:most]}" + (f" and {len(items) - most} more" if len(items) > most else "")
