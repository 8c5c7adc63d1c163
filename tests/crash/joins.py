"""Events from outside: each that was acknowledged is there, once, and the joins have counted every one of them once."""
import collections
import json

from world import WAITING, Broken, World, some

RUN = "joins"
LARGE_BYTES = 50_000


def definition(subjects, count):
    joins = "".join(f"""
  - id: join-{subject}
    on: {{type: item, subject: "{subject}"}}
    condition: {{count: {count}}}
    lifetime: persistent
    action:
      - set: {{run: {{joined: "${{run.context.joined + 1}}"}}}}
      - emit: {{type: joined, subject: "{subject}"}}""" for subject in range(subjects))
    return f"""
name: joins
context: {{joined: 0}}
triggers:{joins}
  - {{id: emitted, on: joined, lifetime: persistent}}
  # Its events wait until the end: each of them must still be there then.
  - {{id: early, on: early, lifetime: persistent, enabled: false}}
  - {{id: open, on: open, action: {{enable: early}}}}
"""


class Joins(World):
    """A stream whose sender sends again what was not acknowledged, and some of what was."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.subjects = self.choices.randint(1, 8)
        self.count = self.choices.randint(2, 9)
        self.file = self.folder / "joins.yaml"
        self.file.write_text(definition(self.subjects, self.count))
        self.sent = {}
        self.acknowledged = set()

    def fresh(self):
        """Some events, by their id."""
        fresh = {}
        for _ in range(self.choices.choice([5, 50, 400])):
            number = len(self.sent) + len(fresh)
            event = {"specversion": "1.0", "id": f"e{number}", "source": "crash", "type": "item",
                     "subject": str(self.choices.randrange(self.subjects))}
            if self.choices.random() < 0.1:
                event["type"] = "early"
            if self.choices.random() < 0.005:
                event["data"] = "x" * self.choices.randint(1, LARGE_BYTES)
            fresh[event["id"]] = event
        return fresh

    def cycle(self):
        self.sent |= self.fresh()
        ids = [one for one in self.sent if one not in self.acknowledged]
        again = sorted(self.acknowledged)
        ids += self.choices.sample(again, min(len(again), 20))
        ids += self.choices.choices(ids, k=len(ids) // 10)
        self.choices.shuffle(ids)
        progress, _ = self.kill_under_load(self.file, RUN, "--events", "-", lines=self.lines(ids))
        self.take(progress)

    def lines(self, ids):
        return "".join(json.dumps(self.sent[one]) + "\n" for one in ids).encode()

    def take(self, progress):
        for one in progress:
            if one["kind"] != "accepted":
                continue
            if one["id"] in self.acknowledged and one["fate"] != "duplicate":
                raise Broken(f"event {one['id']} had been acknowledged, and was taken again: {one}")
            self.acknowledged.add(one["id"])

    def complete(self):
        ids = [one for one in self.sent if one not in self.acknowledged]
        self.sent["open"] = {"specversion": "1.0", "id": "open", "source": "crash", "type": "open"}
        progress, _ = self.run_to_end(self.file, RUN, "--events", "-", lines=self.lines([*ids, "open"]), code=WAITING)
        self.take(progress)
        self.expect("events never acknowledged", sorted(self.sent.keys() - self.acknowledged), [])

    def check(self):
        history = self.history(RUN)
        self.check_events(history)
        self.check_fires(history)
        self.check_any()

    def check_events(self, history):
        taken = collections.Counter(entry["json"]["id"] for entry in history
                                    if entry["origin"] == "outside" and entry["fate"] != "duplicate")
        lost = self.acknowledged - taken.keys()
        doubled = [one for one, times in taken.items() if times > 1]
        unknown = taken.keys() - self.sent.keys()
        if lost or doubled or unknown:
            raise Broken(f"lost: {some(lost)}; doubled: {some(doubled)}; never sent: {some(unknown)}")
        self.figures.acknowledged += len(self.acknowledged)
        self.figures.taken += len(taken)

    def check_fires(self, history):
        by_subject = collections.Counter(one["subject"] for one in self.sent.values() if one["type"] == "item")
        early = sum(one["type"] == "early" for one in self.sent.values())
        expected = {f"join-{subject}": by_subject[str(subject)] // self.count for subject in range(self.subjects)}
        joined = sum(expected.values())
        fired = self.fired(RUN)
        self.expect("fires of the joins", {name: fired[name] for name in expected}, expected)
        self.expect("fires on what the joins emitted", fired["emitted"], joined)
        self.expect("fires on events that waited", fired["early"], early)
        contexts = json.loads(self.ask("show", RUN, "--contexts", "--json"))
        self.expect("what the run counted", contexts["run"], {"joined": joined})
        changes = collections.Counter(change["change"] for entry in history for change in entry["changes"])
        self.expect("fires in the history", changes["fired"], sum(fired.values()))


class Lines(Joins):
    """A file that grows and is continued where the program was: no line is taken twice, not even as a duplicate."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.events = self.folder / "events.jsonl"
        self.events.touch()

    def append(self, events):
        self.sent |= events
        with self.events.open("ab") as file:
            file.write(self.lines(events))

    def cycle(self):
        self.append(self.fresh())
        progress, _ = self.kill_under_load(self.file, RUN, "--events", self.events, ends=(WAITING,))
        self.take(progress)

    def take(self, progress):
        self.acknowledged.update(one["id"] for one in progress if one["kind"] == "accepted")

    def complete(self):
        self.append({"open": {"specversion": "1.0", "id": "open", "source": "crash", "type": "open"}})
        progress, _ = self.run_to_end(self.file, RUN, "--events", self.events, code=WAITING)
        self.take(progress)

    def check_events(self, history):
        super().check_events(history)
        outside = [entry["json"]["id"] for entry in history if entry["origin"] == "outside"]
        self.expect("the lines, in their order", outside, list(self.sent))
