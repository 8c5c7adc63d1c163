"""A server under test, behind a real socket."""
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest

TIMEOUT = 60


class Server:
    """`sluice serve`, or a worker or gateway, with a folder of its own; what it tells is kept line by line."""

    def __init__(self, program, folder, *arguments, environment=None, listen="127.0.0.1:0", part="serve"):
        self.arguments = [program, part, "--data", folder, "--listen", listen, *arguments]
        self.environment = {**os.environ, **(environment or {})}
        self.lines = []
        self.heard = threading.Condition()
        self.process = subprocess.Popen(self.arguments, stderr=subprocess.PIPE, text=True, env=self.environment)
        self.reader = threading.Thread(target=self.listen, daemon=True)
        self.reader.start()
        found = re.search(r"(https?)://[^\s\"]+:(\d+)", self.wait_for("serving"))
        self.is_tls = found.group(1) == "https"
        self.port = int(found.group(2))

    def listen(self):
        for line in self.process.stderr:
            with self.heard:
                self.lines.append(line)
                self.heard.notify_all()
        with self.heard:
            self.lines.append(None)
            self.heard.notify_all()

    def wait_for(self, text):
        """The first line with this text; it is told only once."""
        with self.heard:
            def found():
                return next((line for line in self.lines if line is None or text in line), "")
            if not self.heard.wait_for(found, TIMEOUT) or found() is None:
                raise AssertionError(f"the server did not tell {text!r}: {self.lines}")
            line = found()
            self.lines.remove(line)
            return line

    def connect(self, timeout=TIMEOUT):
        if not self.is_tls:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=unverified())

    def ask(self, method, path, body=None, token=None, headers=None, timeout=TIMEOUT):
        connection = self.connect(timeout)
        content = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **(headers or {})}
        if token:
            sent["Authorization"] = "Bearer " + token
        connection.request(method, path, content, sent)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else text

    def raw(self, data, timeout=TIMEOUT):
        """What comes back for these bytes until the server closes, and the status of it; 0: nothing came."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            answer = b""
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                while part := connection.recv(65536):
                    answer += part
            except (ConnectionResetError, BrokenPipeError):
                pass
        found = re.match(rb"HTTP/1\.1 (\d+)", answer)
        return int(found.group(1)) if found else 0, answer

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        self.signal(signal.SIGTERM)
        return self.process.wait(timeout=TIMEOUT)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()


def unverified():
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class ServerTest(unittest.TestCase):
    PROGRAM = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.data = os.path.join(self.folder, "data")

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def serve(self, *arguments, **options):
        server = Server(self.PROGRAM, self.data, *arguments, **options)
        self.addCleanup(server.kill)
        return server

    def run_program(self, *arguments, environment=None):
        return subprocess.run([self.PROGRAM, *arguments], capture_output=True, text=True, timeout=TIMEOUT,
                              env={**os.environ, **(environment or {})}, check=False)
