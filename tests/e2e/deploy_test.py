#!/usr/bin/env python3
"""The files of deploy/: they fit the program, and its processes work as they say.

usage: deploy_test.py PROGRAM

Takes commands and settings from them and starts the processes against servers of its own; containers are not needed. Servers that are not
installed are skipped, with the reason.
"""
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/brokers"))
sys.path.insert(0, str(ROOT / "tests/e2e"))

from nats_server import Nats  # noqa: E402
from postgres_server import Postgres  # noqa: E402
from redis_server import Redis  # noqa: E402
from server import Server, ServerTest  # noqa: E402

COMPOSE = ROOT / "deploy/compose"
KUBERNETES = ROOT / "deploy/kubernetes"
BUSES = ("redis", "nats", "amqp", "kafka")
STORES = ("redis", "postgres")
TOKEN = "a-token-for-the-test"
WAIT_MAX = 60
SERVERS = {"redis": ("redis-server", Redis), "nats": ("nats-server", Nats), "postgres": ("psql", Postgres)}


def merged(first, second):
    """As compose lays one file over another."""
    if isinstance(first, dict) and isinstance(second, dict):
        return {name: merged(first[name], second[name]) if name in first and name in second else first.get(name, second.get(name))
                for name in {**first, **second}}
    return second


def composed(bus, store):
    files = [COMPOSE / "compose.yaml", COMPOSE / f"bus.{bus}.yaml", COMPOSE / f"store.{store}.yaml"]
    whole = {}
    for file in files:
        whole = merged(whole, yaml.safe_load(file.read_text(encoding="utf-8")))
    return whole


def applied(bus, store):
    """The deployments that kustomize would make of a pair's folder, by name."""
    pair = yaml.safe_load((KUBERNETES / f"{bus}-{store}/kustomization.yaml").read_text(encoding="utf-8"))
    found = {}
    for name in ("gateway", "worker"):
        deployment = next(iter(yaml.safe_load_all((KUBERNETES / f"base/{name}.yaml").read_text(encoding="utf-8"))))
        container = deployment["spec"]["template"]["spec"]["containers"][0]
        settings = {each["name"]: each.get("value", each.get("valueFrom")) for each in container["env"]}
        for component in pair["components"]:
            folder = KUBERNETES / pair_folder(component)
            patch = yaml.safe_load((folder / "url.yaml").read_text(encoding="utf-8"))
            for each in patch["spec"]["template"]["spec"]["containers"][0]["env"]:
                settings[each["name"]] = each["value"]
        found[name] = (container["args"], settings)
    return found


def pair_folder(component):
    return component.removeprefix("../")


class DeployTest(ServerTest):
    def settings(self):
        page = (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")
        return set(re.findall(r"`(SLUICE_[A-Z_]+)`", page))

    def test_every_pair_names_settings_that_there_are(self):
        known = self.settings()
        self.assertIn("SLUICE_BUS", known)
        for bus, store in itertools.product(BUSES, STORES):
            with self.subTest(bus=bus, store=store):
                for name in ("gateway", "worker"):
                    service = composed(bus, store)["services"][name]
                    self.assertLessEqual(set(service["environment"]), known)
                    self.assertTrue(service["environment"]["SLUICE_BUS"].startswith(bus + "://"))
                    self.assertTrue(service["environment"]["SLUICE_STORE"].startswith(store + "://"))
                    arguments, settings = applied(bus, store)[name]
                    self.assertEqual(arguments, [name])
                    self.assertLessEqual({each for each in settings if each.startswith("SLUICE_")}, known)
                    self.assertTrue(settings["SLUICE_BUS"].startswith(bus + "://"))
                    self.assertTrue(settings["SLUICE_STORE"].startswith(store + "://"))

    def test_kubernetes_defines_a_variable_before_it_is_used(self):
        for bus, store in itertools.product(BUSES, STORES):
            _, settings = applied(bus, store)["worker"]
            names = list(settings)
            for name, value in settings.items():
                for used in re.findall(r"\$\((\w+)\)", value if isinstance(value, str) else ""):
                    self.assertLess(names.index(used), names.index(name), f"{used} in {name}")

    def test_the_image_has_the_libraries_that_the_program_needs(self):
        text = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")
        installed = set(re.search(r"ca-certificates(.*?)&&", text, re.S).group(1).replace("\\", " ").split())
        needed = subprocess.run(["objdump", "-p", self.PROGRAM], capture_output=True, text=True, check=True).stdout
        names = set(re.findall(r"NEEDED\s+(\S+)", needed))
        packages = set()
        for line in subprocess.run(["ldd", self.PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines():
            found = re.match(r"\s*(\S+) => (\S+)", line)
            if found and found.group(1) in names:
                path = os.path.realpath(found.group(2))
                owner = subprocess.run(["dpkg", "-S", path, path.removeprefix("/usr")], capture_output=True, text=True, check=False)
                packages.add(owner.stdout.split(":")[0])
        self.assertEqual(installed, packages - {"libc6", "libgcc-s1", "libstdc++6"} | {"tzdata"})

    def start(self, kind):
        program, make = SERVERS[kind]
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")
        server = make()
        server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)
        return server

    def processes(self, bus, store):
        """Those of the compose files, with hosts of this machine."""
        servers = {"bus": self.start(bus), "store": self.start(store)}
        made = {}
        for name in ("worker", "gateway"):
            service = composed(bus, store)["services"][name]
            command = re.search(r"exec sluice (\w+)", service["entrypoint"][2]).group(1)
            given = dict(service["environment"])
            given["SLUICE_TOKEN"] = TOKEN
            for role in ("bus", "store"):
                given[f"SLUICE_{role.upper()}"] = servers[role].url
            del given["SLUICE_LISTEN"], given["SLUICE_DATA"]
            made[name] = Server(self.PROGRAM, os.path.join(self.folder, name), part=command, environment=given)
            self.addCleanup(made[name].kill)
        return made

    def wait_until(self, is_so):
        until = time.monotonic() + WAIT_MAX
        while not is_so():
            self.assertLess(time.monotonic(), until, "it did not come to be")
            threading.Event().wait(0.02)

    def check_pair(self, bus, store):
        made = self.processes(bus, store)
        definition = {"name": "hello", "tasks": {"say": {"call": "echo", "input": {"x": 1}}}}
        gateway = made["gateway"]
        self.wait_until(lambda: gateway.ask("GET", "/readyz")[0] == 200)
        status, answer = gateway.ask("POST", "/v1/definitions", definition, token=TOKEN)
        self.assertIn(status, (200, 201), answer)
        self.wait_until(lambda: gateway.ask("POST", "/v1/runs", {"definition": "hello", "id": "h"}, token=TOKEN)[0] in (200, 201))
        self.wait_until(lambda: gateway.ask("GET", "/v1/runs/h", token=TOKEN)[1].get("status") == "succeeded")

    def test_redis_as_both_works(self):
        self.check_pair("redis", "redis")

    def test_nats_and_postgres_work(self):
        self.check_pair("nats", "postgres")


if __name__ == "__main__":
    ServerTest.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
