#!/usr/bin/env python3
"""Who may do what to a server, how it is configured, and what it keeps of it: tokens, TLS, audit, reload, stopping.

usage: access_test.py PROGRAM
"""
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading

from server import ServerTest, TIMEOUT, unittest

ROOT_TOKEN = "root-token-of-this-test"
DEFINITION = b"""
name: pair
triggers:
  - {id: both, on: item, condition: {count: 2}, action: {finish: {result: "two came"}}}
"""


class ConfigurationTest(ServerTest):
    def shown(self, *arguments, environment=None):
        done = self.run_program("serve", *arguments, "--show-config", "--json", environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {name: (each["value"], each["origin"]) for name, each in json.loads(done.stdout).items()}

    def test_flags_beat_the_environment_and_that_beats_the_file(self):
        config = self.file("c.yaml", "threads: 2\nlimits:\n  body: 1MiB\n  header: 32KiB\n")
        shown = self.shown("--config", config, "--threads", "4",
                           environment={"SLUICE_THREADS": "3", "SLUICE_LIMITS_BODY": "2MiB", "SLUICE_TOKEN": ROOT_TOKEN})
        self.assertEqual(shown["threads"], ("4", "flag"))
        self.assertEqual(shown["limits.body"], ("2MiB", "environment"))
        self.assertEqual(shown["limits.header"], ("32KiB", "file"))
        self.assertEqual(shown["listen"], ("127.0.0.1:8080", "default"))
        self.assertEqual(shown["token"], ("(set)", "environment"))
        table = self.run_program("serve", "--config", config, "--show-config").stdout
        self.assertRegex(table, r"limits\.header +32KiB +file")

    def test_a_wrong_file_says_where(self):
        config = self.file("c.yaml", "threads: 2\nlimits:\n  bodi: 1MiB\nlog: {level: loud}\n")
        done = self.run_program("serve", "--config", config)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f'{config}:3:3: limits/bodi: unknown setting: did you mean "body"?', done.stderr)
        self.assertIn(f"{config}:4:7: log/level: expected error, warn, info, debug", done.stderr)
        self.assertEqual(self.run_program("serve", "--config", config + "x").returncode, 3)
        done = self.run_program("serve", environment={"SLUICE_THREADS": "many"})
        self.assertEqual((done.returncode, "SLUICE_THREADS=many" in done.stderr), (2, True))

    def test_limits_hold(self):
        server = self.serve("--limits-body", "1KiB", "--limits-header", "2KiB", "--limits-header-time", "100ms")
        self.assertEqual(server.ask("POST", "/v1/runs", b"x" * 2000)[0], 413)
        self.assertEqual(server.ask("GET", "/healthz", headers={"X": "x" * 3000})[0], 431)
        with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT) as slow:
            slow.sendall(b"GET / HTTP/1.1\r\n")
            self.assertEqual(slow.recv(100), b"")

    def test_reload_takes_up_what_may_change(self):
        config = self.file("c.yaml", "hosts: [a.example]\n")
        server = self.serve("--config", config)
        self.assertEqual(server.ask("GET", "/healthz", headers={"Host": "b.example"})[0], 421)
        self.file("c.yaml", "hosts: [b.example]\nthreads: 7\n")
        server.signal(signal.SIGHUP)
        self.assertIn("setting=threads", server.wait_for("only when the server is started again"))
        server.wait_for("was reloaded")
        self.assertEqual(server.ask("GET", "/healthz", headers={"Host": "b.example"})[0], 200)
        self.assertEqual(server.ask("GET", "/healthz", headers={"Host": "a.example"})[0], 421)

        self.file("c.yaml", "hots: [c.example]\n")
        server.signal(signal.SIGHUP)
        self.assertIn("c.yaml:1:1", server.wait_for("was not reloaded"))
        self.assertEqual(server.ask("GET", "/healthz", headers={"Host": "b.example"})[0], 200)

    def test_tells_in_json(self):
        server = self.serve("--json", "--log-level", "debug")
        self.assertEqual(server.stop(), 0)
        self.assertEqual(json.loads(server.wait_for("stopped"))["level"], "info")


class TokenTest(ServerTest):
    def create(self, server, token=None, **members):
        return server.ask("POST", "/v1/tokens", members, token)

    def test_elsewhere_than_on_loopback_nobody_comes_in_without(self):
        done = self.run_program("serve", "--data", self.data, "--listen", "0.0.0.0:0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("sluice token create", done.stderr)
        done = self.run_program("token", "create", "root", "--data", self.data, "--role", "admin")
        self.assertEqual(done.returncode, 0, done.stderr)
        server = self.serve(listen="0.0.0.0:0")
        self.assertEqual(server.ask("GET", "/v1/runs")[0], 401)
        self.assertEqual(server.ask("GET", "/v1/runs", token=done.stdout.strip())[0], 200)
        self.assertEqual(server.ask("GET", "/healthz")[0], 200)
        self.assertEqual(server.ask("DELETE", "/v1/tokens/root", token=done.stdout.strip())[0], 409)

    def test_the_first_token_closes_the_door(self):
        server = self.serve()
        self.assertEqual(self.create(server, name="eyes", role="reader")[0], 409)
        status, root = self.create(server, name="root", role="admin")
        self.assertEqual(status, 201)
        self.assertEqual(self.create(server, name="eyes", role="reader")[0], 401)
        self.assertEqual(server.ask("PUT", "/v1/namespaces/team", token=root["token"])[0], 200)
        status, eyes = self.create(server, root["token"], name="eyes", role="reader", namespace="team", expires="1h")
        self.assertEqual((status, eyes["namespace"]), (201, "team"))
        self.assertEqual(server.ask("GET", "/v1/runs", token=eyes["token"])[0], 200)
        self.assertEqual(server.ask("GET", "/v1/runs?namespace=other", token=eyes["token"])[0], 403)
        self.assertEqual(server.ask("POST", "/v1/runs", {}, eyes["token"])[0], 403)

        status, listed = server.ask("GET", "/v1/tokens", token=root["token"])
        self.assertEqual([each["name"] for each in listed["tokens"]], ["eyes", "root"])
        self.assertNotIn(root["token"], json.dumps(listed))
        self.assertNotIn("hash", json.dumps(listed))
        self.assertEqual(server.stop(), 0)

        server = self.serve()
        self.assertEqual(server.ask("DELETE", "/v1/tokens/eyes", token=root["token"])[0], 200)
        self.assertEqual(server.ask("GET", "/v1/runs", token=eyes["token"])[0], 401)

    def test_an_admin_of_a_namespace_stays_in_it(self):
        server = self.serve(environment={"SLUICE_TOKEN": ROOT_TOKEN})
        self.assertEqual(server.ask("PUT", "/v1/namespaces/team", token=ROOT_TOKEN)[0], 200)
        team = self.create(server, ROOT_TOKEN, name="team", role="admin", namespace="team")[1]["token"]
        for method, path in (("PUT", "/v1/namespaces/mine"), ("DELETE", "/v1/namespaces/team"), ("GET", "/v1/namespaces"),
                             ("PUT", "/v1/namespaces/team/quota"), ("GET", "/v1/namespaces/default/quota")):
            self.assertEqual(server.ask(method, path, token=team)[0], 403, path)
        self.assertEqual(server.ask("GET", "/v1/namespaces/team/quota", token=team)[0], 404)
        self.assertEqual(self.create(server, team, name="spy", role="admin", namespace="other")[0], 403)
        self.assertEqual(self.create(server, team, name="mate", role="operator")[1]["namespace"], "team")
        listed = server.ask("GET", "/v1/tokens", token=team)[1]["tokens"]
        self.assertEqual([each["name"] for each in listed], ["mate", "team"])
        self.assertEqual(server.ask("DELETE", "/v1/tokens/root", token=team)[0], 404)
        self.assertEqual(server.ask("DELETE", "/v1/tokens/root", token=ROOT_TOKEN)[0], 409)

    def test_a_token_whose_time_is_over_is_told_so(self):
        made = json.loads(self.run_program("token", "create", "old", "--for-config", "--role", "admin", "--json").stdout)
        config = self.file("c.yaml", f"tokens:\n  - {{name: old, role: admin, expires: '2020-01-01T00:00:00Z', hash: {made['hash']}}}\n")
        server = self.serve("--config", config)
        status, problem = server.ask("GET", "/v1/runs", token=made["token"])
        self.assertEqual((status, problem["code"]), (401, "token_expired"))

    def test_tokens_of_the_configuration_change_with_it(self):
        secrets = os.path.join(self.folder, "secrets")
        os.mkdir(secrets)
        self.file("secrets/ci", "the-first-secret-of-ci\n")
        config = self.file("c.yaml", f"secrets: {secrets}\ntokens:\n  - {{name: ci, role: admin, secret: '${{secret:ci}}'}}\n")
        server = self.serve("--config", config)
        self.assertEqual(server.ask("GET", "/v1/runs", token="the-first-secret-of-ci")[0], 200)
        self.file("secrets/ci", "the-second-secret-of-ci\n")
        server.signal(signal.SIGHUP)
        server.wait_for("was reloaded")
        self.assertEqual(server.ask("GET", "/v1/runs", token="the-first-secret-of-ci")[0], 401)
        self.assertEqual(server.ask("GET", "/v1/runs", token="the-second-secret-of-ci")[0], 200)
        os.remove(os.path.join(secrets, "ci"))
        server.signal(signal.SIGHUP)
        self.assertIn("there is no secret ci", server.wait_for("was not reloaded"))
        self.assertEqual(server.ask("GET", "/v1/runs", token="the-second-secret-of-ci")[0], 200)


class PolicyTest(ServerTest):
    """Goes by the server's own table, so a new route is held to its policy without a new test."""

    ROLES = ("anyone", "reader", "operator", "admin")
    # A route that everybody may use is listed here, or the test fails.
    OPEN = {("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/openapi.json"), ("GET", "/v1/operations"),
            ("OPTIONS", "/events"), ("OPTIONS", "/v1/runs/{run}/events")}

    def status(self, route, token, space=""):
        """Of a request to it; what follows the head of the answer may go on for ever."""
        path = re.sub(r"\{[^}]*\}", "none", route["path"]) + (f"?namespace={space}" if space else "")
        connection = self.server.connect()
        headers = {"Authorization": "Bearer " + token} if token else {}
        connection.request(route["method"], path, None, {"Content-Type": "application/json", **headers})
        status = connection.getresponse().status
        connection.close()
        return status

    def test_every_route_is_held_to_its_policy(self):
        self.server = self.serve(environment={"SLUICE_TOKEN": ROOT_TOKEN})
        made = {role: self.server.ask("POST", "/v1/tokens", {"name": role, "role": role}, ROOT_TOKEN)[1]["token"]
                for role in self.ROLES[1:]}
        foreign = self.server.ask("POST", "/v1/tokens", {"name": "foreign", "role": "admin", "namespace": "other"}, ROOT_TOKEN)[1]["token"]
        routes = self.server.ask("GET", "/v1/operations", token=ROOT_TOKEN)[1]["operations"]
        self.assertGreater(len(routes), 20)
        self.assertEqual({(route["method"], route["path"]) for route in routes if route["role"] == "anyone"}, self.OPEN)
        for route in routes:
            if route["role"] == "anyone":
                continue
            with self.subTest(route):
                self.assertEqual(self.status(route, None), 401)
                self.assertEqual(self.status(route, "wrong"), 401)
                self.assertEqual(self.status(route, foreign, "default"), 403)
                for role, token in made.items():
                    is_enough = self.ROLES.index(role) >= self.ROLES.index(route["role"])
                    if not is_enough:
                        self.assertEqual(self.status(route, token), 403)
                    elif route["method"] in ("GET", "DELETE"):
                        self.assertNotIn(self.status(route, token), (401, 403, 405, 500))
                if not route["namespaced"]:
                    self.assertEqual(self.status(route, foreign), 403)


class AuditTest(ServerTest):
    def test_every_change_is_kept_with_who_asked(self):
        server = self.serve(environment={"SLUICE_TOKEN": ROOT_TOKEN})
        self.assertEqual(server.ask("PUT", "/v1/namespaces/team", token=ROOT_TOKEN)[0], 200)
        team = server.ask("POST", "/v1/tokens", {"name": "team", "role": "admin", "namespace": "team"}, ROOT_TOKEN)[1]["token"]
        self.assertEqual(server.ask("POST", "/v1/definitions", DEFINITION, team)[0], 201)
        self.assertEqual(server.ask("POST", "/v1/runs", {"id": "r1", "definition": "pair"}, team)[0], 201)
        self.assertEqual(server.ask("POST", "/v1/runs/r1/cancel", token="wrong")[0], 401)
        self.assertEqual(server.ask("GET", "/v1/runs", token=team)[0], 200)
        event = {"specversion": "1.0", "id": "1", "source": "/t", "type": "item", "run": "r1"}
        self.assertEqual(server.ask("POST", "/events", event, team, {"Content-Type": "application/cloudevents+json"})[0], 202)

        def listed(query="", token=ROOT_TOKEN):
            return [(each["who"], each["method"], each["target"], each["namespace"], each["status"])
                    for each in server.ask("GET", "/v1/audit" + query, token=token)[1]["records"]]
        everything = [("anonymous", "POST", "/v1/runs/r1/cancel", "default", 401),
                      ("team", "POST", "/v1/runs", "team", 201),
                      ("team", "POST", "/v1/definitions", "team", 201),
                      ("root", "POST", "/v1/tokens", "default", 201),
                      ("root", "PUT", "/v1/namespaces/team", None, 200)]
        self.assertEqual(listed(), everything)
        self.assertEqual(listed(token=team), everything[1:3])
        self.assertEqual(listed("?who=root"), everything[3:])
        self.assertEqual(listed("?since=1h&limit=1"), everything[:1])
        self.assertEqual(server.ask("GET", "/v1/audit?colour=red", token=ROOT_TOKEN)[0], 400)
        self.assertEqual(server.stop(), 0)

        server = self.serve(environment={"SLUICE_TOKEN": ROOT_TOKEN})
        self.assertEqual(listed(), everything)
        self.assertNotIn(team, json.dumps(server.ask("GET", "/v1/audit", token=ROOT_TOKEN)[1]))


class TlsTest(ServerTest):
    def certificate(self, name):
        """Makes one, and gives its bytes as a client sees them."""
        key, certificate = os.path.join(self.folder, "key.pem"), os.path.join(self.folder, "cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", certificate, "-days", "1", "-subj", f"/CN={name}"],
                       check=True, capture_output=True, timeout=TIMEOUT)
        with open(certificate, encoding="ascii") as file:
            return ssl.PEM_cert_to_DER_cert(file.read())

    def shown(self, server):
        return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", server.port), timeout=TIMEOUT))

    def test_a_new_certificate_is_shown_from_the_next_connection_on(self):
        first = self.certificate("first")
        files = ["--tls-certificate", os.path.join(self.folder, "cert.pem"), "--tls-key", os.path.join(self.folder, "key.pem")]
        server = self.serve(*files)
        self.assertEqual(server.ask("GET", "/healthz")[0], 200)
        self.assertEqual(self.shown(server), first)
        kept = server.connect()
        kept.request("GET", "/healthz")
        kept.getresponse().read()

        second = self.certificate("second")
        server.signal(signal.SIGHUP)
        server.wait_for("was reloaded")
        self.assertEqual(self.shown(server), second)
        kept.request("GET", "/healthz")
        self.assertEqual(kept.getresponse().status, 200)
        kept.close()

        self.file("cert.pem", "no certificate")
        server.signal(signal.SIGHUP)
        self.assertIn("cert.pem", server.wait_for("was not reloaded"))
        self.assertEqual(self.shown(server), second)

    def test_wrong_files_are_refused(self):
        self.certificate("first")
        key, certificate = os.path.join(self.folder, "key.pem"), os.path.join(self.folder, "cert.pem")
        for arguments, message in ((["--tls-certificate", certificate], "both certificate and key"),
                                   (["--tls-certificate", certificate, "--tls-key", certificate], "key " + certificate),
                                   (["--tls-certificate", key + "x", "--tls-key", key], "certificate " + key + "x")):
            done = self.run_program("serve", "--data", self.data, "--listen", "127.0.0.1:0", *arguments)
            self.assertEqual((done.returncode, message in done.stderr), (2, True), done.stderr)


class StopTest(ServerTest):
    def test_it_answers_what_was_asked_and_says_that_it_is_not_ready(self):
        server = self.serve("--stop-delay", "1s")
        self.assertEqual(server.ask("POST", "/v1/definitions", DEFINITION)[0], 201)
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(
            server.ask("POST", "/v1/runs?wait=2s", {"id": "r1", "definition": "pair"})[0]))
        waiting.start()
        while server.ask("GET", "/v1/runs/r1")[0] != 200:
            pass
        self.assertEqual(server.ask("GET", "/readyz")[0], 200)
        server.signal(signal.SIGTERM)
        server.wait_for("stopping")
        status, problem = server.ask("GET", "/readyz")
        self.assertEqual((status, problem["code"]), (503, "stopping"))
        self.assertEqual(server.process.wait(timeout=TIMEOUT), 0)
        waiting.join()
        self.assertEqual(answers, [202])

    def test_a_second_signal_is_at_once(self):
        server = self.serve("--stop-delay", "1h")
        server.signal(signal.SIGTERM)
        server.wait_for("stopping")
        server.signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(timeout=TIMEOUT), 130)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ServerTest.PROGRAM = sys.argv.pop(1)
    unittest.main()
