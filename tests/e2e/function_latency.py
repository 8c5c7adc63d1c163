#!/usr/bin/env python3
"""How long it takes from an event to the call of a function: http on loopback, strict, low load, one at a time.

usage: function_latency.py PROGRAM [EVENTS]

Prints the percentiles beside a loopback round trip of the same server and the synced write that `sluice bench`
measures, as JSON. One thread sends the event and then waits for the call, so no hand-over of ours is counted.
"""
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

DEFINITION = """
name: calls
triggers:
  - {id: each, on: item, lifetime: persistent, action: {invoke: {function: called, input: 1}}}
  - {id: done, on: sluice.task.succeeded, lifetime: persistent, action: {set: {run: {last: 1}}}}
"""
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n1"


def read_message(connection, rest=b""):
    """Head and body of one message, and what came behind."""
    while b"\r\n\r\n" not in rest:
        rest += connection.recv(65536)
    head, _, body = rest.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    size = int(length.group(1)) if length else 0
    while len(body) < size:
        body += connection.recv(65536)
    return head, body[:size], body[size:]


class Client:
    def __init__(self, port):
        self.connection = socket.create_connection(("127.0.0.1", port))
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, method, path, body=b"", headers=""):
        self.connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
                                .encode() + body)

    def answer(self):
        head, body, _ = read_message(self.connection)
        return int(head.split()[1]), body

    def ask(self, *request):
        self.send(*request)
        return self.answer()


def percentiles(times):
    times = sorted(times)
    return {name: round(times[int(len(times) * share)] * 1e6) for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))}


def main():
    program, count = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    listener = socket.create_server(("127.0.0.1", 0))
    with tempfile.TemporaryDirectory(dir=pathlib.Path.cwd()) as folder:
        server = subprocess.Popen([program, "serve", "--data", folder, "--listen", "127.0.0.1:0", "--allow-private"],
                                  stderr=subprocess.PIPE, text=True)
        try:
            client = Client(int(re.search(r":(\d+) from", server.stderr.readline()).group(1)))
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            assert client.ask("PUT", "/v1/functions/called", json.dumps({"url": url, "format": "json"}).encode())[0] == 200
            assert client.ask("POST", "/v1/definitions", DEFINITION.encode())[0] == 201
            assert client.ask("POST", "/v1/runs", b'{"id": "r", "definition": "calls"}')[0] == 201
            calls, function, rest = [], None, b""
            for number in range(count + 100):
                headers = (f"ce-specversion: 1.0\r\nce-id: {number}\r\nce-source: /t\r\nce-type: item\r\nce-run: r\r\n"
                           "Content-Type: application/json\r\n")
                begun = time.perf_counter()
                client.send("POST", "/events", b"{}", headers)
                if function is None:
                    function, _ = listener.accept()
                    function.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                _, _, rest = read_message(function, rest)
                calls.append(time.perf_counter() - begun)
                function.sendall(OK)
                assert client.answer()[0] == 202
                time.sleep(0.001)  # The commit of the answer is over: this is low load.
            trips = []
            for _ in range(count):
                begun = time.perf_counter()
                client.ask("GET", "/healthz")
                trips.append(time.perf_counter() - begun)
        finally:
            server.kill()
            server.communicate()
        bench = subprocess.run([program, "bench", "noop", "--repetitions", "1", "--events", "20000"], capture_output=True,
                               text=True, check=True, cwd=folder)
    ceiling = re.search(r"ceiling_sync_us\W+([\d.]+)", bench.stdout)
    figures = {"events": count, "event_to_call_us": percentiles(calls[100:]), "round_trip_us": percentiles(trips),
               "ceiling_sync_us": float(ceiling.group(1)) if ceiling else None}
    if ceiling:
        figures["asked_p50_us"] = round(3 * figures["ceiling_sync_us"] + figures["round_trip_us"]["p50"])
    print(json.dumps(figures))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
