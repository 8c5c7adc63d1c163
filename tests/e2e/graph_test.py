#!/usr/bin/env python3
"""Definitions and runs as pictures: `sluice graph`.

usage: graph_test.py [PROGRAM] [unittest options]
"""
import os
import pathlib
import re
import sys
import time
import unittest
import xml.dom.minidom

if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
    os.environ["SLUICE"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from program import INVALID, NOT_FOUND, PROGRAM, ROOT, WAITING, ProgramTest  # noqa: E402
from server import Server  # noqa: E402

ASKED = """
name: asked
tasks:
  first: {call: echo, input: [1, 2, 3]}
  each: {map: {over: "${tasks.first.result}", tasks: {load: {call: echo}, cut: {call: echo, after: load}}}}
  ask: {approve: "sure?", after: each}
  last: {call: noop, after: ask}
"""


class Pictures(ProgramTest):
    def environment(self):
        return {**super().environment(), "LC_ALL": "C.UTF-8"}

    def test_the_page_shows_what_comes(self):
        page = (ROOT / "docs/reference/graph.md").read_text()
        shown = re.search(r"^```\n\$ sluice graph (\S+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)

        done = self.sluice("graph", ROOT / shown.group(1))

        self.assertEqual(done.stdout, shown.group(2))

    def test_every_example_is_drawn_in_every_format(self):
        for file in sorted((ROOT / "examples").glob("*.yaml")):
            if file.name.endswith(".test.yaml"):
                continue
            for form in ("text", "svg", "dot", "mermaid"):
                with self.subTest(f"{file.name} as {form}"):
                    done = self.sluice("graph", file, "--format", form)
                    self.assertEqual(done.stdout, self.sluice("graph", file, "--format", form).stdout)
                    if form == "svg":
                        xml.dom.minidom.parseString(done.stdout)

    def test_a_run_has_its_statuses_while_it_waits_and_when_it_has_ended(self):
        file = self.file("asked.yaml", ASKED)
        self.sluice("run", file, "--data", self.data, "--run", "r", code=WAITING)

        waiting = self.sluice("graph", "r", "--data", self.data).stdout
        self.sluice("approve", "r", "--task", "ask", "--data", self.data)
        self.sluice("run", file, "--data", self.data, "--run", "r")
        ended = self.sluice("graph", "r", "--data", self.data).stdout

        self.assertTrue(waiting.startswith("asked r: running\n"))
        for text in ("✓ succeeded", "✓ 3 succeeded", "… waiting", "pending"):
            self.assertIn(text, waiting)
        self.assertTrue(ended.startswith("asked r: succeeded\n"))
        self.assertEqual(ended.count("✓ succeeded"), 4)
        self.assertEqual(ended.count("✓ 3 succeeded"), 2)
        self.assertNotIn("pending", ended)

    def test_a_run_of_a_server_is_drawn(self):
        server = Server(PROGRAM, self.data)
        self.addCleanup(server.kill)
        url = f"http://127.0.0.1:{server.port}"
        self.sluice("deploy", self.file("asked.yaml", ASKED), "--server", url)
        self.sluice("start", "asked", "--id", "r", "--server", url)

        done = self.sluice("graph", "r", "--server", url, "--format", "mermaid")

        self.assertIn('subgraph n1["each', done.stdout)
        self.assertIn("no run", self.sluice("graph", "other", "--server", url, code=NOT_FOUND).stderr)

    def test_writes_a_file_in_ascii_and_says_what_is_wrong(self):
        file = self.file("asked.yaml", ASKED)
        picture = self.folder / "picture.txt"

        self.sluice("graph", file, "--ascii", "-o", picture)

        self.assertTrue(picture.read_text().isascii())
        self.assertIn("| first", picture.read_text())
        broken = self.file("broken.yaml", "name: x\ntasks: {a: {cal: x}}\n")
        self.assertIn("broken.yaml:2:9:", self.sluice("graph", broken, code=INVALID).stderr)
        self.assertIn("level 1", self.sluice("graph", file, "--width", "20").stdout)
        self.assertIn("no-such.yaml", self.sluice("graph", "no-such.yaml", code=NOT_FOUND).stderr)

    def test_ten_thousand_tasks_take_seconds(self):
        tasks = "".join(f'"t{at}": {{"call": "noop"' +
                        (f', "after": ["t{at // 2}", "t{at // 2 + at // 5}"]' if at > 9 else "") + "},\n"
                        for at in range(1, 10_001))
        file = self.file("large.json", '{"name": "large", "tasks": {' + tasks.rstrip(",\n") + "}}")

        for form, node in (("svg", ">t9999</text>"), ("dot", 'label="t9999'), ("text", "  t9999  ")):
            with self.subTest(form):
                begun = time.monotonic()
                done = self.sluice("graph", file, "--format", form)
                self.assertLess(time.monotonic() - begun, 10)
                self.assertIn(node, done.stdout)


if __name__ == "__main__":
    unittest.main()
