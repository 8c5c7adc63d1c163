"""A `sluice serve` on a free port, and requests to it."""
import http.client
import json
import re
import subprocess
import tempfile
import urllib.parse


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.type = (response.getheader("Content-Type") or "").split(";")[0]
        self.headers = response.headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)


class Server:
    def __init__(self, program, *options):
        self.folder = tempfile.TemporaryDirectory()
        self.command = [program, "serve", "--data", self.folder.name, "--listen", "127.0.0.1:0", *options]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found.group(1))
                return
        raise RuntimeError("the server did not say where it listens")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def close(self):
        self.kill()
        self.folder.cleanup()

    def ask(self, method, path, body=None, content_type="application/json", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection.request(method, path, content, {"Content-Type": content_type, **(headers or {})})
        response = connection.getresponse()
        answer = Answer(response, response.read())
        connection.close()
        return answer

    def send(self, run, identity, kind="item", data=None):
        event = {"specversion": "1.0", "id": str(identity), "source": "/test", "type": kind, "run": run, "data": data}
        return self.ask("POST", "/events", event, "application/cloudevents+json").status

    def follow(self, path, last_id=None):
        return Following(self.port, path, last_id)


class Following:
    """Server-sent events, one at a time."""

    def __init__(self, port, path, last_id=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.connection.request("GET", path, headers={"Last-Event-ID": last_id} if last_id else {})
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def __iter__(self):
        return self

    def __next__(self):
        event = {}
        while True:
            line = self.response.readline().decode().rstrip("\n")
            if not line and "data" in event:
                return event["event"], event.get("id"), json.loads(event["data"])
            if not line or line.startswith(":"):
                event = {}
                continue
            name, _, value = line.partition(": ")
            event[name] = value

    def close(self):
        self.response.close()
        self.connection.close()


def quoted(text):
    return urllib.parse.quote(text, safe="")
