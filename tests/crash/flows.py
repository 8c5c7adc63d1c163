"""Definitions of tasks with maps, bodies, retries and branches: the result is the same, and each answer is taken once."""
import collections
import json

from world import OK, World

ITEMS_MAX, MANY_MAX, LARGE = 8, 3_000, 300_000

DEFINITION = """
name: flow
functions:
  large: {command: [sh, -c, "printf '%0LARGEd' 0 | sed 's/.*/\\"&\\"/'"]}
  length: {command: "wc -c"}
tasks:
  large: {call: large}
  length: {call: length, input: "${tasks.large.result}"}
  list: {call: echo, input: ITEMS}
  each: {map: {over: "${tasks.list.result}", call: sleep, input: {duration: 10ms, value: "${item}"}, concurrency: CONCURRENCY}}
  body:
    map:
      over: ${tasks.list.result}
      concurrency: CONCURRENCY
      tasks:
        a: {call: sleep, input: {duration: 15ms, value: "${item}"}}
        b: {call: echo, input: "${tasks.a.result * 10}"}
      result: ${tasks.b.result}
  many: {map: {over: MANY, call: noop, concurrency: 50}, after: each}
  route: {branch: [{when: size(tasks.body.result) > 3, go: long}, {go: short}], after: body}
  long: {call: echo, input: long, after: route}
  short: {call: echo, input: short, after: route}
  maybe: {call: fail, input: {kind: no}, retry: {attempts: 3, interval: 1ms}, on_error: skip, after: body}
  end: {call: echo, after: [many, maybe, long, short, length], rule: none_failed, input: end}
result:
  each: ${tasks.each.result}
  body: ${tasks.body.result}
  many: ${size(tasks.many.result)}
  taken: ${tasks.route.result}
  large: ${tasks.large.result}
  length: ${tasks.length.result}
"""


class Flows(World):
    """Runs one after the other, each killed until it has come to its end."""

    kill_seconds = (0.002, 0.080)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.items = list(range(1, self.choices.randint(2, ITEMS_MAX) + 1))
        self.many = self.choices.randint(1, MANY_MAX)
        self.file = self.folder / "flow.yaml"
        self.file.write_text(DEFINITION.replace("LARGE", str(LARGE)).replace("ITEMS", json.dumps(self.items)).replace("MANY", str(self.many))
                             .replace("CONCURRENCY", str(self.choices.randint(1, 4))))
        self.ended = 0

    def run(self):
        return f"flow-{self.ended}"

    def cycle(self):
        _, code = self.kill_under_load(self.file, self.run())
        self.ended += code == OK

    def complete(self):
        self.run_to_end(self.file, self.run())
        self.ended += 1

    def check(self):
        self.expect("runs", len(self.check_any()), self.ended)
        for number in range(self.ended):
            self.check_run(f"flow-{number}")
        self.check_objects()

    def check_objects(self):
        """One for each run, beside the file that says whose it is; none when the runs are deleted."""
        def files():
            return sum(path.is_file() for path in (self.data / "objects").rglob("*"))
        self.expect("objects", files(), 2 * self.ended)
        for number in range(self.ended):
            self.ask("delete", f"flow-{number}")
        self.expect("objects of runs that are deleted", files(), 0)

    def check_run(self, run):
        count = len(self.items)
        branch = "long" if count > 3 else "short"
        shown = json.loads(self.ask("show", run, "--json"))
        self.expect(f"the result of {run}", shown.get("result"), {
            "each": self.items, "body": [item * 10 for item in self.items], "many": self.many, "taken": [branch],
            "large": "0" * LARGE, "length": LARGE + 3})
        taken = collections.Counter(entry["json"]["subject"] for entry in self.history(run)
                                    if entry["json"]["type"] == "sluice.task.succeeded" and entry["fate"] == "fired")
        self.expect(f"answers that {run} took", taken, {
            "large": 1, "length": 1, "list": 1, "each": count, "body.a": count, "body.b": count, "many": self.many, branch: 1, "end": 1})
