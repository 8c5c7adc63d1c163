#!/usr/bin/env python3
"""The program as people use it: every command, its output and its exit code.

usage: cli_test.py [PROGRAM] [unittest options]
"""
import json
import os
import pathlib
import sys
import unittest

if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
    os.environ["SLUICE"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from program import (FAILED, INTERRUPTED, INVALID, NOT_FOUND, OK, ROOT, UNAVAILABLE, WAITING, ProgramTest,  # noqa: E402
                     event, progress_of)

THREE_ITEMS = """
name: three
triggers:
  - id: three
    on: item
    condition: {count: 3}
    action: {finish: {result: got three}}
"""

# Each call leaves a line with its key, so that a task that was done twice shows.
MARKS = """
name: marks
functions:
  mark:
    command: 'echo "$SLUICE_TASK" >> "MARKS"; sleep "$(cat | tr -dc 0-9.)"; echo 1'
triggers:
  - id: begin
    on: sluice.run.started
    action:
      invoke: {function: mark, each: [0, 0, 0, SECONDS], input: "${item}"}
  - id: done
    on: {type: sluice.task.succeeded, subject: mark}
    condition: {count: 4}
    action: {finish: {result: done}}
"""

SLEEP = """
name: nap
triggers:
  - id: begin
    on: sluice.run.started
    action:
      invoke: {function: sleep, each: [10ms, DURATION], input: {duration: "${item}"}}
  - id: done
    on: {type: sluice.task.succeeded, subject: sleep}
    condition: {count: 2}
    action: {finish: {result: rested}}
"""


class Examples(ProgramTest):
    EXPECTED = {
        "early-event": {"order": ["a", "b"]},
        "functions": {"measure": {"bytes": 33, "by": "sh"}, "add": {"sum": 10, "by": "python"}},
        "join": {"joined": 100},
        "nested": {"sum": 30},
        "retry-timer": {"tries": 3, "answer": "finally"},
        "timeout-interceptor": {"joined": 2, "is_complete": False},
    }

    def test_every_example_is_valid_and_expected_here(self):
        files = sorted((ROOT / "examples").glob("*.yaml"))

        self.sluice("validate", *files)

        self.assertEqual([file.stem for file in files], sorted(self.EXPECTED))

    def test_every_example_gives_its_result_and_replays_the_same(self):
        for name, expected in self.EXPECTED.items():
            with self.subTest(name):
                self.assertEqual(self.result(ROOT / f"examples/{name}.yaml", "--data", self.data), expected)

        runs = json.loads(self.sluice("show", "--data", self.data, "--json").stdout)["runs"]
        self.assertEqual({run["status"] for run in runs}, {"succeeded"})
        for run in runs:
            with self.subTest(run["run"]):
                self.sluice("replay", run["run"], "--data", self.data)

    def test_without_data_nothing_is_left(self):
        self.result(ROOT / "examples/early-event.yaml")

        self.assertEqual(list(self.temporary.iterdir()), [])


class Definitions(ProgramTest):
    def test_all_that_is_wrong_is_told_with_line_and_column(self):
        file = self.file("bad.yaml", "name: bad\ntriggers:\n  - id: a\n    on: x\n    conditon: always\n"
                                     "  - id: b\n    on: 7\n    action: {invoke: nobody}\n")

        run = self.sluice("run", file, code=INVALID)
        validate = self.sluice("validate", file, "--json", code=INVALID)

        self.assertEqual(run.stdout, "")
        self.assertIn("bad.yaml:5:5:", run.stderr)
        self.assertIn("bad.yaml:7:5:", run.stderr)
        self.assertIn("bad.yaml:8:", run.stderr)
        found = json.loads(validate.stdout)
        self.assertFalse(found["valid"])
        self.assertGreaterEqual({finding["line"] for finding in found["findings"]}, {5, 7, 8})

    def test_text_that_is_no_yaml_is_refused(self):
        for text in ("", "{", "\x00", "- [", "name: a\nname: b\n", "[" * 1000):
            with self.subTest(text[:10]):
                self.sluice("run", self.file("bad.yaml", text), code=INVALID)

    def test_a_file_that_is_not_there_is_not_found(self):
        self.sluice("run", self.folder / "none.yaml", code=NOT_FOUND)
        self.sluice("validate", self.folder / "none.yaml", code=NOT_FOUND)

    def test_usage_is_checked(self):
        for arguments in ((), ("run",), ("nonsense",), ("show",), ("run", "x", "--durability", "some"),
                          ("why", "--data", "x"), ("completion", "tcsh")):
            with self.subTest(arguments):
                self.assertEqual(self.sluice(*arguments, code=INVALID).stdout, "")

    def test_help_and_version_are_data(self):
        self.assertRegex(self.sluice("--version").stdout, r"^\d+\.\d+\.\d+\n$")
        for command in ("run", "validate", "show", "why", "replay", "store", "bench", "completion"):
            with self.subTest(command):
                self.assertIn(command, self.sluice("--help").stdout)
                self.assertIn("Usage", self.sluice(command, "--help").stdout)

    def test_completion_scripts_know_the_commands(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell):
                self.assertIn("validate", self.sluice("completion", shell).stdout)


class Runs(ProgramTest):
    def echo(self, action="{finish: {result: \"${run.input}\"}}"):
        return self.file("echo.yaml", f"name: echo\ntriggers:\n  - id: e\n    on: sluice.run.started\n    action: {action}\n")

    def test_input_comes_as_json_or_from_a_file(self):
        self.assertEqual(self.result(self.echo(), "--input", '{"a": [1, "ü"]}'), {"a": [1, "ü"]})
        self.assertEqual(self.result(self.echo(), "--input", "@" + self.file("input.json", "9007199254740993")),
                         9007199254740993)
        self.sluice("run", self.echo(), "--input", "{", code=INVALID)
        self.sluice("run", self.echo(), "--input", "@" + str(self.folder / "none"), code=NOT_FOUND)

    def test_a_run_that_fails_tells_why_and_prints_nothing(self):
        file = self.echo("{finish: {error: {kind: broken, message: it broke, part: 7}}}")

        done = self.sluice("run", file, "--data", self.data, code=FAILED)
        again = self.sluice("run", file, "--data", self.data, code=FAILED)

        self.assertEqual(done.stdout, "")
        for text in ("broken", "it broke", "part: 7"):
            self.assertIn(text, done.stderr)
            self.assertIn(text, again.stderr)

    def test_a_fault_names_its_trigger(self):
        done = self.sluice("run", self.echo("{set: {run: {x: \"${1 / 0}\"}}}"), code=FAILED)

        self.assertIn("trigger: e", done.stderr)

    def test_the_same_again_is_the_same_run(self):
        first = self.sluice("run", self.echo(), "--input", "1", "--data", self.data)
        again = self.sluice("run", self.echo(), "--input", "1", "--data", self.data)
        self.sluice("run", self.echo(), "--input", "2", "--data", self.data)

        self.assertEqual(first.stdout, again.stdout)
        self.assertIn("has ended already", again.stderr)
        self.assertEqual(len(json.loads(self.sluice("show", "--data", self.data, "--json").stdout)["runs"]), 2)

    def test_a_run_id_stays_with_its_definition_and_input(self):
        self.sluice("run", self.echo(), "--data", self.data, "--run", "mine")

        other_input = self.sluice("run", self.echo(), "--data", self.data, "--run", "mine", "--input", "1", code=INVALID)
        changed = self.echo("{finish: {result: other}}")
        other = self.sluice("run", changed, "--data", self.data, "--run", "mine", code=INVALID)

        self.assertIn("other input", other_input.stderr)
        self.assertIn("another definition", other.stderr)
        self.sluice("run", changed, "--data", self.data, "--run", "not/good", code=INVALID)

    def test_functions_may_come_from_another_file(self):
        functions = self.file("functions.yaml", "functions:\n  twice: {command: 'read n; echo $((n * 2))'}\n")
        file = self.file("use.yaml", """
name: use
triggers:
  - {id: begin, on: sluice.run.started, action: {invoke: {function: twice, input: 21}}}
  - {id: done, on: {type: sluice.task.succeeded}, action: {finish: {result: "${data.result}"}}}
""")

        self.sluice("run", file, code=INVALID)
        self.assertEqual(self.result(file, "--functions", functions), 42)

    def test_progress_is_json_lines_and_the_result_alone_on_stdout(self):
        done = self.sluice("run", ROOT / "examples/functions.yaml", "--json", "--data", self.data)

        told = progress_of(done)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        self.assertEqual([line["trigger"] for line in told if line["kind"] == "fired"][0], "begin")
        self.assertEqual(sorted(line["status"] for line in told if line["kind"] == "task"),
                         ["started", "started", "succeeded", "succeeded"])
        self.assertEqual([line["status"] for line in told if line["kind"] == "ended"], ["succeeded"])

    def test_every_durability_gives_the_same_result(self):
        for durability in ("strict", "relaxed", "memory"):
            with self.subTest(durability):
                self.assertEqual(self.result(ROOT / "examples/nested.yaml", "--durability", durability), {"sum": 30})

    def test_memory_and_a_data_directory_contradict_each_other(self):
        self.sluice("run", self.echo(), "--durability", "memory", "--data", self.data, code=INVALID)

    def test_a_run_that_feeds_itself_for_ever_fails(self):
        file = self.file("loop.yaml", "name: loop\ntriggers:\n"
                         "  - {id: a, on: [sluice.run.started, x], lifetime: persistent, action: {emit: x}}\n")

        self.assertIn("budget", self.sluice("run", file, "--durability", "memory", code=FAILED).stderr)

    def test_several_threads_give_the_same_result(self):
        self.assertEqual(self.result(ROOT / "examples/nested.yaml", "--threads", "4"), {"sum": 30})


class Events(ProgramTest):
    def setUp(self):
        super().setUp()
        self.definition = self.file("three.yaml", THREE_ITEMS)

    def test_events_of_a_file_reach_the_run(self):
        events = self.file("events.jsonl", "".join(event(n) for n in range(3)))

        self.assertEqual(self.result(self.definition, "--events", events), "got three")

    def test_each_event_of_a_stream_is_acknowledged_once_it_is_durable(self):
        process = self.start("run", self.definition, "--events", "-", "--data", self.data, "--json")
        fates = []
        for number in (1, 1, 2):
            process.stdin.write(event(number))
            process.stdin.flush()
            fates.append(self.wait_for(process, kind="accepted", id=f"e{number}")["fate"])
        process.kill()
        process.communicate()

        self.assertEqual(fates, ["activated", "duplicate", "activated"])
        self.assertEqual(self.result(self.definition, "--events", "-", "--data", self.data, stdin=event(3)), "got three")

    def test_a_file_is_continued_behind_the_line_that_was_taken(self):
        events = self.file("events.jsonl", event(1) + event(2))
        self.sluice("run", self.definition, "--events", events, "--data", self.data, code=WAITING)
        self.file("events.jsonl", event(1) + event(2) + "\n" + event(3))

        done = self.sluice("run", self.definition, "--events", events, "--data", self.data, "--json")

        run = json.loads(self.sluice("show", "--data", self.data, "--json").stdout)["runs"][0]["run"]
        counts = json.loads(self.sluice("show", run, "--data", self.data, "--json").stdout)["counts"]
        self.assertEqual(json.loads(done.stdout), "got three")
        self.assertEqual(counts["duplicates"], 0)

    def test_bad_lines_are_told_by_number_and_lose_nothing(self):
        text = event(1) + "no event\n" + event(2) + event(9, "sluice.mine") + "\n" + event(3)
        events = self.file("events.jsonl", text)

        done = self.sluice("run", self.definition, "--events", events, code=INVALID)
        kept = self.sluice("run", self.definition, "--events", events, "--keep-going")

        self.assertEqual(json.loads(done.stdout), "got three")
        self.assertIn("events.jsonl:2:", done.stderr)
        self.assertIn("events.jsonl:4:", done.stderr)
        self.assertEqual(json.loads(kept.stdout), "got three")

    def test_a_run_that_nobody_sends_events_waits(self):
        done = self.sluice("run", self.definition, "--data", self.data, code=WAITING)

        self.assertEqual(done.stdout, "")
        self.assertIn("1 trigger waits", done.stderr)
        self.assertIn("three waits for item", done.stderr)

    def test_a_run_whose_nested_run_waits_does_too(self):
        file = self.file("outer.yaml", "name: outer\ntriggers:\n"
                         "  - {id: b, on: sluice.run.started, action: {start: {definition: inner}}}\n"
                         "  - {id: c, on: sluice.run.succeeded, action: {finish: {}}}\n"
                         "definitions:\n  inner:\n    triggers: [{id: w, on: never, action: {finish: {}}}]\n")

        self.sluice("run", file, code=WAITING)

    def test_a_file_of_events_that_is_not_there_is_not_found(self):
        self.sluice("run", self.definition, "--events", self.folder / "none", code=NOT_FOUND)


class Interruptions(ProgramTest):
    def test_a_killed_run_continues_and_does_nothing_twice(self):
        marks = self.folder / "marks"
        file = self.file("marks.yaml", MARKS.replace("MARKS", str(marks)).replace("SECONDS", "2"))
        process = self.start("run", file, "--data", self.data, "--json")
        for _ in range(3):
            self.wait_for(process, kind="task", status="succeeded")
        process.kill()
        process.communicate()

        self.assertEqual(self.result(file, "--data", self.data), "done")

        keys = marks.read_text().split()
        # The one that was under way is begun again, with its key; those that were done are not.
        self.assertEqual(len(set(keys)), 4)
        self.assertEqual(len(keys), 5)
        self.assertEqual(len([key for key in keys if key.endswith("/3")]), 2)

    def test_a_killed_builtin_task_is_taken_up_again(self):
        file = self.file("nap.yaml", SLEEP.replace("DURATION", "1s"))
        process = self.start("run", file, "--data", self.data, "--json")
        self.wait_for(process, kind="task", status="succeeded")
        process.kill()
        process.communicate()

        done = self.sluice("run", file, "--data", self.data, "--json")

        succeeded = [line["task"] for line in progress_of(done) if line.get("status") == "succeeded" and "task" in line]
        self.assertEqual(json.loads(done.stdout), "rested")
        self.assertEqual([task.split("/", 1)[1] for task in succeeded], ["1/1"])

    def test_ctrl_c_stops_children_and_leaves_nothing(self):
        marks = self.folder / "marks"
        command = f"echo $$ > {marks}; exec sleep 600"
        file = self.file("long.yaml", "name: long\nfunctions: {long: {command: '" + command + "'}}\ntriggers:\n"
                         "  - {id: b, on: sluice.run.started, action: {invoke: long}}\n")
        process = self.start("run", file, "--json")
        self.until(lambda: marks.exists() and marks.read_text().strip(), "the child runs")

        code, output, _ = self.interrupt(process)

        self.assertEqual((code, output), (INTERRUPTED, ""))
        self.assertEqual(list(self.temporary.iterdir()), [])
        child = marks.read_text().strip()
        self.until(lambda: not pathlib.Path(f"/proc/{child}").exists(), "the child is gone")

    def test_ctrl_c_says_how_to_continue(self):
        file = self.file("nap.yaml", SLEEP.replace("DURATION", "2s"))
        process = self.start("run", file, "--data", self.data)
        self.until(lambda: pathlib.Path(self.data, "CURRENT").exists() or any(pathlib.Path(self.data).glob("**/CURRENT")),
                   "the store is there")
        self.until(lambda: process.poll() is None, "it runs")

        code, output, errors = self.interrupt(process)

        self.assertEqual((code, output), (INTERRUPTED, ""))
        self.assertIn(f"--data {self.data}", errors)
        self.assertEqual(self.result(file, "--data", self.data), "rested")

    def test_a_long_action_does_not_hold_up_ctrl_c(self):
        file = self.file("many.yaml", "name: many\ntriggers:\n"
                         "  - {id: b, on: sluice.run.started, action: {emit: {type: item, each: 900000}}}\n"
                         "  - {id: c, on: item, condition: {count: 900000}, action: {finish: {result: all}}}\n")
        process = self.start("run", file, "--data", self.data, "--json")
        self.wait_for(process, kind="fired", trigger="b")

        code, _, _ = self.interrupt(process)

        self.assertEqual(code, INTERRUPTED)
        self.assertEqual(self.result(file, "--data", self.data), "all")


class Inspection(ProgramTest):
    def setUp(self):
        super().setUp()
        self.result(ROOT / "examples/early-event.yaml", "--data", self.data, "--run", "early")

    def test_show_lists_and_filters_runs(self):
        self.sluice("run", self.file("three.yaml", THREE_ITEMS), "--data", self.data, "--run", "open", code=WAITING)

        def listed(*filters):
            done = self.sluice("show", "--data", self.data, "--json", *filters)
            return [run["run"] for run in json.loads(done.stdout)["runs"]]

        self.assertEqual(listed(), ["open", "early"])
        self.assertEqual(listed("--status", "running"), ["open"])
        self.assertEqual(listed("--definition", "early-event"), ["early"])
        self.assertEqual(listed("--definition", "early-event", "--status", "running"), [])
        self.assertEqual(listed("--label", "team=red"), [])
        self.assertEqual(listed("--since", "1h"), ["open", "early"])
        self.assertEqual(listed("--until", "2026-01-01T00:00:00Z"), [])
        self.assertEqual(listed("--ended-since", "1h"), ["early"])
        self.assertEqual(listed("--ended-until", "1h"), [])
        self.assertIn("early-event", self.sluice("show", "--data", self.data).stdout)

    def test_show_pages_by_cursor(self):
        self.sluice("run", self.file("three.yaml", THREE_ITEMS), "--data", self.data, "--run", "open", code=WAITING)

        first = json.loads(self.sluice("show", "--data", self.data, "--json", "--limit", "1").stdout)
        told = self.sluice("show", "--data", self.data, "--limit", "1").stderr
        last = json.loads(self.sluice("show", "--data", self.data, "--json", "--limit", "1",
                                      "--cursor", first["cursor"]).stdout)

        self.assertEqual([run["run"] for run in first["runs"] + last["runs"]], ["open", "early"])
        self.assertIn(f"--cursor {first['cursor']}", told)
        self.assertIsNone(last["cursor"])

    def test_show_says_which_filters_are_none(self):
        for option, text in (("--since", "yesterday"), ("--label", "team"), ("--cursor", "here"), ("--status", "lost")):
            with self.subTest(option):
                self.assertIn(text, self.sluice("show", "--data", self.data, option, text, code=INVALID).stderr)

    def test_show_tells_of_one_run(self):
        shown = json.loads(self.sluice("show", "early", "--data", self.data, "--json").stdout)

        self.assertEqual(shown["status"], "succeeded")
        self.assertEqual(shown["result"], {"order": ["a", "b"]})
        self.assertEqual(shown["counts"]["fired"], 3)
        for section in ("triggers", "contexts", "history", "events", "timers", "tasks"):
            with self.subTest(section):
                self.assertTrue(self.sluice("show", "early", "--data", self.data, f"--{section}").stdout)
                text = self.sluice("show", "early", "--data", self.data, f"--{section}", "--json").stdout
                self.assertTrue(all(json.loads(line) is not None for line in text.splitlines()))

    def test_why_follows_an_event_that_was_parked(self):
        steps = json.loads(self.sluice("why", "early", "#2", "--data", self.data, "--json").stdout)["steps"]

        self.assertEqual([step["fate"] for step in steps], ["parked", "fired"])
        self.assertIn("begin", steps[0]["came"])
        self.assertIn("b fired", self.sluice("why", "early", steps[0]["id"], "--data", self.data).stdout)

    def test_why_tells_what_a_run_waits_for(self):
        self.sluice("run", self.file("three.yaml", THREE_ITEMS), "--data", self.data, "--run", "open",
                    "--events", "-", stdin=event(1) + event(1) + event(2, "other"), code=WAITING)

        text = self.sluice("why", "open", "--data", self.data).stdout
        duplicate = json.loads(self.sluice("why", "open", "e1", "--data", self.data, "--json").stdout)["steps"]

        self.assertIn("three waits for item: count 3, 1 so far", text)
        self.assertIn("is kept", text)
        self.assertEqual([step["fate"] for step in duplicate], ["activated", "duplicate"])

    def test_replay_shows_the_state_at_an_event(self):
        state = json.loads(self.sluice("replay", "early", "--data", self.data, "--at", "3").stdout)

        self.assertEqual(state["contexts"]["run"], {"order": ["a"]})
        self.assertEqual(state["status"], "running")
        self.sluice("replay", "early", "--data", self.data, "--at", "99", code=NOT_FOUND)

    def test_what_is_not_there_is_not_found(self):
        nowhere = self.folder / "nowhere"
        for arguments in (("show",), ("show", "early"), ("why", "early"), ("replay", "early"), ("store", "check"),
                          ("store", "export")):
            with self.subTest(arguments):
                self.sluice(*arguments, "--data", nowhere, code=NOT_FOUND)
        self.assertFalse(nowhere.exists())
        for command in ("show", "why", "replay"):
            self.sluice(command, "nobody", "--data", self.data, code=NOT_FOUND)
        self.sluice("why", "early", "#99", "--data", self.data, code=NOT_FOUND)

    def test_a_store_is_checked_and_exported(self):
        self.assertIn("sound", self.sluice("store", "check", "--data", self.data).stdout)
        self.assertTrue(json.loads(self.sluice("store", "check", "--data", self.data, "--json").stdout)["is_sound"])
        records = [json.loads(line) for line in self.sluice("store", "export", "--data", self.data).stdout.splitlines()]
        self.assertIn("H", {record.get("table") for record in records})
        self.assertEqual([record["key"] for record in records], sorted(record["key"] for record in records))

    def test_damage_is_found(self):
        logs = sorted(pathlib.Path(self.data).glob("**/*.log"), key=lambda path: path.stat().st_size)
        content = bytearray(logs[-1].read_bytes())
        content[100] ^= 0x40
        logs[-1].write_bytes(content)

        self.sluice("store", "check", "--data", self.data, code=FAILED)
        self.sluice("show", "--data", self.data, code=UNAVAILABLE)

    def test_a_directory_in_use_is_named(self):
        process = self.start("run", self.file("nap.yaml", SLEEP.replace("DURATION", "600s")), "--data", self.data, "--json")
        self.wait_for(process, kind="task", status="succeeded")

        for arguments in (("show",), ("run", self.file("three.yaml", THREE_ITEMS)), ("store", "check")):
            with self.subTest(arguments):
                self.assertIn(self.data, self.sluice(*arguments, "--data", self.data, code=UNAVAILABLE).stderr)


if __name__ == "__main__":
    unittest.main()
