"""The first moments of a data directory: whatever a kill leaves of them, the next start makes something of it."""
from world import NOT_FOUND, OK, World

RUN = "birth"
DEFINITION = """
name: birth
triggers: [{id: only, on: sluice.run.started, action: {finish: {result: born}}}]
"""


class Births(World):
    """A new data directory in each cycle, killed early and then left in peace."""

    kill_seconds = (0.001, 0.030)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.file = self.folder / "birth.yaml"
        self.file.write_text(DEFINITION)

    def cycle(self):
        self.data = self.folder / f"data.{self.figures.cycles}"
        self.is_made = False
        self.kill_under_load(self.file, RUN, is_at_start=True)
        self.ask("store", "check", codes=(OK, NOT_FOUND))
        self.complete()
        self.check()

    def complete(self):
        _, result = self.run_to_end(self.file, RUN)
        self.expect("the result", result, b'"born"\n')

    def check(self):
        self.check_any()
