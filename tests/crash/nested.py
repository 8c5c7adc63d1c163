"""Runs within runs, messages between them and timers: each end, each message and each occurrence is taken once."""
import collections
import json

from world import OK, World

INNER_EACH, MESSAGES, ROUNDS_MAX = 4, 3, 5

DEFINITION = """
name: nested
context: {ended: 0, messages: 0, sum: 0, ticks: 0}
triggers:
  - id: round
    on: [sluice.run.started, {type: sluice.timer.fired, subject: next}]
    lifetime: persistent
    action:
      - start:
          definition: inner
          each: INNER_EACH
          input: {number: "${index}", outer: "${run.id}"}
          spread: SPREAD
      - schedule: {timer: tick, every: 7ms, type: tick}
  - id: tick
    on: tick
    lifetime: persistent
    action:
      set: {run: {ticks: "${run.context.ticks + 1}"}}
  - id: message
    on: message
    lifetime: persistent
    action:
      set: {run: {messages: "${run.context.messages + 1}"}}
  - id: ended
    on: {type: sluice.run.succeeded, subject: inner}
    lifetime: persistent
    action:
      set: {run: {ended: "${run.context.ended + 1}", sum: "${run.context.sum + data.result}"}}
  - id: join
    on: {type: sluice.run.succeeded, subject: inner}
    condition: {count: INNER_EACH}
    lifetime: persistent
    action:
      schedule: {timer: next, after: 10ms}
  - id: done
    on: [message, {type: sluice.run.succeeded, subject: inner}]
    condition: {expression: "run.context.ended == ENDED && run.context.messages == ENDED * MESSAGES"}
    action:
      finish: {result: "${run.context}"}
definitions:
  inner:
    triggers:
      - id: begin
        on: sluice.run.started
        action:
          - emit: {type: message, each: MESSAGES, data: "${index}", to: {run: "${run.input.outer}"}}
          - schedule: {timer: pause, after: "${run.input.number % 2 == 0 ? '1ms' : '30ms'}"}
      - id: paused
        on: {type: sluice.timer.fired, subject: pause}
        action:
          invoke: {function: sleep, input: {duration: 5ms, value: "${run.input.number}"}}
      - id: rested
        on: {type: sluice.task.succeeded, subject: sleep}
        action:
          finish: {result: "${data.result * data.result}"}
"""


class Nested(World):
    """Runs one after the other, each killed until it has come to its end."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.rounds = self.choices.randint(1, ROUNDS_MAX)
        self.file = self.folder / "nested.yaml"
        text = DEFINITION
        for name, value in {"INNER_EACH": INNER_EACH, "ENDED": INNER_EACH * self.rounds, "MESSAGES": MESSAGES,
                            "SPREAD": self.choices.choice(["true", "false"])}.items():
            text = text.replace(name, str(value))
        self.file.write_text(text)
        self.ended = 0

    def run(self):
        return f"nested-{self.ended}"

    def cycle(self):
        _, code = self.kill_under_load(self.file, self.run())
        self.ended += code == OK

    def complete(self):
        self.run_to_end(self.file, self.run())
        self.ended += 1

    def check(self):
        runs = self.check_any()
        for number in range(self.ended):
            self.check_run(f"nested-{number}")
        self.expect("runs", len(runs), self.ended * (1 + INNER_EACH * self.rounds))

    def check_run(self, run):
        ended = INNER_EACH * self.rounds
        history = self.history(run)
        taken = collections.Counter(entry["json"]["type"] for entry in history if entry["fate"] == "fired")
        expected = {"ended": ended, "messages": ended * MESSAGES, "ticks": taken["tick"],
                    "sum": sum(number * number for number in range(INNER_EACH)) * self.rounds}
        shown = json.loads(self.ask("show", run, "--json"))
        self.expect(f"the result of {run}", shown.get("result"), expected)
        self.expect(f"ends that {run} took", taken["sluice.run.succeeded"], ended)
        self.expect(f"messages that {run} took", taken["message"], ended * MESSAGES)
