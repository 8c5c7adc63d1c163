"""Runs that wait for a place among those of their definition: each gets one, no more than there are, and all are given back."""
import json

from world import OK, World

RUNS_MAX, LIMIT_MAX = 12, 3

DEFINITION = """
name: queues
tasks:
  all: {map: {over: RUNS, tasks: {one: {subworkflow: turn, input: "${item}"}}, result: "${tasks.one.result}"}}
result: ${tasks.all.result}
definitions:
  turn:
    strategy: {parallel: LIMIT}
    tasks:
      work: {call: sleep, input: {duration: 5ms, value: "${input}"}, retry: {attempts: 2, interval: 1ms}}
    result: ${tasks.work.result}
"""


class Queues(World):
    """Runs one after the other, each of which starts several that share a queue, and is killed until it has come to its end."""

    kill_seconds = (0.002, 0.060)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.count = self.choices.randint(2, RUNS_MAX)
        self.limit = self.choices.randint(1, LIMIT_MAX)
        self.file = self.folder / "queues.yaml"
        self.file.write_text(DEFINITION.replace("RUNS", str(self.count)).replace("LIMIT", str(self.limit)))
        self.ended = 0

    def run(self):
        return f"queues-{self.ended}"

    def cycle(self):
        _, code = self.kill_under_load(self.file, self.run())
        self.ended += code == OK

    def complete(self):
        self.run_to_end(self.file, self.run())
        self.ended += 1

    def check(self):
        self.expect("runs", len(self.check_any()), self.ended * (1 + self.count))
        for number in range(self.ended):
            shown = json.loads(self.ask("show", f"queues-{number}", "--json"))
            self.expect(f"the result of queues-{number}", shown.get("result"), list(range(self.count)))
        self.check_places()

    def check_places(self):
        standing = "definition/turn"
        self.ask("replay", standing)
        running, given = set(), 0
        for entry in self.history(standing):
            for change in entry["changes"]:
                path = change.get("path", "")
                if change["change"] == "scope opened" and path.startswith("running/"):
                    running.add(path)
                    given += 1
                if change["change"] == "scope closed":
                    running.discard(path)
                self.expect(f"more than {self.limit} places given", len(running) > self.limit, False)
        self.expect("places not given back", running, set())
        self.expect("places given", given, self.ended * self.count)
