"""Runs one server for a test, and outlives the test just long enough to clean up after it.

The first line of standard input says what to run, in JSON; the process id of it is the first line of standard output.
Standard input then stays open: its end means that the test is gone, in whichever way.

PR_SET_PDEATHSIG alone would not do. It goes by the thread that forked, not by the process; it reaches no grandchildren,
is forgotten when the user changes, and removes no files. Here it is the second net: if the keeper is killed.
"""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import threading

from processes import kill_children, send

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def enter_network(path):
    with open(path, "rb") as file:
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "cannot enter " + path)


def start(order):
    if order["network"]:
        enter_network(order["network"])
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    identity = {}
    if order["user"]:
        identity = {"user": order["user"][0], "group": order["user"][1], "extra_groups": []}
    with open(order["log"], "ab") as log:
        # Runs after the change of user, which would clear it.
        return subprocess.Popen(order["command"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                cwd=order["folder"], env=order["environment"], start_new_session=True,
                                preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), **identity)


def main():
    order = json.loads(sys.stdin.readline())
    server = start(order)
    print(server.pid, flush=True)
    orphaned = threading.Event()

    def watch():
        sys.stdin.read()
        orphaned.set()
        send(server.pid, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    while os.wait()[0] != server.pid:
        pass
    kill_children(os.getpid())
    if orphaned.is_set():
        shutil.rmtree(order["folder"], ignore_errors=True)
    # The watching thread sits in a read, where the interpreter's own end would wait for it.
    os._exit(0)


if __name__ == "__main__":
    main()
