#!/usr/bin/env python3
"""Functions of kind http and poll as their authors meet them: a real server, real functions, the example worker.

usage: function_test.py PROGRAM
"""
import http.client
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = ""
WORKER = pathlib.Path(__file__).resolve().parents[2] / "examples/worker.py"
TIMEOUT = 60
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class FunctionHandler(http.server.BaseHTTPRequestHandler):
    """Does what its path says, and remembers what it was asked."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        number = self.server.note({"path": self.path, "headers": dict(self.headers.items()), "body": json.loads(body)})
        if self.path == "/later":
            self.reply(202)
        elif self.path == "/flaky" and number < 3:
            self.reply(500, {"message": "not yet"})
        elif self.path == "/busy" and number < 2:
            self.reply(429, {}, {"Retry-After": "1"})
        elif self.path == "/sold-out":
            self.reply(409, {"kind": "sold_out", "message": "there is none left"})
        elif self.path == "/hang":
            self.connection.settimeout(TIMEOUT)
            self.server.ended.append(self.connection.recv(1))
            self.server.changed.set()
            self.close_connection = True
        else:
            self.reply(200, {"got": json.loads(body)})

    def reply(self, status, body=None, headers=None):
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": len(content), **(headers or {})}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class FunctionServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), FunctionHandler)
        self.calls = []
        self.ended = []
        self.changed = threading.Event()
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def note(self, call):
        """How often this path was called."""
        with self.lock:
            self.calls.append(call)
            number = sum(each["path"] == call["path"] for each in self.calls)
        self.changed.set()
        return number

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def handle_error(self, *_):
        pass  # A call that was cancelled is no error of the function.


class FunctionTest(unittest.TestCase):
    options = ("--allow-private",)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.functions = FunctionServer()
        self.addCleanup(self.functions.server_close)
        self.addCleanup(self.functions.shutdown)
        self.serve()

    def serve(self, *more):
        self.process = subprocess.Popen([PROGRAM, "serve", "--data", str(self.folder / "data"), "--listen", "127.0.0.1:0",
                                         *self.options, *more], stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, self.process)
        line = self.process.stderr.readline()
        self.assertIn("serving", line)
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)", line).group(1))

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def stop(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.communicate(timeout=TIMEOUT)

    def ask(self, method, path, body=None, code=200):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else None
        connection.request(method, path, content, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        self.assertEqual(answer.status, code, text)
        return json.loads(text) if text else None

    def until(self, claim, what):
        deadline = time.monotonic() + TIMEOUT
        while not claim():
            self.assertLess(time.monotonic(), deadline, what)
            self.functions.changed.wait(0.02)
            self.functions.changed.clear()

    def define(self, function, form=None, policy=""):
        """A definition that calls it with the run's input and ends with its result."""
        if form is not None:
            self.ask("PUT", f"/v1/functions/{function}", form)
        self.ask("POST", "/v1/definitions", f"""
name: {function}
triggers:
  - id: begin
    on: sluice.run.started
    action: {{invoke: {{function: {function}, input: "${{run.input}}" {policy}}}}}
  - {{id: done, on: sluice.task.succeeded, action: {{finish: {{result: "${{data.result}}"}}}}}}
""", code=201)

    def start(self, function, data=None, run="r1"):
        self.ask("POST", "/v1/runs", {"id": run, "definition": function, "input": data}, code=201)

    def ending(self, run="r1"):
        self.until(lambda: self.ask("GET", f"/v1/runs/{run}")["status"] != "running", f"{run} goes on")
        return self.ask("GET", f"/v1/runs/{run}")

    def called(self, count):
        self.until(lambda: len(self.functions.calls) >= count, f"{count} calls")
        return self.functions.calls

    def poll(self, function, wait="30s", most=1):
        answer = self.ask("POST", f"/v1/functions/{function}/poll?wait={wait}&most={most}")
        return answer["tasks"]


class HttpFunctions(FunctionTest):
    def test_the_answer_is_the_result(self):
        self.define("echo2", {"url": self.functions.url("/echo"), "headers": {"X-Team": "red"}})
        self.start("echo2", {"n": 1})

        ending = self.ending()

        self.assertEqual((ending["status"], ending["result"]), ("succeeded", {"got": {"n": 1}}))
        headers = self.functions.calls[0]["headers"]
        self.assertEqual(headers["ce-type"], "sluice.task.called")
        self.assertEqual(headers["ce-id"], headers["Idempotency-Key"])
        self.assertEqual(headers["Sluice-Function"], "echo2")
        self.assertEqual(headers["X-Team"], "red")
        self.assertEqual(headers["Sluice-Callback"], f"http://127.0.0.1:{self.port}/v1/tasks/{headers['Sluice-Token']}")

    def test_a_trace_goes_on_into_the_call(self):
        self.define_traced()

        headers = self.traced_call("{invoke: {function: echo2, input: 1}}", "sluice.task.succeeded")

        self.assertEqual(headers["traceparent"][:36], TRACE[:36], "the same trace")
        self.assertNotEqual(headers["traceparent"], TRACE, "below a span of its own")
        self.assertNotIn("ce-type", headers)

    def test_a_trace_goes_on_into_a_nested_run(self):
        self.define_traced()
        self.ask("POST", "/v1/definitions", """
name: inner
triggers:
  - {id: begin, on: sluice.run.started, action: {invoke: {function: echo2, input: 1}}}
  - {id: done, on: sluice.task.succeeded, action: {finish: {}}}
""", code=201)

        headers = self.traced_call("{start: {definition: inner}}", "sluice.run.succeeded")

        self.assertEqual(headers["traceparent"][:36], TRACE[:36], "the same trace")
        self.assertNotEqual(headers["traceparent"], TRACE, "below a span of its own")

    def define_traced(self):
        self.ask("PUT", "/v1/functions/echo2", {"url": self.functions.url("/echo"), "format": "json"})

    def traced_call(self, action, end):
        """The header fields of the call that an event of a trace leads to."""
        self.ask("POST", "/v1/definitions", f"""
name: traced
triggers:
  - {{id: begin, on: item, action: {action}}}
  - {{id: done, on: {end}, action: {{finish: {{}}}}}}
""", code=201)
        self.start("traced")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        connection.request("POST", "/v1/runs/r1/events", "{}", {
            "ce-specversion": "1.0", "ce-id": "1", "ce-source": "/t", "ce-type": "item", "ce-traceparent": TRACE,
            "Content-Type": "application/json"})
        self.assertEqual(connection.getresponse().status, 202)
        connection.close()
        self.ending()
        return self.functions.calls[0]["headers"]

    def test_an_answer_may_come_later_by_its_token(self):
        self.define("later", {"url": self.functions.url("/later")})
        self.start("later")
        token = self.called(1)[0]["headers"]["Sluice-Token"]
        self.ask("POST", f"/v1/tasks/{token}/heartbeat", code=204)

        self.ask("POST", f"/v1/tasks/{token}", {"result": [1, 2]})

        self.assertEqual(self.ending()["result"], [1, 2])
        self.assertEqual(self.ask("POST", f"/v1/tasks/{token}/complete", {"result": 3}, code=409)["code"], "task_closed")
        self.assertEqual(self.ask("POST", f"/v1/tasks/{token}/heartbeat", code=409)["code"], "task_closed")
        self.assertEqual(self.ask("POST", f"/v1/tasks/{token[:-2]}AA", {"result": 3}, code=404)["code"], "unknown_task")
        self.ask("POST", f"/v1/tasks/{token}", {"error": 7}, code=400)
        self.ask("POST", f"/v1/tasks/{token}/complete", {"resultt": 3}, code=400)

    def test_a_failure_is_tried_again_with_the_same_key(self):
        self.define("flaky2", {"url": self.functions.url("/flaky"), "retry": {"attempts": 5, "interval": "10ms"}})
        self.start("flaky2")

        self.assertEqual(self.ending()["status"], "succeeded")

        headers = [call["headers"] for call in self.functions.calls]
        self.assertEqual([each["Sluice-Attempt"] for each in headers], ["1", "2", "3"])
        self.assertEqual(len({each["Idempotency-Key"] for each in headers}), 1)
        self.assertEqual(len({each["Sluice-Token"] for each in headers}), 3)

    def test_who_asks_to_be_left_alone_is(self):
        self.define("busy", {"url": self.functions.url("/busy"), "retry": {"attempts": 2, "interval": "1ms"}})
        begun = time.monotonic()
        self.start("busy")

        self.assertEqual(self.ending()["status"], "succeeded")

        self.assertGreater(time.monotonic() - begun, 0.9)

    def test_a_function_names_its_errors(self):
        self.define("sold_out", {"url": self.functions.url("/sold-out")})
        self.start("sold_out")

        ending = self.ending()

        self.assertEqual(ending["status"], "failed")
        self.assertIn("sold_out", json.dumps(ending["error"]))
        self.assertIn("there is none left", json.dumps(ending["error"]))

    def test_nobody_there_and_a_timeout_are_failures_with_kinds(self):
        self.define("gone", {"url": "http://127.0.0.1:1/"})
        self.define("hang", {"url": self.functions.url("/hang"), "timeout": "50ms"})
        self.start("gone", run="r1")
        self.start("hang", run="r2")

        self.assertIn("unreachable", json.dumps(self.ending("r1")["error"]))
        self.assertIn("timeout", json.dumps(self.ending("r2")["error"]))

    def test_cancelling_the_run_ends_the_call(self):
        self.define("hang", {"url": self.functions.url("/hang")})
        self.start("hang")
        self.called(1)

        self.ask("POST", "/v1/runs/r1/terminate")

        self.until(lambda: self.functions.ended, "the call was closed")
        self.assertEqual(self.functions.ended, [b""])

    def test_calls_are_made_again_with_the_same_key_after_a_kill(self):
        self.define("hang", {"url": self.functions.url("/hang")})
        self.define("later", {"url": self.functions.url("/later")})
        for number in range(5):
            self.start("hang", run=f"h{number}")
            self.start("later", run=f"l{number}")
        before = {call["headers"]["Idempotency-Key"]: call["headers"]["Sluice-Token"] for call in self.called(10)}

        self.stop(signal.SIGKILL)
        self.serve()

        after = {call["headers"]["Idempotency-Key"]: call["headers"]["Sluice-Token"] for call in self.called(20)[10:]}
        self.assertEqual(before, after)
        self.assertEqual(len(after), 10)
        for key, token in before.items():
            self.ask("POST", f"/v1/tasks/{token}", {"result": key})
        for run in [f"{kind}{number}" for kind in "hl" for number in range(5)]:
            self.assertEqual(self.ending(run)["status"], "succeeded")

    def test_a_stop_leaves_calls_for_the_next_start(self):
        self.define("hang", {"url": self.functions.url("/hang")})
        self.start("hang")
        self.called(1)
        self.stop(signal.SIGTERM)
        self.assertEqual(self.process.returncode, 0)
        self.serve()
        first, second = self.called(2)
        self.assertEqual(first["headers"]["Idempotency-Key"], second["headers"]["Idempotency-Key"])

    def test_run_calls_them_too(self):
        file = self.folder / "definition.yaml"
        file.write_text(f"""
name: local
functions:
  echo2: {{url: "{self.functions.url('/echo')}"}}
triggers:
  - {{id: begin, on: sluice.run.started, action: {{invoke: {{function: echo2, input: 7}}}}}}
  - {{id: done, on: sluice.task.succeeded, action: {{finish: {{result: "${{data.result}}"}}}}}}
""")
        done = subprocess.run([PROGRAM, "run", str(file)], capture_output=True, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, json.loads(done.stdout)), (0, {"got": 7}), done.stderr)
        file.write_text(re.sub("{url: .*}", "{kind: poll}", file.read_text()))
        refused = subprocess.run([PROGRAM, "run", str(file)], capture_output=True, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("sluice serve", refused.stderr)


class GuardedServer(FunctionTest):
    """As it comes: nothing on this machine or in private networks can be reached."""

    options = ()

    def test_private_addresses_are_refused(self):
        for number, url in enumerate([self.functions.url("/echo"), "http://169.254.169.254/latest", "http://[::1]/",
                                      "http://localhost:1/", "http://0x7f000001/", "http://10.0.0.1/"]):
            self.define(f"f{number}", {"url": url, "retry": {"attempts": 5}, "timeout": "5s"})
            self.start(f"f{number}", run=f"r{number}")
            error = json.dumps(self.ending(f"r{number}")["error"])
            self.assertRegex(error, "forbidden_address|unreachable")
        self.assertEqual(self.functions.calls, [])

    def test_the_operator_may_allow_one_function_to_go_there(self):
        self.stop()
        file = self.folder / "functions.yaml"
        file.write_text(f"""
functions:
  inner: {{url: "{self.functions.url('/echo')}", allow_private: true, headers: {{X-Key: "${{secret:key}}"}}}}
  outer: {{url: "{self.functions.url('/echo')}", headers: {{X-Key: "${{secret:key}}"}}}}
  today: {{command: "echo 7"}}
""")
        (self.folder / "secrets").mkdir()
        (self.folder / "secrets/key").write_text("open sesame")
        self.serve("--functions", str(file), "--secrets", str(self.folder / "secrets"))
        for name in ("inner", "outer", "today"):
            self.define(name)
            self.start(name, run=name)
        self.assertEqual(self.ending("inner")["status"], "succeeded")
        self.assertEqual(self.functions.calls[0]["headers"]["X-Key"], "open sesame")
        self.assertIn("forbidden_address", json.dumps(self.ending("outer")["error"]))
        self.assertEqual(self.ending("today")["result"], 7)
        (self.folder / "secrets/key").write_text("shut sesame")
        self.start("inner", run="again")
        self.assertEqual(self.ending("again")["status"], "succeeded")
        self.assertEqual(self.functions.calls[-1]["headers"]["X-Key"], "shut sesame")
        self.ask("PUT", "/v1/functions/inner", {"url": "http://example.org"}, code=409)
        self.ask("DELETE", "/v1/functions/inner", code=409)

    def test_the_api_takes_what_is_safe_and_says_what_is_wrong(self):
        refused = self.ask("PUT", "/v1/functions/x", {"command": "true"}, code=403)
        self.assertEqual(refused["code"], "forbidden")
        self.ask("PUT", "/v1/functions/x", {"url": "http://example.org", "allow_private": True}, code=403)
        self.ask("PUT", "/v1/functions/x", {"url": "http://example.org", "headers": {"X": "${secret:root}"}}, code=403)
        wrong = self.ask("PUT", "/v1/functions/x", {"kind": "http", "urll": 7}, code=422)
        self.assertEqual(wrong["code"], "invalid_function")
        self.assertEqual(len(wrong["findings"]), 2)
        for headers in ({"Host": "x"}, {"X": "a\r\nb"}, {"a b": "c"}):
            self.ask("PUT", "/v1/functions/x", {"url": "http://example.org", "headers": headers}, code=422)
        self.ask("PUT", "/v1/functions/x", {"url": "http://user:word@example.org"}, code=400)
        self.ask("GET", "/v1/functions/x", code=404)
        self.ask("DELETE", "/v1/functions/x", code=404)
        findings = self.ask("POST", "/v1/definitions", """
name: brings
functions: {evil: {command: "true"}}
triggers:
  - {id: begin, on: sluice.run.started, action: {invoke: evil}}
""", code=422)["findings"]
        self.assertIn("no functions from definitions", findings[0]["message"])

    def test_functions_are_kept_and_go(self):
        self.ask("PUT", "/v1/functions/kept", {"url": "https://example.org/?code=x", "headers": {"Authorization": "Bearer x"}})
        self.define("polled", {"kind": "poll"})
        self.stop(signal.SIGKILL)
        self.serve()
        kept = self.ask("GET", "/v1/functions/kept")
        self.assertEqual((kept["kind"], kept["origin"], kept["headers"]), ("http", "api", {"Authorization": "…"}))
        self.assertEqual(kept["url"], "https://example.org/?…")
        names = {each["function"]: each["kind"] for each in self.ask("GET", "/v1/functions")["functions"]}
        self.assertLessEqual({"kept": "http", "polled": "poll", "echo": "builtin"}.items(), names.items())
        self.start("polled")
        self.until(lambda: self.ask("GET", "/v1/runs/r1")["status"] == "running", "begun")
        self.ask("DELETE", "/v1/functions/polled")
        self.assertIn("unknown_function", json.dumps(self.ending()["error"]))
        self.ask("POST", "/v1/functions/polled/poll?wait=0s", code=404)


class PollFunctions(FunctionTest):
    def work(self, *options):
        worker = subprocess.Popen([sys.executable, str(WORKER), "--server", f"http://127.0.0.1:{self.port}", *options],
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, worker)
        self.assertIn("working for", worker.stderr.readline())
        return worker

    def test_a_worker_asks_and_answers(self):
        self.define("grind", {"kind": "poll", "timeout": "5m"})
        self.ask("POST", "/v1/functions/grind/poll?wait=1ms", code=204)
        self.start("grind", {"n": 1})

        task, = self.poll("grind", most=10)

        self.assertEqual((task["run"], task["input"], task["attempt"], task["offer"]), ("r1", {"n": 1}, 1, 1))
        self.assertIn("deadline", task)
        self.ask("POST", f"/v1/tasks/{task['token']}/heartbeat", {"lease": task["lease"]}, code=204)
        self.ask("POST", f"/v1/tasks/{task['token']}/heartbeat", {"lease": 1}, code=409)
        self.ask("POST", f"/v1/tasks/{task['token']}/complete", {"result": "ground"})
        self.assertEqual(self.ending()["result"], "ground")
        self.ask("POST", "/v1/functions/grind/poll?wait=1h", code=400)
        self.ask("POST", "/v1/functions/grind/poll?most=0", code=400)
        self.ask("POST", "/v1/functions/none/poll", code=404)

    def test_a_failed_task_is_tried_again_with_the_same_key(self):
        self.define("grind", {"kind": "poll", "retry": {"attempts": 2, "interval": "1ms", "on": ["worn"]}})
        self.start("grind")
        first, = self.poll("grind")
        self.ask("POST", f"/v1/tasks/{first['token']}/fail", {"kind": "worn", "message": "the stone is worn"})
        second, = self.poll("grind")
        self.assertEqual((second["attempt"], second["idempotency_key"]), (2, first["idempotency_key"]))
        self.assertNotEqual(second["token"], first["token"])
        self.ask("POST", f"/v1/tasks/{first['token']}/complete", {}, code=409)
        self.ask("POST", f"/v1/tasks/{second['token']}/fail", {"kind": "broken", "message": "it broke"})
        self.assertIn("it broke", json.dumps(self.ending()["error"]))

    def test_waiting_workers_get_tasks_at_once_and_are_sent_away_at_a_stop(self):
        self.define("grind", {"kind": "poll"})
        tasks = []
        threads = [threading.Thread(target=lambda: tasks.extend(self.poll("grind"))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(3):
            self.start("grind", run=f"r{number}")
        for thread in threads:
            thread.join(TIMEOUT)
        self.assertEqual(sorted(task["run"] for task in tasks), ["r0", "r1", "r2"])
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        asked.request("POST", "/v1/functions/grind/poll?wait=60s")
        self.ask("GET", "/healthz")
        begun = time.monotonic()
        self.stop(signal.SIGTERM)
        self.assertEqual(asked.getresponse().status, 204)
        asked.close()
        self.assertLess(time.monotonic() - begun, 8)

    def test_a_worker_that_died_while_it_waited_gets_nothing(self):
        self.define("grind", {"kind": "poll"})
        dead = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        dead.request("POST", "/v1/functions/grind/poll?wait=60s")
        self.ask("GET", "/healthz")
        dead.close()
        self.ask("GET", "/healthz")
        self.start("grind")
        task, = self.poll("grind", wait="5s")
        self.assertEqual(task["offer"], 1)

    def test_a_worker_keeps_its_task_over_a_kill_of_the_server(self):
        self.define("grind", {"kind": "poll", "heartbeat": "30s"})
        self.start("grind")
        task, = self.poll("grind")
        self.stop(signal.SIGKILL)
        self.serve()
        self.until(lambda: self.beats(task), "the task is there again")
        self.ask("POST", "/v1/functions/grind/poll?wait=0s", code=204)
        self.ask("POST", f"/v1/tasks/{task['token']}/complete", {"result": 1})
        self.assertEqual(self.ending()["result"], 1)

    def beats(self, task):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        connection.request("POST", f"/v1/tasks/{task['token']}/heartbeat", json.dumps({"lease": task["lease"]}))
        status = connection.getresponse().status
        connection.close()
        return status == 204

    def test_the_example_works_longer_than_its_lease(self):
        self.define("thumbnail", {"kind": "poll", "heartbeat": "600ms", "offers": 1})
        worker = self.work()
        self.start("thumbnail", {"image": "cat", "width": 10, "seconds": 1.5}, "r1")
        self.start("thumbnail", {"width": 0}, "r2")
        result = self.ending("r1")["result"]
        self.assertEqual((result["image"], result["worker"]), ("cat@10", worker.pid))
        self.assertIn("invalid_input", json.dumps(self.ending("r2")["error"]))
        worker.send_signal(signal.SIGINT)
        self.assertEqual(worker.wait(TIMEOUT), 0)

    def test_what_a_dead_worker_had_is_offered_again(self):
        self.define("thumbnail", {"kind": "poll", "heartbeat": "1s"})
        worker = self.work("--tasks", "1")
        self.start("thumbnail", {"seconds": 600})
        begun = worker.stderr.readline().split()[-1]
        worker.kill()

        task, = self.poll("thumbnail")

        self.assertEqual((task["idempotency_key"], task["attempt"], task["offer"]), (begun, 1, 2))
        self.ask("POST", f"/v1/tasks/{task['token']}/complete", {"result": "by another"})
        self.assertEqual(self.ending()["result"], "by another")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
