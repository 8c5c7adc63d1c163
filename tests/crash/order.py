"""What the history of a run says of the order of its tasks."""
import collections


def faults_in(history, parents, counts=None):
    """Tasks that were not called and answered as often as they should, once unless counts says otherwise, or before their parents had
    ended: each as a text."""
    counts = counts or {}
    opened, ended = collections.defaultdict(list), collections.defaultdict(list)
    for entry in history:
        if entry["json"]["type"] == "sluice.task.succeeded" and entry["fate"] == "fired":
            ended[entry["json"]["subject"]].append(entry["event"])
        for change in entry["changes"]:
            if change["change"] == "task opened":
                opened[change["task"]["subject"]].append(entry["event"])
    for name, events in (("called", opened), ("answered", ended)):
        for task in parents.keys() | events.keys():
            if len(events[task]) != counts.get(task, 1 if task in parents else 0):
                yield f"{task} was {name} {len(events[task])} times"
    for task, before in parents.items():
        late = [parent for parent in before if max(ended[parent], default=0) >= min(opened[task], default=0)]
        if late:
            yield f"{task} was called before {late[0]} had ended"
