"""Processes and their offspring, by what /proc tells."""
import os
import signal


def children(pid):
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                # The name stands in brackets and may itself hold any character.
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == pid and state != "Z":
            found.append(int(entry))
    return found


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def signal_tree(pid, number):
    """Parents first: what is stopped forks no more, so none of its children is missed."""
    send(pid, number)
    for child in children(pid):
        signal_tree(child, number)


def kill_children(pid):
    """Ends this process's offspring, also what detached itself: it comes back to the nearest subreaper."""
    while True:
        for child in children(pid):
            send(child, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return
