#!/usr/bin/env python3
"""Faults under load, for a bus and a store: nothing is lost, nothing happens twice, and all goes on within seconds.

usage: faults.py PROGRAM --bus BUS,… --store STORE,… --fault FAULT,… [--cycles N] [--lease SECONDS] [--seconds N] [--seed N]

Buses: redis, nats, amqp, amqp-quorum, kafka. Stores: redis, redis-cluster, postgres. Each cycle puts two workers under load, injects the fault, waits until every run gets further, and holds all runs to what was
sent. A line per cycle: seconds until the first run got further, until every run did, and until runs were started as well. `all` stands for every bus, store or fault.
`join-leave` has workers, up to four, come and go for --seconds. What two workers do against one: scale.py.
"""
import argparse
import itertools
import os
import random
import signal
import statistics
import sys
import threading
import time
import traceback

from load import CHILD, PARENT, TALLY, Load, deploy
from servers import BUSES, STORES, Missing
from system import Failed, System

RECOVERY_MAX = 10
WORKERS = 2


def kill(system, choices):
    """A worker, with SIGKILL; another comes for it once its shards have moved."""
    victim = choices.choice(system.workers)
    victim.kill()
    system.remove(victim)
    return time.monotonic()


def kill_and_back(system, choices):
    """A worker, with SIGKILL, started again at once where it was."""
    victim = choices.choice(system.workers)
    victim.kill()
    began = time.monotonic()
    victim.start()
    return began


def restart(place):
    def fault(system, choices):
        server = system.places[place].server
        server.kill()
        threading.Event().wait(choices.choice([0, 1, 4]))
        server.start()
        return time.monotonic()
    return fault


def restart_node(system, choices):
    """One of the nodes that the store is made of."""
    server = system.places["store"].server
    if not hasattr(server, "kill_node"):
        raise Missing("the store is one server; `store` restarts it")
    server.kill_node(choices.randrange(len(server.nodes)))
    threading.Event().wait(choices.choice([0, 1, 4]))
    server.start()
    return time.monotonic()


def part(net, how):
    """Some seconds without a network between one worker and the bus or store."""
    def fault(system, choices):
        if net in system.direct:
            raise Missing(f"its clients go where it says it is, past any proxy; unplug-{net} parts them")
        network = choices.choice(system.workers).nets[net]
        getattr(network, how)()
        threading.Event().wait(choices.choice([0.2, 2, system.lease * 1.5]))
        network.heal()
        return time.monotonic()
    return fault


def unplug(system, choices):
    """Some seconds without a network between all processes and the bus or store, which has a network of its own: packets are lost."""
    system.namespace.cut()
    threading.Event().wait(choices.choice([0.2, 2, system.lease * 1.5]))
    system.namespace.heal()
    return time.monotonic()


def pause(system, choices):
    """A worker stands still until its shards have moved, and then wants to go on."""
    victim, other = choices.sample(system.workers, 2)
    victim.process.signal(signal.SIGSTOP)
    try:
        system.wait_until(lambda: system.owned(other) == 64, "the other has all shards")
    finally:
        victim.process.signal(signal.SIGCONT)
    return time.monotonic()


def join_leave(system, choices):
    """Workers come, are stopped and are killed, one to four of them, for a while."""
    until = time.monotonic() + system.seconds
    while time.monotonic() < until:
        count = len(system.workers)
        if count < WORKERS_MAX and (count == 1 or choices.random() < 0.5):
            system.add_worker()
        else:
            worker = choices.choice(system.workers)
            if choices.random() < 0.7:
                worker.stop()
            system.remove(worker)
        threading.Event().wait(choices.uniform(0.5, 2 * system.lease))
        system.check_alive()
    return time.monotonic()


FAULTS = {"kill": kill, "kill-back": kill_and_back, "bus": restart("bus"), "store": restart("store"), "store-node": restart_node,
          "cut-bus": part("bus", "cut"), "cut-store": part("store", "cut"),
          "stall-bus": part("bus", "stall"), "stall-store": part("store", "stall"),
          "unplug-bus": unplug, "unplug-store": unplug, "pause": pause}
SCENARIOS = {**FAULTS, "join-leave": join_leave}
WORKERS_MAX = 4


class Tries:
    """Cycles of one fault on one pair."""

    def __init__(self, options, bus, store, fault):
        self.options = options
        self.pair = f"{bus} {store}"
        self.bus, self.store, self.fault = bus, store, fault
        self.recoveries = []
        self.events = 0
        self.failure = ""

    def run(self):
        try:
            apart = self.fault.removeprefix("unplug-") if self.fault.startswith("unplug-") else None
            with System(self.options.program, self.bus, self.store, self.options.lease, apart=apart) as system:
                system.seconds = self.options.seconds
                for _ in range(WORKERS):
                    system.add_worker()
                deploy(system, TALLY, CHILD, PARENT)
                for number in range(1, self.options.cycles + 1):
                    self.cycle(system, number)
        except (Failed, AssertionError) as error:
            self.failure = str(error)
            print(f"{self.pair} {self.fault}: FAILED\n{self.failure}", flush=True)
        return self

    def cycle(self, system, number):
        while len(system.workers) < WORKERS:
            system.add_worker()
        system.wait_balanced()
        choices = random.Random(f"{self.options.seed}/{number}")
        load = Load(system, f"c{number}")
        try:
            load.start()
            threading.Event().wait(choices.uniform(0.2, 1))
            over = SCENARIOS[self.fault](system, choices)
            first, every, last = load.progress(over)
            system.wait_until(lambda: sum(system.owned(worker) for worker in system.workers) == 64, "every shard has a worker")
            events = load.finish()
        finally:
            load.stop()
        system.check_alive()
        self.recoveries.append(last)
        self.events += events
        print(f"{self.pair} {self.fault} {number}/{self.options.cycles}: first {first:.2f} s, every run {every:.2f} s, starts {last:.2f} s; {events} events, "
              f"{len(load.parents)} parents, {load.repeated} repeated", flush=True)
        if last > RECOVERY_MAX:
            raise Failed(f"recovery took {last:.2f} s, more than {RECOVERY_MAX}\n{system.told()}")

    def summary(self):
        times = self.recoveries
        spent = f"recovery median {statistics.median(times):.2f} s, longest {max(times):.2f} s" if times else "no recovery"
        verdict = "FAILED" if self.failure else "ok"
        return f"{self.pair:20} {self.fault:12} {len(times):3} cycles  {self.events:7} events  {spent}  {verdict}"


def named(word, known, all_of=None):
    names = list(all_of or known) if word == "all" else word.split(",")
    for name in names:
        if name not in known:
            sys.exit(f"{name}: expected one of {', '.join(known)}, or all")
    return names


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--bus", default="redis")
    parser.add_argument("--store", default="postgres")
    parser.add_argument("--fault", default="all")
    parser.add_argument("--cycles", type=int, default=1)
    parser.add_argument("--lease", type=float, default=6)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default=str(random.randrange(10**6)))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    done = []
    for bus, store, fault in itertools.product(named(options.bus, BUSES), named(options.store, STORES), named(options.fault, SCENARIOS, FAULTS)):
        try:
            done.append(Tries(options, bus, store, fault).run())
        except Missing as reason:
            print(f"left out: {bus} {store} {fault}: {reason}", flush=True)
        except Exception:
            traceback.print_exc()
            return 1
    for each in done:
        print(each.summary())
    return 1 if any(each.failure for each in done) else 0


if __name__ == "__main__":
    sys.exit(main())
