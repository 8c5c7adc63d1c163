#!/usr/bin/env python3
"""A worker for functions of kind poll: asks a Sluice server for tasks, does them, answers. Standard Python only.

usage: worker.py [--server http://127.0.0.1:8080] [--token TOKEN] [--namespace NAME] [--tasks 4] [FUNCTION…]

Set a function up once (`curl -X PUT $SERVER/v1/functions/thumbnail -d '{"kind": "poll", "heartbeat": "15s"}'`), write
a Python function of that name below, and start as many workers as you like. A worker that dies loses nothing: the
server offers its tasks to another when their lease ends. Ctrl-C finishes what was begun, a second one does not.
"""
import argparse
import json
import os
import signal
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

FUNCTIONS = {}


def function(work):
    """Makes it a function that tasks can call by its name: the input is its argument, what it returns the result."""
    FUNCTIONS[work.__name__] = work
    return work


class TaskError(Exception):
    """Fails the task with a kind that retry policies can name."""

    def __init__(self, kind, message, detail=None):
        super().__init__(message)
        self.kind, self.detail = kind, detail


@function
def thumbnail(task):
    """Stands for real work. `task.is_lost()` says that nobody waits for the result any more."""
    width = task.input.get("width", 100)
    if not isinstance(width, int) or width < 1:
        raise TaskError("invalid_input", f"width {width}: expected a number of pixels")
    until = time.monotonic() + task.input.get("seconds", 0)
    while time.monotonic() < until and not task.is_lost():
        task.lost.wait(0.05)
    return {"image": f"{task.input.get('image', 'none')}@{width}", "worker": os.getpid(), "key": task.idempotency_key}


class Server:
    def __init__(self, address, token, namespace):
        self.address, self.token, self.namespace = address.rstrip("/"), token, namespace

    def post(self, path, body=None, timeout=30, **query):
        """Status and JSON of the answer; what is no answer at all is an OSError."""
        query = {**({"namespace": self.namespace} if self.namespace else {}), **query}
        address = f"{self.address}{path}?{urllib.parse.urlencode(query)}"
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(address, json.dumps(body or {}).encode(), headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")


class Task:
    def __init__(self, server, form):
        self.server = server
        self.path = "/v1/tasks/" + form["token"]
        self.name, self.input, self.idempotency_key = form["function"], form["input"], form["idempotency_key"]
        self.attempt, self.lease, self.lease_seconds = form["attempt"], form["lease"], form["lease_seconds"]
        self.lost = threading.Event()
        self.done = threading.Event()

    def is_lost(self):
        return self.lost.is_set()

    def beat(self):
        """Keeps the lease while the work goes on; three times within it, so that one may fail."""
        while not self.done.wait(self.lease_seconds / 3):
            try:
                status, _ = self.server.post(self.path + "/heartbeat", {"lease": self.lease}, timeout=self.lease_seconds)
            except OSError:
                continue
            if status in (404, 409):
                self.lost.set()
                return

    def run(self):
        tell(f"{self.name}: began {self.idempotency_key}")
        beating = threading.Thread(target=self.beat, daemon=True)
        beating.start()
        try:
            self.answer("complete", {"result": FUNCTIONS[self.name](self)})
        except TaskError as error:
            self.answer("fail", {"kind": error.kind, "message": str(error), "detail": error.detail})
        except Exception as error:  # pylint: disable=broad-except  # Whatever goes wrong is the task's failure.
            self.answer("fail", {"kind": type(error).__name__, "message": str(error) or "it gave no reason"})
        finally:
            self.done.set()

    def answer(self, how, body):
        """Until the server has it: a repeated answer is refused as late, which is as good."""
        pause = 0.1
        while not self.is_lost():
            try:
                status, problem = self.server.post(f"{self.path}/{how}", body)
            except OSError:
                status, problem = 503, {}
            if status < 500 and status != 429:
                if status not in (200, 409):
                    tell(f"{self.name}: the answer was refused: {problem.get('detail', status)}")
                return
            time.sleep(pause)
            pause = min(pause * 2, 5)


class Worker:
    def __init__(self, server, name, places):
        self.server, self.name, self.places = server, name, places
        self.is_stopping = threading.Event()

    def run(self):
        """Asks in each place for one task at a time: a task is taken only where it begins at once."""
        threads = [threading.Thread(target=self.serve) for _ in range(self.places)]
        for thread in threads:
            thread.start()
        return threads

    def serve(self):
        pause = 0.1
        while not self.is_stopping.is_set():
            try:
                status, answer = self.server.post(f"/v1/functions/{urllib.parse.quote(self.name, safe='')}/poll",
                                                  timeout=40, wait="10s", most=1)
            except OSError as error:
                status, answer = 503, {"detail": str(error)}
            if status in (200, 204):
                pause = 0.1
                for form in answer.get("tasks", []):
                    Task(self.server, form).run()
                continue
            tell(f"{self.name}: {answer.get('detail', status)}")
            self.is_stopping.wait(pause)
            pause = min(pause * 2, 10)


def tell(line):
    print(line, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help="those to work for; otherwise all of this file")
    parser.add_argument("--server", default=os.environ.get("SLUICE_SERVER", "http://127.0.0.1:8080"))
    parser.add_argument("--token", default=os.environ.get("SLUICE_TOKEN", ""))
    parser.add_argument("--namespace", default="")
    parser.add_argument("--tasks", type=int, default=4, help="at once, of each function")
    options = parser.parse_args()
    unknown = [name for name in options.functions if name not in FUNCTIONS]
    if unknown:
        parser.error(f"no function {unknown[0]}: this file has {', '.join(FUNCTIONS)}")
    server = Server(options.server, options.token, options.namespace)
    workers = [Worker(server, name, options.tasks) for name in options.functions or FUNCTIONS]

    def stop(*_):
        if workers[0].is_stopping.is_set():
            os._exit(130)
        tell("stopping: what was begun is finished first")
        for worker in workers:
            worker.is_stopping.set()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    threads = [thread for worker in workers for thread in worker.run()]
    tell(f"working for {', '.join(worker.name for worker in workers)} at {server.address}")
    for thread in threads:
        while thread.is_alive():
            thread.join(0.5)


if __name__ == "__main__":
    main()
