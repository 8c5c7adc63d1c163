#!/usr/bin/env python3
"""What runs share, as people use it: strategies, pools and priorities, and backfills that are interrupted.

usage: sharing_test.py [PROGRAM] [unittest options]
"""
import json
import os
import pathlib
import sys
import unittest

if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
    os.environ["SLUICE"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from program import FAILED, INVALID, NOT_FOUND, PROGRAM, ProgramTest  # noqa: E402
from server import Server  # noqa: E402

HELD = """
name: held
strategy: STRATEGY
tasks:
  go: {wait: {event: {type: go}}}
  end: {call: echo, after: go, input: done}
"""

# Notes when it began; ends when its file is there.
NIGHTLY = """
name: nightly
tasks:
  work: {call: work, input: "${input}"}
"""

WORK = """
functions:
  work:
    command: ["sh", "-c", "read input; echo \\"$input\\" >> FOLDER/begun; while [ ! -e FOLDER/open ]; do sleep 0.02; done; \
case \\"$input\\" in *-13T*) [ -e FOLDER/mended ] || exit 3;; esac; echo \\"$input\\" >> FOLDER/ended; echo 1"]
    retry: {attempts: 1}
  gpu: {slots: 2}
"""

POOLED = """
name: pooled
tasks:
  work: {call: sleep, input: {duration: 20ms}, pool: POOL, slots: SLOTS}
"""


class Sharing(ProgramTest):
    def setUp(self):
        super().setUp()
        self.functions = self.file("functions.yaml", WORK.replace("FOLDER", str(self.folder)))
        self.serve()

    def serve(self):
        self.server = Server(PROGRAM, self.data, "--functions", self.functions)
        self.addCleanup(self.server.kill)
        self.at = ("--server", f"http://127.0.0.1:{self.server.port}")

    def deploy(self, text, **options):
        return self.sluice("deploy", self.file("definition.yaml", text), *self.at, **options)

    def start_run(self, run, definition="held", *options):
        return self.sluice("start", definition, "--id", run, *options, *self.at)

    def status(self, run):
        return self.server.ask("GET", f"/v1/runs/{run}")[1]["status"]

    def await_statuses(self, **wanted):
        self.until(lambda: all(self.status(run) == status for run, status in wanted.items()),
                   f"expected {wanted}")

    def go(self, run):
        self.sluice("send", run, "--type", "go", *self.at)

    def error(self, run):
        return self.server.ask("GET", f"/v1/runs/{run}")[1]["error"]["kind"]


class Strategies(Sharing):
    def hold(self, strategy, *runs):
        self.deploy(HELD.replace("STRATEGY", strategy))
        for run in runs:
            self.start_run(run)

    def test_sequential_runs_go_one_by_one(self):
        self.hold("sequential", "a", "b", "c")
        self.await_statuses(a="running", b="queued", c="queued")
        listed = json.loads(self.sluice("ps", "--status", "queued", "--json", *self.at).stdout)["runs"]
        self.assertEqual([each["run"] for each in listed], ["c", "b"])
        self.go("a")
        self.await_statuses(a="succeeded", b="running", c="queued")
        self.sluice("cancel", "b", *self.at)
        self.await_statuses(b="cancelled", c="running")

    def test_parallel_has_a_limit(self):
        self.hold("{parallel: 2}", "a", "b", "c")
        self.await_statuses(a="running", b="running", c="queued")
        self.sluice("terminate", "a", *self.at)
        self.await_statuses(c="running")

    def test_first_only_skips_others(self):
        self.hold("first_only", "a", "b")
        self.await_statuses(a="running", b="cancelled")
        self.assertEqual(self.error("b"), "skipped")

    def test_last_only_cancels_those_before(self):
        self.hold("last_only", "a", "b")
        self.await_statuses(a="cancelled", b="running")
        self.assertEqual(self.error("a"), "superseded")

    def test_latest_only_keeps_the_newest_waiting(self):
        self.hold("latest_only", "a", "b", "c")
        self.await_statuses(a="running", b="cancelled", c="queued")

    def test_higher_priorities_have_their_turn_first(self):
        self.hold("sequential", "a", "b")
        self.start_run("urgent", "held", "--priority", "10")
        self.await_statuses(a="running", b="queued", urgent="queued")
        self.go("a")
        self.await_statuses(urgent="running", b="queued")

    def test_places_outlive_the_server(self):
        self.hold("sequential", "a", "b", "c")
        self.await_statuses(a="running", b="queued")
        self.server.kill()
        self.serve()
        self.await_statuses(a="running", b="queued", c="queued")
        self.go("a")
        self.await_statuses(b="running", c="queued")

    def test_standing_runs_are_seen_when_asked_for(self):
        self.hold("sequential", "a")
        self.await_statuses(a="running")
        listed = json.loads(self.sluice("ps", "--json", *self.at).stdout)["runs"]
        standing = json.loads(self.sluice("ps", "--standing", "--json", *self.at).stdout)["runs"]
        self.assertEqual([each["run"] for each in listed], ["a"])
        self.assertEqual([each["run"] for each in standing], ["definition/held"])
        self.assertIn("definition/held", self.sluice("show", "definition/held", *self.at).stdout)
        self.sluice("cancel", "definition/held", *self.at, code=INVALID)
        self.sluice("send", "definition/held", "--type", "go", *self.at, code=INVALID)

    def test_run_waits_for_its_place_in_a_data_directory(self):
        file = self.file("held.yaml", HELD.replace("STRATEGY", "sequential"))
        data = str(self.folder / "other")
        self.sluice("run", file, "--run", "a", "--data", data, code=5)
        self.sluice("run", file, "--run", "b", "--data", data, code=5)
        queued = json.loads(self.sluice("ps", "--status", "queued", "--json", "--data", data).stdout)["runs"]
        self.assertEqual([each["run"] for each in queued], ["b"])


class Pools(Sharing):
    def test_calls_share_the_slots(self):
        self.deploy("name: gang\ntasks:\n  all: {map: {over: 4, call: work, pool: gpu}}\n")
        self.start_run("g", "gang")
        self.until(lambda: (self.folder / "begun").exists() and
                   len((self.folder / "begun").read_text().split()) == 2, "two of four have begun")
        self.file("open", "")
        self.await_statuses(g="succeeded")
        self.assertEqual(len((self.folder / "begun").read_text().split()), 4)

    def test_one_that_needs_all_runs_alone(self):
        self.deploy(POOLED.replace("POOL", "gpu").replace("SLOTS", "50"))
        for run in "abc":
            self.start_run(run, "pooled")
        self.await_statuses(a="succeeded", b="succeeded", c="succeeded")

    def test_an_unknown_pool_is_found_before_anything_runs(self):
        refused = self.deploy(POOLED.replace("POOL", "tpu").replace("SLOTS", "1"), code=INVALID)
        self.assertIn("tasks/work/pool: there is no pool", refused.stderr)
        self.assertIn("{tpu: {slots: 4}}", refused.stderr)

    def test_pools_are_set_up_like_functions(self):
        answer = self.server.ask("PUT", "/v1/functions/tpu", {"slots": 1})
        self.assertEqual((answer[0], answer[1]["kind"]), (200, "pool"))
        self.deploy(POOLED.replace("POOL", "tpu").replace("SLOTS", "1"))
        self.start_run("a", "pooled")
        self.await_statuses(a="succeeded")


class Backfills(Sharing):
    def backfill(self, *options, code=0):
        return self.sluice("backfill", "nightly", "--from", "2026-01-11", "--to", "2026-01-15", "--every", "@daily",
                           "--limit", "2", *options, *self.at, code=code)

    def lines(self, name):
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    def days(self, name):
        """A call that was under way when the server died is made again, as the same task."""
        return sorted({json.loads(line)["time"][:10] for line in self.lines(name)})

    def runs(self):
        listed = json.loads(self.sluice("ps", "--definition", "nightly", "--json", *self.at).stdout)["runs"]
        return sorted((each["run"], each["status"]) for each in listed)

    def test_a_dry_run_starts_nothing(self):
        self.deploy(NIGHTLY)
        plan = self.backfill("--dry-run")
        self.assertIn("5 runs of nightly", plan.stderr)
        self.assertIn("nightly-2026-01-11T00:00:00Z", plan.stdout)
        self.assertEqual(self.lines("begun"), [])

    def test_interrupted_and_continued_each_day_is_done_once(self):
        self.deploy(NIGHTLY)
        self.backfill("--detach")
        self.until(lambda: len(self.lines("begun")) == 2, "two at once have begun")
        self.server.kill()
        self.serve()
        self.file("open", "")

        failed = self.backfill(code=FAILED)
        self.assertIn("1 of 5 runs have failed", " ".join(failed.stderr.split()))
        self.file("mended", "")
        done = self.backfill()

        days = [f"2026-01-{day}" for day in range(11, 16)]
        self.assertEqual(self.days("ended"), days)
        self.assertEqual(self.runs(), [(f"nightly-{day}T00:00:00Z", "succeeded") for day in days])
        self.assertIn("goes on with", done.stderr)
        ended = self.lines("ended")
        again = self.backfill("--input", "{}")
        self.assertEqual(self.lines("ended"), ended)
        self.assertIn("5 succeeded", again.stderr)

    def test_days_that_the_schedule_did_are_left_out(self):
        self.deploy(NIGHTLY)
        self.file("open", "")
        schedule = {"cron": "0 0 * * *", "start": {"definition": "nightly", "input": {"depth": 3}}, "paused": True}
        self.assertEqual(self.server.ask("PUT", "/v1/schedules/night", schedule)[0], 200)
        self.start_run("night-2026-01-12T00:00:00Z", "nightly", "--input", '{"time": "2026-01-12T00:00:00Z"}')
        self.await_statuses(**{"night-2026-01-12T00:00:00Z": "succeeded"})
        self.sluice("backfill", "nightly", "--from", "2026-01-11", "--to", "2026-01-12", *self.at)
        self.assertEqual(self.days("ended"), ["2026-01-11", "2026-01-12"])
        self.assertIn('"depth":3', self.lines("ended")[1].replace(" ", ""))

    def test_in_a_data_directory_the_same_command_goes_on(self):
        file = self.file("nightly.yaml", NIGHTLY)
        data = str(self.folder / "other")

        def command(*more):
            return ("backfill", file, "--from", "2026-01-11", "--to", "2026-01-14", "--every", "@daily", "--limit", "2",
                    "--functions", self.functions, "--data", data, *more)

        self.assertIn("nightly-2026-01-12T00:00:00Z", self.sluice(*command("--dry-run")).stdout)
        process = self.start(*command())
        self.until(lambda: len(self.lines("begun")) == 2, "two at once have begun")
        code, _, errors = self.interrupt(process)
        self.assertEqual(code, 130)
        self.assertIn("sluice backfill", errors)
        self.file("open", "")
        self.sluice(*command(), code=FAILED)
        self.file("mended", "")
        self.assertEqual(json.loads(self.sluice(*command()).stdout), {"runs": 4})
        listed = json.loads(self.sluice("ps", "--definition", "nightly", "--json", "--data", data).stdout)["runs"]
        self.assertEqual([each["status"] for each in listed], ["succeeded"] * 4)

    def test_what_is_wrong_is_said(self):
        self.sluice("backfill", "absent", "--from", "2026-01-11", "--to", "2026-01-15", "--every", "1h", *self.at,
                    code=NOT_FOUND)
        self.deploy(NIGHTLY)
        for options, said in ((("--from", "x", "--to", "2026-01-15", "--every", "1h"), "expected a date"),
                              (("--from", "2026-01-11", "--to", "2026-01-15"), "no schedule starts"),
                              (("--from", "2026-01-11", "--to", "2026-01-10", "--every", "1h"), "no run is due"),
                              (("--from", "2000-01-11", "--to", "2026-01-10", "--every", "1h"), "shorter range")):
            refused = self.sluice("backfill", "nightly", *options, *self.at, code=INVALID)
            self.assertIn(said, refused.stderr)


if __name__ == "__main__":
    unittest.main()
