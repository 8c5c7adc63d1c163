"""A steady load whose outcome is known: runs that count their events, and runs that start others on other shards."""
import threading
import time

from system import Failed, ask

COUNT = 10
BATCH = 4
PAUSE = 0.1
SETTLE_MAX = 60
BATCHES = {"Content-Type": "application/cloudevents-batch+json"}

TALLY = f"""
name: tally
context: {{seen: 0, fired: 0}}
triggers:
  - {{id: each, on: item, lifetime: persistent, action: {{set: {{run: {{seen: "${{run.context.seen + 1}}"}}}}}}}}
  - id: joined
    on: item
    condition: {{count: {COUNT}}}
    lifetime: persistent
    action: {{set: {{run: {{fired: "${{run.context.fired + 1}}"}}}}}}
  - {{id: close, on: close, action: {{finish: {{result: ["${{run.context.seen}}", "${{run.context.fired}}"]}}}}}}
"""
CHILD = """
name: child
tasks:
  first: {call: echo, input: {x: 1}}
  each: {after: first, map: {over: "${[1, 2, 3]}", call: echo, input: {item: "${item}"}}}
"""
PARENT = """
name: parent
tasks:
  left: {subworkflow: child, id: "left-${run.id}"}
  right: {subworkflow: child, id: "right-${run.id}"}
"""


def deploy(system, *definitions):
    for definition in definitions:
        status, answer = ask(system.gateway, "POST", "/v1/definitions", definition.encode(), {"Content-Type": "application/yaml"})
        if status not in (200, 201):
            raise Failed(f"a definition was not taken: {status} {answer}")


class Load:
    """Runs under load from `start` to `finish`, which holds them to what was sent."""

    def __init__(self, system, name, runs=16, threads=4):
        self.system = system
        self.runs = [f"{name}-{number}" for number in range(runs)]
        self.name = name
        self.sent = dict.fromkeys(self.runs, 0)
        self.parents = []
        self.repeated = 0
        self.is_over = threading.Event()
        self.errors = []
        self.threads = [threading.Thread(target=self.guard, args=(self.feed, self.runs[at::threads])) for at in range(threads)]
        self.threads.append(threading.Thread(target=self.guard, args=(self.beget,)))

    def start(self):
        for run in self.runs:
            self.insist("POST", "/v1/runs", {"definition": "tally", "id": run})
        for thread in self.threads:
            thread.start()
        self.system.wait_until(lambda: all(self.taken(run) > 0 for run in self.runs), "every run has its first events")

    def stop(self):
        self.is_over.set()
        for thread in self.threads:
            if thread.ident:
                thread.join()

    def guard(self, work, *arguments):
        try:
            work(*arguments)
        except Failed as error:
            self.errors.append(str(error))

    def insist(self, method, path, body, headers=None):
        """Whatever is asked, until somebody takes it: all of it may be repeated."""
        until = time.monotonic() + SETTLE_MAX
        while True:
            status, answer = ask(self.system.gateway, method, path, body, headers)
            if 200 <= status < 300:
                return answer
            if 400 <= status < 500 or time.monotonic() > until:
                raise Failed(f"{method} {path}: {status} {answer}")
            self.repeated += 1
            threading.Event().wait(0.05)

    def feed(self, runs):
        while not self.is_over.is_set():
            for run in runs:
                self.send(run, "item", range(self.sent[run], self.sent[run] + BATCH))
                self.sent[run] += BATCH
            self.is_over.wait(PAUSE)

    def send(self, run, kind, numbers):
        events = [{"specversion": "1.0", "id": f"{kind}-{number}", "source": "/faults", "type": kind, "run": run} for number in numbers]
        self.insist("POST", "/events", events, BATCHES)

    def beget(self):
        while not self.is_over.wait(PAUSE * 5):
            run = f"{self.name}-parent-{len(self.parents)}"
            self.insist("POST", "/v1/runs", {"definition": "parent", "id": run})
            self.parents.append(run)

    def counts(self, run):
        status, answer = ask(self.system.gateway, "GET", f"/v1/runs/{run}", timeout=5)
        return answer["counts"] if status == 200 else {"events": 1, "duplicates": 0, "fired": 0}

    def taken(self, run):
        """Events from outside that its state has."""
        counts = self.counts(run)
        return counts["events"] - counts["duplicates"] - 1

    def progress(self, since):
        """Seconds from then until one run has got further, until every run has, and until runs are started again as well."""
        before = {run: self.sent[run] for run in self.runs}
        begun = len(self.parents)
        left, first = set(self.runs), []

        def is_further():
            for run in sorted(left):
                if self.taken(run) > before[run]:
                    left.discard(run)
                    first.append(time.monotonic() - since)
            # The one that was being started when the fault came, and one behind it.
            return not left and len(self.parents) > begun + 1
        try:
            self.system.wait_until(is_further, "every run gets further")
        except Failed as error:
            raise Failed(f"{len(left)} runs get no further: {sorted(left)}; {len(self.parents) - begun} were started; {self.errors}: {error}") from None
        return first[0], first[-1], time.monotonic() - since

    def finish(self):
        """All that was sent is there, once, and nothing else."""
        self.stop()
        if self.errors:
            raise Failed(self.errors[0] + "\n" + self.system.told())
        for run in self.runs:
            self.system.wait_until(lambda: self.taken(run) >= self.sent[run],
                                   f"{run} has its {self.sent[run]} events: {self.counts(run)}", SETTLE_MAX)
            self.send(run, "close", [0])
        events = 0
        for run in self.runs:
            ended = self.ended(run)
            expected = [self.sent[run], self.sent[run] // COUNT]
            if (ended["status"], ended.get("result")) != ("succeeded", expected):
                raise Failed(f"{run} should have seen and fired {expected}: {ended}")
            events += self.sent[run]
            self.check_replay(run)
        for run in self.parents:
            for each in (run, f"left-{run}", f"right-{run}"):
                ended = self.ended(each)
                if ended["status"] != "succeeded":
                    raise Failed(f"{each}: {ended}")
            self.check_replay(run)
        return events

    def ended(self, run):
        found = {}

        def has_ended():
            status, found["run"] = ask(self.system.gateway, "GET", f"/v1/runs/{run}")
            return status == 200 and found["run"]["status"] not in ("running", "queued")
        try:
            self.system.wait_until(has_ended, f"{run} has ended", SETTLE_MAX)
        except Failed as error:
            family = {each: ask(self.system.gateway, "GET", f"/v1/runs/{each}/why") for each in (run, f"left-{run}", f"right-{run}")}
            raise Failed(f"{error}\n{found['run']}\n{family}") from None
        return found["run"]

    def check_replay(self, run):
        report = self.insist("GET", f"/v1/runs/{run}/replay", None)
        if not report["same"]:
            raise Failed(f"{run} does not replay: {report}")
