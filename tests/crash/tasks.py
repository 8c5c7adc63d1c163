"""Commands, retries and timers: each call is made at least once, with one key, and its answer is counted once."""
import collections
import json

from world import OK, World

MARKS_EACH, SHAKY_EACH, ROUNDS_MAX = 6, 3, 4
PER_ROUND = MARKS_EACH + SHAKY_EACH + 1

# A call leaves a line with its key, so that every call is seen; a shaky one fails when it is called for the first time.
DEFINITION = """
name: tasks
context: {done: 0, failed: 0, rounds: 0}
functions:
  mark:
    command: 'echo "$SLUICE_TASK" >> "MARKS"; cat'
    concurrency: 4
  slow:
    command: 'echo "$SLUICE_TASK" >> "MARKS"; sleep 0.0$(cat); echo 1'
  shaky:
    command: 'echo "$SLUICE_TASK" >> "MARKS"; [ "$(grep -cFx "$SLUICE_TASK" "MARKS")" -gt 1 ] || exit 9; echo 1'
    retry: {attempts: 4, interval: 10ms, jitter: 1}
  hopeless:
    command: 'echo "$SLUICE_TASK" >> "MARKS"; exit 7'
    retry: {attempts: 2, interval: 5ms}
triggers:
  - id: round
    on: [sluice.run.started, {type: sluice.timer.fired, subject: next}]
    lifetime: persistent
    action:
      - set: {run: {rounds: "${run.context.rounds + 1}"}}
      - invoke: {function: "${index % 2 == 0 ? 'mark' : 'slow'}", each: MARKS_EACH, input: "${index}", subject: work}
      - invoke: {function: shaky, each: SHAKY_EACH, subject: work}
      - invoke: {function: hopeless}
  - id: succeeded
    on: {type: sluice.task.succeeded, subject: work}
    lifetime: persistent
    action:
      set: {run: {done: "${run.context.done + 1}"}}
  - id: failed
    on: {type: sluice.task.failed, subject: hopeless}
    lifetime: persistent
    action:
      set: {run: {failed: "${run.context.failed + 1}"}}
  - id: join
    on: [sluice.task.succeeded, sluice.task.failed]
    condition: {count: PER_ROUND}
    lifetime: persistent
    action:
      schedule: {timer: next, after: 20ms}
  - id: done
    on: [sluice.task.succeeded, sluice.task.failed]
    condition: {count: ALL}
    action:
      finish: {result: "${run.context}"}
"""


class Tasks(World):
    """Runs one after the other, each killed until it has come to its end."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.rounds = self.choices.randint(1, ROUNDS_MAX)
        self.marks = self.folder / "marks"
        self.marks.touch()
        self.file = self.folder / "tasks.yaml"
        values = {"MARKS_EACH": MARKS_EACH, "SHAKY_EACH": SHAKY_EACH, "PER_ROUND": PER_ROUND, "ALL": PER_ROUND * self.rounds,
                  "MARKS": self.marks}
        text = DEFINITION
        for name, value in values.items():
            text = text.replace(name, str(value))
        self.file.write_text(text)
        self.ended = 0

    def run(self):
        return f"tasks-{self.ended}"

    def cycle(self):
        _, code = self.kill_under_load(self.file, self.run())
        self.ended += code == OK

    def complete(self):
        self.run_to_end(self.file, self.run())
        self.ended += 1

    def check(self):
        calls = collections.Counter(self.marks.read_text().split())
        self.figures.calls += sum(calls.values())
        for number in range(self.ended):
            run = f"tasks-{number}"
            self.check_run(run, {key for key in calls if key.startswith(run + "/")})
        self.check_any()

    def check_run(self, run, called):
        expected = {"done": (MARKS_EACH + SHAKY_EACH) * self.rounds, "failed": self.rounds, "rounds": self.rounds}
        shown = json.loads(self.ask("show", run, "--json"))
        self.expect(f"the result of {run}", shown.get("result"), expected)
        history = self.history(run)
        opened = collections.Counter(key_of(run, change["key"]) for entry in history for change in entry["changes"]
                                     if change["change"] == "task opened")
        answered = collections.Counter(entry["json"]["data"]["task"] for entry in history
                                       if entry["origin"] == "task" and entry["fate"] not in ("late", "retried"))
        self.expect(f"tasks of {run}", len(opened), PER_ROUND * self.rounds)
        self.expect(f"tasks of {run} that were opened twice", [key for key, times in opened.items() if times > 1], [])
        self.expect(f"calls of {run}", called ^ opened.keys(), set())
        self.expect(f"answers of {run} that were counted", answered, opened)


def key_of(run, key):
    return f"{run}/{key['fire']}/{key['index']}"
