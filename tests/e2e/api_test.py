#!/usr/bin/env python3
"""Runs, their triggers and their history through the API of a real server.

usage: api_test.py PROGRAM
"""
import sys
import unittest

import live_server as server

PROGRAM = ""

DEFINITIONS = {
    "pair": b"""
name: pair
triggers:
  - {id: both, on: item, condition: {count: 2}, action: {finish: {result: "two came"}}}
""",
    "fails": b"""
name: fails
triggers:
  - {id: end, on: item, lifetime: persistent, action: {finish: {error: "as asked"}}}
""",
}


class ApiTest(unittest.TestCase):
    def setUp(self):
        self.server = server.Server(PROGRAM)
        self.addCleanup(self.server.close)
        for text in DEFINITIONS.values():
            self.assertEqual(self.server.ask("POST", "/v1/definitions", text).status, 201)

    def ask(self, method, path, body=None, status=200):
        answer = self.server.ask(method, path, body)
        self.assertEqual(answer.status, status, answer.body)
        return answer.json

    def follow(self, path, last_id=None):
        stream = self.server.follow(path, last_id)
        self.addCleanup(stream.close)
        return stream

    def start(self, run, definition="pair", labels=None):
        self.ask("POST", "/v1/runs", {"id": run, "definition": definition, "labels": labels or {}}, 201)

    def status_of(self, run):
        return self.ask("GET", f"/v1/runs/{run}")["status"]

    def listed(self, query):
        return sorted(run["run"] for run in self.ask("GET", "/v1/runs" + query)["runs"])

    def test_a_run_without_an_id_gets_one(self):
        made = {self.ask("POST", "/v1/runs", {"definition": "pair"}, 201)["run"] for _ in range(3)}
        self.assertEqual(len(made), 3)
        self.assertEqual(sorted(made), self.listed(""))

    def test_lists_by_time_and_several_labels(self):
        self.start("a", labels={"team": "x", "stage": "test"})
        self.start("b", labels={"team": "x", "stage": "live"})
        self.assertEqual(self.listed("?label=team%3Dx&label=stage%3Dlive"), ["b"])
        began = server.quoted(self.ask("GET", "/v1/runs/b")["started"])
        self.assertIn("b", self.listed("?started_after=" + began))
        self.assertNotIn("b", self.listed("?started_before=" + began))
        self.ask("POST", "/v1/runs/a/terminate", {"reason": "enough"})
        self.assertEqual(self.listed("?ended_after=2020-01-01T00:00:00Z"), ["a"])
        self.assertEqual(self.listed("?ended_before=2020-01-01T00:00:00Z"), [])
        self.ask("GET", "/v1/runs?started_after=yesterday", status=400)
        self.assertEqual(self.ask("GET", "/v1/runs/a")["error"]["message"], "enough")

    def test_a_paused_run_keeps_what_comes(self):
        self.start("r")
        self.ask("POST", "/v1/runs/r/pause")
        self.assertTrue(self.ask("GET", "/v1/runs/r")["paused"])
        for number in (1, 2):
            self.assertEqual(self.server.send("r", number), 202)
        self.assertEqual(len(self.ask("GET", "/v1/runs/r/kept")["events"]), 2)
        self.assertIn("paused", self.ask("GET", "/v1/runs/r/why")["waits"][0])
        self.server.kill()
        self.server.start()
        self.assertEqual(self.status_of("r"), "running")
        self.ask("POST", "/v1/runs/r/resume")
        self.assertEqual(self.status_of("r"), "succeeded")

    def test_waits_for_an_end(self):
        self.start("r")
        self.ask("GET", "/v1/runs/r/end?wait=1ms", status=202)
        self.server.send("r", 1)
        self.server.send("r", 2)
        self.assertEqual(self.ask("GET", "/v1/runs/r/end?wait=30s")["result"], "two came")
        self.ask("GET", "/v1/runs/none/end?wait=30s", status=404)

    def test_forks_and_resets_at_an_event(self):
        self.start("r")
        self.server.send("r", 1)
        forked = self.ask("POST", "/v1/runs/r/fork", {"event": 2, "id": "f"}, 201)
        self.assertEqual(forked, {"run": "f", "forked_from": "r"})
        self.server.send("f", 2)
        self.assertEqual(self.status_of("f"), "succeeded")
        self.assertEqual(self.status_of("r"), "running")
        reset = self.ask("POST", "/v1/runs/r/reset", {"event": 1}, 201)
        self.assertEqual(self.status_of("r"), "cancelled")
        self.assertEqual(self.status_of(reset["run"]), "running")
        self.ask("POST", "/v1/runs/r/fork", {"id": "x"}, 400)
        self.ask("POST", "/v1/runs/none/fork", {"event": 1}, 404)
        self.ask("POST", "/v1/runs/r/fork", {"event": 1, "id": "f"}, 409)

    def test_a_failed_run_is_retried(self):
        self.start("r", "fails")
        self.server.send("r", 1)
        self.assertEqual(self.status_of("r"), "failed")
        self.assertEqual(self.ask("POST", "/v1/runs/r/retry")["generation"], 2)
        self.assertEqual(self.status_of("r"), "running")
        self.ask("POST", "/v1/runs/r/retry", status=409)

    def test_changes_many_runs_after_a_preview(self):
        for number in range(30):
            self.start(f"r{number}", "fails", {"team": "x" if number < 25 else "y"})
        seen = self.ask("POST", "/v1/runs/cancel?label=team%3Dx&dry_run=true")
        self.assertEqual((seen["runs"], len(seen["first"]), seen["more"]), (25, 20, False))
        self.assertEqual(len(self.listed("?status=running")), 30)
        done = self.ask("POST", "/v1/runs/cancel?label=team%3Dx&limit=10")
        self.assertEqual((done["runs"], done["changed"], done["failures"]), (25, 25, []))
        self.assertEqual(len(self.listed("?status=running")), 5)
        self.ask("POST", "/v1/runs/terminate", status=400)
        self.assertEqual(self.ask("POST", "/v1/runs/terminate?all=true")["changed"], 5)
        self.assertEqual(self.ask("POST", "/v1/runs/retry?status=cancelled&limit=7")["changed"], 30)
        self.assertEqual(len(self.listed("?status=running")), 30)

    def test_a_run_may_be_called_what_a_path_is(self):
        self.start("cancel")
        self.assertEqual(self.status_of("cancel"), "running")
        self.ask("DELETE", "/v1/runs/cancel", status=409)
        self.ask("DELETE", "/v1/runs/cancel?terminate=true")
        self.ask("GET", "/v1/runs/cancel", status=404)

    def test_triggers_come_and_go_while_a_run_goes_on(self):
        self.ask("POST", "/v1/runs", {"id": "r"}, 201)
        path = "/v1/runs/r/triggers"
        self.assertEqual(self.ask("GET", path)["triggers"], [])
        form = {"id": "count", "on": "item", "lifetime": "persistent", "context": {"seen": 0},
                "action": {"set": {"context": {"seen": "${context.seen + 1}"}}}}
        self.assertEqual(self.ask("POST", path, form, 201)["trigger"], "count")
        self.ask("POST", path, form, 422)
        self.ask("POST", path, {"id": "bad"}, 422)
        self.server.send("r", 1)
        self.assertEqual(self.ask("GET", path + "/count/context")["context"], {"seen": 1})
        self.ask("POST", path + "/count/disable")
        self.server.send("r", 2)
        self.assertEqual(self.ask("GET", path + "/count/context")["context"], {"seen": 1})
        self.ask("POST", path + "/count/enable")
        self.assertEqual(self.ask("GET", path + "/count/context")["context"], {"seen": 2})
        self.ask("PATCH", path + "/count/context", {"seen": 40, "note": "${run.id}"})
        self.ask("PATCH", path + "/count", {"filter": "data.yes"})
        self.assertEqual(self.ask("GET", path + "/count")["trigger"]["filter"], "data.yes")
        self.server.send("r", 3, data={"yes": False})
        self.server.send("r", 4, data={"yes": True})
        self.assertEqual(self.ask("GET", path + "/count/context")["context"], {"seen": 41, "note": "${run.id}"})
        self.ask("POST", path + "/count/intercept",
                 {"id": "audit", "when": "before", "lifetime": "persistent", "action": {"set": {"run": {"last": "${event.id}"}}}}, 201)
        self.server.send("r", 5, data={"yes": True})
        self.assertEqual(self.ask("GET", "/v1/runs/r/context")["run"]["last"], "5")
        self.ask("PATCH", "/v1/runs/r/context", {"last": "none"})
        self.assertEqual(self.ask("GET", "/v1/runs/r/context")["run"]["last"], "none")
        self.ask("DELETE", path + "/audit")
        self.ask("GET", path + "/audit", status=404)
        self.ask("DELETE", path + "/audit", status=404)
        why = self.ask("GET", "/v1/runs/r/why?trigger=count")
        self.assertEqual(why["activations"], 4)
        self.assertIn("it waits", why["states"][0]["state"])

    def define(self, text):
        self.assertEqual(self.server.ask("POST", "/v1/definitions", text).status, 201)

    def test_a_run_moves_to_a_new_version_where_it_can(self):
        self.define(b"name: moves\ntriggers:\n"
                    b"  - {id: join, on: item, condition: {count: 3}, filter: data.ok, action: {finish: {result: old}}}\n"
                    b"  - {id: other, on: other}\n")
        self.start("r", "moves")
        self.start("counted", "moves")
        self.server.send("r", 1, data={"ok": True})
        self.define(b"name: moves\ntriggers:\n"
                    b"  - {id: join, on: item, condition: {count: 3}, action: {finish: {result: new}}}\n"
                    b"  - {id: late, on: late, action: {finish: {result: late}}}\n")
        preview = self.ask("POST", "/v1/runs/r/move?dry_run=true")
        self.assertEqual((preview["added"], preview["changed"], preview["removed"]), (["late"], ["join"], ["other"]))
        self.assertEqual(len(self.ask("GET", "/v1/runs/r/triggers")["triggers"]), 2)
        self.ask("POST", "/v1/runs/r/move")
        self.assertEqual(self.ask("POST", "/v1/runs/r/move")["changed"], [])
        for number in (2, 3):
            self.server.send("r", number)
        self.assertEqual(self.ask("GET", "/v1/runs/r")["result"], "new")
        self.assertTrue(self.ask("GET", "/v1/runs/r/replay")["same"])
        self.ask("POST", "/v1/runs/r/move", status=409)
        self.server.send("counted", 1, data={"ok": True})
        self.define(b"name: moves\ntriggers:\n  - {id: join, on: item, condition: {count: 2}}\n")
        self.ask("POST", "/v1/runs/counted/move", status=409)
        self.define(b"name: moves\ntimeout: 1h\ntriggers:\n  - {id: join, on: item}\n")
        self.ask("POST", "/v1/runs/counted/move", status=409)

    def test_history_says_what_happened_and_why(self):
        self.start("r")
        for number in range(1, 6):
            self.server.send("r", number)
        page = self.ask("GET", "/v1/runs/r/events?limit=2")
        self.assertEqual([each["event"] for each in page["events"]], [1, 2])
        rest = self.ask("GET", f"/v1/runs/r/events?from={page['next']}&changes=true")
        self.assertEqual([each["fate"] for each in rest["events"]], ["fired", "late", "late", "late"])
        self.assertIsNone(rest["next"])
        self.assertTrue(rest["events"][0]["changes"])
        one = self.ask("GET", "/v1/runs/r/events/3")
        self.assertEqual((one["fate"], one["steps"][0]["fate"]), ("fired", "fired"))
        self.assertEqual(self.ask("GET", "/v1/runs/r/events?source=%2Ftest&id=2")["steps"][0]["event"], 3)
        self.assertEqual(self.ask("GET", "/v1/runs/r/why?event=1")["steps"][0]["fate"], "activated")
        self.assertEqual(self.ask("GET", "/v1/runs/r/why")["ended_by"]["event"], 3)
        self.ask("GET", "/v1/runs/r/events/99", status=404)
        self.ask("GET", "/v1/runs/r/events?id=2&source=other", status=404)
        self.ask("GET", "/v1/runs/none/why", status=404)
        self.assertEqual(self.ask("GET", "/v1/runs/r/state?at=2")["status"], "running")
        self.assertTrue(self.ask("GET", "/v1/runs/r/replay")["same"])

    def test_a_run_is_followed_live_and_resumed(self):
        self.start("r", "fails")
        live = self.follow("/v1/runs/r/live")
        self.server.send("r", 1)
        name, identity, entry = next(live)
        self.assertEqual((name, identity, entry["fate"]), ("decided", "2", "fired"))
        live.close()
        self.ask("POST", "/v1/runs/r/retry")
        again = self.follow("/v1/runs/r/live", last_id="1")
        self.assertEqual([next(again)[1] for _ in range(2)], ["2", "3"])
        self.server.send("r", 2)
        self.assertEqual(next(again)[1], "4")
        again.close()
        self.assertEqual(self.follow("/v1/runs/none/live").status, 404)

    def test_runs_events_and_metrics_are_followed_live(self):
        runs = self.follow("/v1/live/runs?definition=pair&status=succeeded")
        events = self.follow("/v1/live/events?type=it*")
        metrics = self.follow("/v1/live/metrics")
        self.start("other", "fails")
        self.start("r")
        self.server.send("r", 1)
        self.server.send("r", 2)
        name, identity, run = next(runs)
        self.assertEqual((name, run["run"], run["status"]), ("run", "r", "succeeded"))
        self.assertEqual([next(events)[2]["json"]["id"] for _ in range(2)], ["1", "2"])
        self.assertIn("fired_total", next(metrics)[2]["metrics"])
        runs.close()
        self.start("s")
        self.ask("POST", "/v1/runs/s/terminate")
        resumed = self.follow("/v1/live/runs?status=cancelled", last_id=identity)
        self.assertEqual(next(resumed)[2]["run"], "s")
        stale = self.follow("/v1/live/runs", last_id="0.1-7")
        self.assertEqual(next(stale)[0], "gap")

    def test_unknown_parameters_are_refused(self):
        self.start("r")
        for path in ("", "/events", "/events/1", "/why", "/state", "/triggers", "/context", "/end", "/live"):
            self.ask("GET", f"/v1/runs/r{path}?colour=red", status=400)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
