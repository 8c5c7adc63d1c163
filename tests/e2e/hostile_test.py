#!/usr/bin/env python3
"""What nobody means well sends a server: refused with the right status, and the server is there afterwards.

usage: hostile_test.py PROGRAM
"""
import json
import os
import sys

from server import ServerTest, unittest

DEFINITION = b"name: pair\ntriggers:\n  - {id: t, on: item, condition: {count: 2}, action: {finish: {}}}\n"
EVENT = {"specversion": "1.0", "id": "1", "source": "/t", "type": "item", "run": "r1"}
STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"


def request(method, target, *fields, body=b""):
    head = [f"{method} {target} HTTP/1.1".encode(), b"Host: 127.0.0.1", b"Connection: close", *fields]
    if body and not any(field.lower().startswith((b"content-length", b"transfer-encoding")) for field in fields):
        head.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def nested(depth, begin, end):
    return begin * depth + end * depth


# Paths that lead out of where they may lead, or are no paths.
PATHS = {
    "dots": ("/../../etc/passwd", 400),
    "dots, encoded": ("/v1/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd", 400),
    "dots, encoded twice": ("/v1/runs/%252e%252e%252f", 404),
    "dots as a segment": ("/v1/definitions/..", 400),
    "backslashes": ("/v1/runs/..\\..\\etc\\passwd", 404),
    "an absolute file": ("//etc/passwd", 400),
    "a zero": ("/v1/runs/a%00b", 400),
    "half an escape": ("/v1/runs/%2", 400),
    "no escape": ("/v1/runs/%zz", 400),
    "UTF-8 that is too long": ("/v1/runs/%c0%ae%c0%ae", 400),
    "long": ("/v1/runs/" + "a" * 10_000, 413),
    "many segments": ("/" + "a/" * 5_000, 413),
    "many parameters": ("/v1/runs?" + "&".join(f"a{n}=1" for n in range(1_500)), 413),
}

# Requests that are wrong as such.
REQUESTS = {
    "noise": (bytes(range(256)) * 4, 400),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 500, 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 505)),
    "no host": (b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", 421),
    "a foreign host": (b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 421),
    "two lengths": (request("POST", "/events", b"Content-Length: 5", b"Content-Length: 6", body=b"abcdef"), 400),
    "a length that is none": (request("POST", "/events", b"Content-Length: -1"), 400),
    "a huge length": (request("POST", "/events", b"Content-Length: 99999999999999999999"), (400, 413)),
    "a large length": (request("POST", "/events", b"Content-Length: 5000000000"), 413),
    "length and chunks": (request("POST", "/events", b"Content-Length: 5", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"), 400),
    "a chunk that is none": (request("POST", "/events", b"Transfer-Encoding: chunked", body=b"zz\r\nabc\r\n"), 400),
    "a huge chunk": (request("POST", "/events", b"Transfer-Encoding: chunked", body=b"ffffffffffffffff\r\n"), (400, 413)),
    "one long field": (request("GET", "/healthz", b"X: " + b"x" * 20_000), 431),
    "many fields": (request("GET", "/healthz", *(b"X%d: 1" % n for n in range(5_000))), 431),
    "a field in two lines": (request("GET", "/healthz", b"X: a\r\n b"), (200, 400)),
    "a space before the colon": (request("GET", "/healthz", b"X : a"), 400),
    "a method of its own": (request("BREW", "/healthz"), (400, 405)),
    "a proxy's request": (request("GET", "http://169.254.169.254/latest/meta-data"), (400, 404)),
    "too large a body": (request("POST", "/events", body=b"x" * (5 << 20)), 413),
}

# Bodies that blow up, or are not what they say.
BODIES = {
    "nothing, which is a run of no definition": (b"", 201),
    "half": (b'{"id":', 400),
    "not UTF-8": (b'{"id":"\xff\xfe"}', 400),
    "half a surrogate": (b'{"id":"\\ud800"}', 400),
    "deep lists": (nested(100_000, b"[", b"]"), 413),
    "deep maps": (nested(100_000, b'{"a":', b"}").replace(b":}", b":1}", 1), 413),
    "open brackets": (b"[" * 1_000_000, 400),
    "a huge number": (b'{"id":' + b"9" * 100_000 + b"}", 400),
    "a huge exponent": (b'{"id":1e999999999}', 400),
    "NaN": (b'{"id":NaN}', 400),
    "the same key twice, of which the first stands": (b'{"id":"b","id":"../a","definition":"pair"}', 201),
    "many keys": (b"{" + b",".join(b'"k%d":1' % n for n in range(200_000)) + b"}", 400),
    "a comment": (b'{/* a */"id":"a"}', 400),
    "a list": (b"[]", 400),
    "two values": (b'{} {}', 400),
    "a byte order mark": (b"\xef\xbb\xbf{}", 400),
}

EVENTS = {
    "deep data": (json.dumps({**EVENT, "data": 0}).replace('"data": 0', '"data": ' + "[" * 50_000 + "]" * 50_000).encode(), STRUCTURED, 413),
    "the same attribute twice": (b'{"specversion":"1.0","id":"1","id":"2","source":"/t","type":"item","run":"r1"}', STRUCTURED, 400),
    "a huge extension name, which is still a name": (json.dumps({**EVENT, "x" * 100_000: 1}).encode(), STRUCTURED, 202),
    "too large an event": (json.dumps({**EVENT, "data": "x" * (2 << 20)}).encode(), STRUCTURED, 413),
    "a batch that is none": (json.dumps(EVENT).encode(), BATCH, 400),
    "a batch of nothing sensible": (b"[1,2,3]", BATCH, 400),
    "a batch of lists": (b"[" + b",".join([b"[]"] * 100_000) + b"]", BATCH, 400),
    "a run out of its folder": (json.dumps({**EVENT, "run": "../../etc/passwd"}).encode(), STRUCTURED, (400, 404)),
    "a run with a zero": (json.dumps({**EVENT, "run": "a\0b"}).encode(), STRUCTURED, (400, 404)),
    "base64 that is none": (json.dumps({**EVENT, "data_base64": "%%%"}).encode(), STRUCTURED, 400),
}

DEFINITIONS = {
    "aliases that blow up": b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 9)) for n in range(9)),
    "deep YAML": b"name: x\ntriggers: " + b"[" * 50_000,
    "a tag of its own": b"name: !!python/object/apply:os.system [id]\ntriggers: []\n",
    "not UTF-8": b"name: \xff\n",
    "binary": bytes(range(256)) * 100,
}


class HostileTest(ServerTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve()
        self.assertEqual(self.server.ask("POST", "/v1/definitions", DEFINITION)[0], 201)
        self.assertEqual(self.server.ask("POST", "/v1/runs", {"id": "r1", "definition": "pair"})[0], 201)

    def tearDown(self):
        self.assertEqual(self.server.ask("GET", "/v1/runs/r1")[1]["status"], "running")
        self.assertEqual(self.server.ask("GET", "/readyz")[0], 200)
        self.assertEqual(self.server.stop(), 0)

    def check(self, name, expected, found, answer=""):
        expected = expected if isinstance(expected, tuple) else (expected,)
        with self.subTest(name):
            self.assertIn(found, expected, str(answer)[:500])
            self.assertNotIn("root:", str(answer))

    def test_paths(self):
        for name, (path, expected) in PATHS.items():
            self.check(name, expected, *self.server.raw(request("GET", path)))

    def test_requests(self):
        for name, (text, expected) in REQUESTS.items():
            self.check(name, expected, *self.server.raw(text))

    def test_bodies(self):
        for name, (body, expected) in BODIES.items():
            self.check(name, expected, *self.server.ask("POST", "/v1/runs", body))

    def test_events(self):
        for name, (body, kind, expected) in EVENTS.items():
            self.check(name, expected, *self.server.ask("POST", "/events", body, headers={"Content-Type": kind}))

    def test_definitions(self):
        for name, body in DEFINITIONS.items():
            self.check(name, 422, *self.server.ask("POST", "/v1/definitions", body))

    def test_names_that_a_key_cannot_hold(self):
        for name in ("a" * 251, "a/b", "a b", "\0", "~", "a~"):
            status, answer = self.server.ask("POST", "/v1/runs", {"id": name, "definition": "pair"})
            self.check(repr(name), 400, status, answer)
        for space in ("a" * 201, "a%00b", "", "a%2Fb"):
            for method, path in (("POST", "/v1/runs"), ("GET", "/v1/runs"), ("GET", "/v1/definitions/pair"), ("POST", "/events")):
                status, answer = self.server.ask(method, f"{path}?namespace={space}", b"{}" if method == "POST" else None)
                self.check((method, path, space), 400, status, answer)
        long = "a" * 300
        for method, path, expected in (("GET", f"/v1/definitions/{long}", 404), ("GET", f"/v1/runs?definition={long}", (200, 400)),
                                       ("GET", f"/v1/runs?label={long}%3Db", (200, 400)), ("GET", f"/v1/runs?cursor={long}", (200, 400)),
                                       ("GET", f"/v1/runs/{long}", 400), ("DELETE", f"/v1/runs/{long}", 400),
                                       ("POST", f"/v1/runs/{long}/cancel", 400), ("DELETE", f"/v1/tokens/{long}", 404)):
            self.check((method, path[:20]), expected, *self.server.ask(method, path))
        for members in ({"definition": long}, {"definition": "pair", "labels": {long: "a"}}, {"definition": "pair", "labels": {"a": long}}):
            self.check(members, (400, 404), *self.server.ask("POST", "/v1/runs", {"id": "x", **members}))
        self.check("definition", (400, 422), *self.server.ask("POST", "/v1/definitions", DEFINITION.replace(b"pair", long.encode())))
        self.check("token", 400, *self.server.ask("POST", "/v1/tokens", {"name": long, "role": "admin"}))

    def test_no_file_appears_outside_of_the_data(self):
        for path in ("/v1/runs/..%2f..%2fout/events", "/v1/definitions/..%2fout"):
            self.server.raw(request("POST", path, b"Content-Type: application/json", body=b"{}"))
        self.assertEqual(os.listdir(self.folder), ["data"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ServerTest.PROGRAM = sys.argv.pop(1)
    unittest.main()
