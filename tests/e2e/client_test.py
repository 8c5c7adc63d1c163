#!/usr/bin/env python3
"""The commands that ask a server, against a real one.

usage: client_test.py [PROGRAM] [unittest options]
"""
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import unittest

if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
    os.environ["SLUICE"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from program import FAILED, INVALID, NOT_FOUND, PROGRAM, UNAVAILABLE, WAITING, ProgramTest, event  # noqa: E402

REFUSED = 6

PAIR = """
name: pair
triggers:
  - {id: both, on: item, condition: {count: 2}, action: {finish: {result: two came}}}
  - {id: broken, on: bad, action: {finish: {error: {kind: broken, message: as asked}}}}
"""


class ServerTest(ProgramTest):
    """A test with a server of its own, which commands find by themselves."""

    FLAGS = ()

    def setUp(self):
        super().setUp()
        self.server = ""
        self.config = self.folder / "config"
        self.process = self.serve()

    def environment(self):
        return {**super().environment(), "XDG_CONFIG_HOME": str(self.config), "SLUICE_SERVER": self.server}

    def serve(self):
        process = self.start("serve", "--data", self.data, "--listen", "127.0.0.1:0", *self.FLAGS)
        self.server = re.search(r"http://\S+", process.stderr.readline()).group(0)
        return process

    def json(self, *arguments, **options):
        return json.loads(self.sluice(*arguments, "--json", **options).stdout)

    def deploy(self, text=PAIR):
        return self.sluice("deploy", self.file("pair.yaml", text))

    def begin(self, run="r1", *more):
        self.sluice("start", "pair", "--id", run, *more)


class Runs(ServerTest):
    def test_a_run_from_its_start_to_its_end(self):
        self.assertRegex(self.deploy().stdout, r"^pair  [0-9a-f]{32}\n$")
        self.assertEqual(self.sluice("start", "pair", "--id", "r1", "--input", '{"a": 1}', "--label", "team=a").stdout, "r1\n")
        self.assertIn("was there already",
                      self.sluice("start", "pair", "--id", "r1", "--input", '{"a": 1}', "--label", "team=a").stderr)
        self.assertEqual(self.sluice("start", "pair", "--id", "r1", "--input", '{"a": 1}', "--label", "team=a",
                                     "--wait=1ms", code=WAITING).stdout, "")

        self.assertEqual(self.json("send", "r1", "--type", "item", "--id", "1"), {"sent": 1, "reply": None})
        self.sluice("send", "r1", "--type", "item", "--id", "1")
        self.sluice("send", "r1", "--type", "item", "--event-data", '{"x": [1]}', "--subject", "s")

        ended = self.sluice("start", "pair", "--id", "r1", "--input", '{"a": 1}', "--label", "team=a", "--wait")
        self.assertEqual(json.loads(ended.stdout), "two came")
        self.assertEqual(self.json("ps", "--label", "team=a")["runs"][0]["status"], "succeeded")

    def test_a_run_that_fails_tells_why(self):
        self.deploy()
        self.begin()
        self.sluice("send", "r1", "--type", "bad")
        failed = self.sluice("start", "pair", "--id", "r1", "--wait", code=FAILED)
        self.assertEqual(failed.stdout, "")
        self.assertIn("as asked", failed.stderr)

    def test_an_id_is_made_where_none_is_given(self):
        self.deploy()
        first, second = (self.sluice("start", "pair").stdout.strip() for _ in range(2))
        self.assertRegex(first, r"^pair-[0-9a-f]{12}$")
        self.assertNotEqual(first, second)

    def test_lists_select_and_turn_pages(self):
        self.deploy()
        for number in range(5):
            self.begin(f"r{number}", "--label", f"n={number % 2}")
        self.sluice("terminate", "r0", "r1")
        self.assertEqual(len(self.json("ps", "--status", "running")["runs"]), 3)
        self.assertEqual(len(self.json("ps", "--label", "n=0")["runs"]), 3)
        page = self.sluice("ps", "--limit", "2")
        self.assertEqual(len(page.stdout.splitlines()), 3)
        cursor = re.search(r"--cursor (\S+)", page.stderr).group(1)
        self.assertEqual(len(self.json("ps", "--cursor", cursor)["runs"]), 3)
        self.assertEqual(len(self.sluice("ps", "--all").stdout.splitlines()), 6)
        self.assertEqual(self.json("ps", "--since", "1h", "--definition", "pair")["cursor"], None)
        self.assertEqual(self.json("ps", "--until", "1h")["runs"], [])
        self.assertIn("such as 2h", self.sluice("ps", "--since", "yesterday", code=INVALID).stderr)

    def test_many_runs_are_cancelled_by_filter(self):
        self.deploy()
        for number in range(3):
            self.begin(f"r{number}", "--label", "team=a")
        self.begin("other")
        self.assertIn("--all", self.sluice("cancel", code=INVALID).stderr)
        tried = json.loads(self.sluice("cancel", "--label", "team=a", "--dry-run").stdout)
        self.assertEqual(tried["runs"], 3)
        done = json.loads(self.sluice("cancel", "--label", "team=a").stdout)
        self.assertEqual(done["changed"], 3)
        self.assertEqual([run["run"] for run in self.json("ps", "--status", "running")["runs"]], ["other"])

    def test_runs_are_paused_reopened_and_deleted(self):
        self.deploy()
        self.begin()
        self.sluice("pause", "r1")
        self.sluice("send", "r1", "--type", "bad")
        self.assertIn("paused", self.sluice("show", "r1").stdout)
        self.sluice("resume", "r1")
        self.until(lambda: self.json("ps")["runs"][0]["status"] == "failed", "it fails once it goes on")
        self.assertEqual(self.json("reopen", "r1")["generation"], 2)
        self.assertIn("running", self.sluice("delete", "r1", code=INVALID).stderr)
        self.sluice("delete", "r1", "--force")
        self.sluice("show", "r1", code=NOT_FOUND)

    def test_runs_are_shown_explained_replayed_and_forked(self):
        self.deploy()
        self.begin()
        self.sluice("send", "r1", "--type", "item", "--id", "one")
        shown = self.sluice("show", "r1").stdout
        self.assertIn("both waits for item", shown)
        self.assertEqual(self.json("show", "r1")["counts"]["events"], 2)
        self.assertIn("both", self.sluice("show", "r1", "--triggers").stdout)
        self.assertIn("id one", self.sluice("events", "r1").stdout)
        self.assertEqual(len(self.sluice("events", "r1", "--json").stdout.splitlines()), 2)
        self.assertIn("there is more", self.sluice("events", "r1", "--limit", "1").stderr)
        self.assertIn("waits", self.sluice("why", "r1").stdout)
        self.assertIn("both", self.sluice("why", "r1", "one").stdout)
        self.assertIn("all the same", self.sluice("replay", "r1").stdout)
        self.assertEqual(self.json("replay", "r1", "--at", "1")["counts"]["events"], 1)
        self.assertEqual(self.json("fork", "r1", "--at", "2", "--id", "r2")["run"], "r2")
        self.sluice("send", "r2", "--type", "item")
        self.assertEqual(self.json("show", "r2")["status"], "succeeded")
        self.assertEqual(self.json("show", "r1")["status"], "running")

    def test_watch_follows_a_run_to_its_end(self):
        self.deploy()
        self.begin()
        watch = self.start("watch", "r1", "--json")
        self.assertEqual(json.loads(watch.stdout.readline())["event"], 1)
        self.sluice("send", "r1", "--type", "item")
        self.assertEqual(json.loads(watch.stdout.readline())["event"], 2)
        self.sluice("send", "r1", "--type", "item")
        rest, errors = watch.communicate(timeout=60)
        self.assertEqual(watch.returncode, 0, errors)
        self.assertEqual(json.loads(rest.splitlines()[-1])["result"], "two came")

        again = self.sluice("watch", "r1")
        self.assertIn("two came", again.stderr)
        self.assertIn("#3", again.stdout)


class Documents(ServerTest):
    def test_what_is_set_up_by_name(self):
        self.deploy()
        self.assertEqual(self.sluice("route", "set", "-f", self.file("route.yaml", """
            - {route: rings, filter: {exact: {type: ring}}, to: {run: {key: subject}, definition: pair}}
            - {route: knocks, filter: {exact: {type: knock}}, to: {run: {key: subject}}}
            """)).stdout, "rings\nknocks\n")
        self.assertEqual([line.split()[0] for line in self.sluice("route", "list").stdout.splitlines()],
                         ["ROUTE", "knocks", "rings"])
        self.assertEqual(self.json("route", "get", "rings")["route"], "rings")
        self.sluice("send", "--type", "ring", "--subject", "door")
        self.assertEqual([run["run"] for run in self.json("ps")["runs"]], ["door"])
        self.sluice("route", "delete", "knocks")
        self.assertEqual(len(self.json("route", "list")), 1)
        self.sluice("route", "get", "knocks", code=NOT_FOUND)
        self.sluice("route", "set", "x", "-f", self.file("bad.yaml", "{filter: 7}"), code=INVALID)

    def test_a_namespace_keeps_to_itself(self):
        self.sluice("namespace", "set", "team")
        self.assertIn("team", self.sluice("namespace", "list").stdout)
        self.sluice("deploy", "--namespace", "team", self.file("pair.yaml", PAIR))
        self.sluice("start", "pair", "--id", "r1", "--namespace", "team")
        self.assertEqual(self.json("ps")["runs"], [])
        self.assertEqual(len(self.json("ps", "--namespace", "team")["runs"]), 1)


class Events(ServerTest):
    def test_events_come_from_files_and_standard_input(self):
        self.deploy()
        self.begin("r1")
        self.begin("r2")
        self.sluice("send", "r1", "-f", self.file("lines", event(1) + event(2)))
        self.sluice("send", "-f", "-", stdin=json.dumps([json.loads(event(n, run="r2")) for n in (1, 2)], indent=2))
        self.assertEqual({run["status"] for run in self.json("ps")["runs"]}, {"succeeded"})

    def test_events_of_a_pipe_are_sent_as_they_come(self):
        self.deploy()
        self.begin()
        sender = self.start("send", "r1", "-f", "-")
        sender.stdin.write(event(1) + event(2))
        sender.stdin.flush()
        self.until(lambda: self.json("ps")["runs"][0]["status"] == "succeeded", "both were sent while the pipe is open")
        self.end(sender)

    def test_what_cannot_be_sent_is_said(self):
        self.deploy()
        self.begin()
        bad = self.sluice("send", "r1", "-f", self.file("bad", event(1) + "{}\n"), code=INVALID)
        self.assertIn("line 2", bad.stderr)
        self.assertIn("--type", self.sluice("send", "r1", code=INVALID).stderr)
        self.sluice("send", "r1", "--type", "x", "--event-data", "{", code=INVALID)
        self.sluice("send", "r1", "-f", "/none", code=NOT_FOUND)


class Errors(ServerTest):
    def test_what_was_probably_meant_is_said(self):
        self.deploy()
        self.begin("order-17")
        for arguments, meant in ((("cancel", "order-71"), "order-17"), (("show", "ord"), "order-17"),
                                 (("send", "oder-17", "--type", "item"), "order-17")):
            with self.subTest(arguments):
                self.assertIn(f"did you mean `{meant}`?", self.sluice(*arguments, code=NOT_FOUND).stderr)
        self.assertIn("did you mean `start`?", self.sluice("strat", code=INVALID).stderr)
        self.assertIn("did you mean `--label`?", self.sluice("ps", "--labl", "a=b", code=INVALID).stderr)
        self.assertNotIn("did you mean", self.sluice("cancel", "something-else", code=NOT_FOUND).stderr)

    def test_mistakes_in_a_definition_have_their_place(self):
        file = self.file("bad.yaml", "name: x\ntriggers: 7\n")
        self.assertIn(f"{file}:2:1: ", self.sluice("deploy", file, code=INVALID).stderr)

    def test_a_server_that_is_not_there(self):
        self.end(self.process)
        done = self.sluice("ps", code=UNAVAILABLE)
        self.assertIn(self.server, done.stderr)
        self.assertIn("sluice serve", done.stderr)
        self.assertIn("such as http://", self.sluice("ps", "--server", "nonsense", code=INVALID).stderr)

    def test_a_directory_that_a_server_holds_is_named_with_its_address(self):
        for arguments in (("show",), ("delete", "x"), ("replay", "x")):
            done = self.sluice(*arguments, "--data", self.data, code=UNAVAILABLE)
            self.assertIn(self.server, done.stderr)
        self.process.terminate()
        self.process.wait(timeout=60)
        self.sluice("show", "--data", self.data)


class Access(ServerTest):
    FLAGS = ()

    def test_tokens_are_made_used_and_revoked(self):
        root = self.sluice("token", "create", "root", "--role", "admin").stdout.strip()
        refused = self.sluice("ps", code=REFUSED)
        self.assertIn("SLUICE_TOKEN", refused.stderr)
        eyes = self.sluice("token", "create", "eyes", "--role", "reader", "--token", root).stdout.strip()
        self.assertEqual({each["name"] for each in self.json("token", "list", "--token", root)}, {"root", "eyes"})
        self.sluice("ps", "--token", eyes)
        self.sluice("start", "pair", "--token", eyes, code=REFUSED)
        self.sluice("token", "delete", "eyes", "--token", root)
        self.sluice("ps", "--token", eyes, code=REFUSED)

    def profiles(self, text, mode=0o600):
        folder = self.config / "sluice"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "config.yaml"
        file.write_text(text)
        file.chmod(mode)
        return file

    def test_profiles_name_servers(self):
        token = self.sluice("token", "create", "root", "--role", "admin").stdout.strip()
        server, self.server = self.server, ""
        file = self.profiles(f"# mine\nprofiles:\n  home: {{server: '{server}', token: {token}}}\n"
                             "  away: {server: 'http://127.0.0.1:1'}\n")
        self.sluice("ps", "--profile", "home")
        self.assertIn("did you mean `home`?", self.sluice("ps", "--profile", "hoem", code=NOT_FOUND).stderr)
        self.sluice("profile", "use", "home")
        self.sluice("ps")
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertIn("# mine", file.read_text())
        self.assertEqual([each["name"] for each in self.json("profile", "list") if each["is_current"]], ["home"])
        # A token stays with its server.
        self.server = server
        self.sluice("ps", "--profile", "away", code=REFUSED)
        self.server = ""
        file.chmod(0o644)
        self.assertIn("chmod 600", self.sluice("ps", code=INVALID).stderr)


class Completion(ServerTest):
    def complete(self, *words):
        script = self.sluice("completion", "bash").stdout
        line = " ".join(f"'{word}'" for word in ("sluice", *words))
        code = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _sluice; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        path = f"{pathlib.Path(PROGRAM).parent}:{os.environ['PATH']}"
        done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=60, check=True,
                              env={**self.environment(), "PATH": path})
        return done.stdout.split()

    def test_bash_completes_commands_options_choices_and_runs(self):
        self.deploy()
        self.begin("order-17")
        self.assertIn("start", self.complete("st"))
        self.assertEqual(self.complete("start", "--inp"), ["--input"])
        self.assertEqual(self.complete("token", "cr"), ["create"])
        self.assertIn("admin", self.complete("token", "create", "--role", ""))
        self.assertEqual(self.complete("cancel", "ord"), ["order-17"])


if __name__ == "__main__":
    unittest.main()
