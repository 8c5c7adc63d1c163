"""Graphs of many tasks: sequences, wide stages, maps, random graphs and recorded workflows. Each task is called and answered once, behind
those it waits for, and the result is what it would have been."""
import dataclasses
import json
import pathlib

from order import faults_in
from world import OK, World

WORKLOADS = pathlib.Path(__file__).resolve().parents[3] / "shared/workloads/wfcommons"
MODULUS = 1_000_003


@dataclasses.dataclass
class Graph:
    """A definition, and what its run must be."""
    definition: dict
    parents: dict
    result: object
    counts: dict = dataclasses.field(default_factory=dict)
    arguments: tuple = ()


def sequence(choices, size):
    """Each task adds one to what the one before it gave."""
    length = 80 * size
    tasks = {f"t{at}": {"call": "sleep", "input": {"duration": "1ms", "value": f"${{tasks.t{at - 1}.result + 1}}" if at else 0}}
             for at in range(length)}
    return Graph({"name": "sequence", "tasks": tasks}, {f"t{at}": {f"t{at - 1}"} if at else set() for at in range(length)},
                 {f"t{length - 1}": length - 1})


def parallel(choices, size):
    width = 320 * size
    stage = {f"p{at}": {"call": "sleep", "input": {"duration": f"{choices.randint(1, 30)}ms", "value": at}} for at in range(width)}
    end = {"call": "echo", "after": list(stage), "input": f"${{tasks.p0.result + tasks.p{width - 1}.result}}"}
    return Graph({"name": "parallel", "tasks": {**stage, "end": end}}, {**{task: set() for task in stage}, "end": set(stage)},
                 {"end": width - 1})


def many(choices, size):
    """A map, whose calls go by one name."""
    count = choices.randint(1_000, 2_000) * size
    tasks = {"many": {"map": {"over": count, "call": "echo", "input": "${item + 1}", "concurrency": choices.choice([10, 100, 1_000])}},
             "end": {"call": "echo", "input": "${size(tasks.many.result)}", "after": "many"}}
    return Graph({"name": "many", "tasks": tasks, "result": {"count": "${tasks.end.result}", "last": f"${{tasks.many.result[{count - 1}]}}"}},
                 {"many": set(), "end": {"many"}}, {"count": count, "last": count}, {"many": count})


def random_parents(choices, count):
    """Most come after a few of those shortly before them."""
    return {f"n{at}": {f"n{choices.randint(max(0, at - 40), at - 1)}" for _ in range(choices.randint(0, 4))} if at else set()
            for at in range(count)}


def scattered(choices, size):
    parents = random_parents(choices, 250 * size)
    values, tasks = {}, {}
    for task, before in parents.items():
        values[task] = (sum(values[one] for one in before) + 1) % MODULUS
        total = " + ".join(["1", *(f"tasks.{one}.result" for one in sorted(before))])
        tasks[task] = {"call": "echo", "input": f"${{({total}) % {MODULUS}}}", "after": sorted(before)}
    last = set(parents) - set().union(*parents.values())
    return Graph({"name": "scattered", "tasks": tasks}, parents, {task: values[task] for task in last})


def recorded(choices, size):
    """A file of WfFormat: one that somebody recorded, where they are and it may be large, or a random one."""
    files = sorted(WORKLOADS.glob("*.json")) if size > 1 else []
    if files:
        document, scale = json.loads(choices.choice(files).read_text()), 0.0005
    else:
        parents = random_parents(choices, 120)
        document, scale = {"name": "random", "schemaVersion": "1.5", "workflow": {
            "specification": {"tasks": [{"name": task, "id": task, "parents": sorted(before)} for task, before in parents.items()]},
            "execution": {"tasks": [{"id": task, "runtimeInSeconds": choices.uniform(0, 20)} for task in parents]}}}, 0.001
    workflow = document["workflow"]
    parents = {task["id"]: set(task["parents"]) for task in workflow["specification"]["tasks"]}
    seconds = {task["id"]: float(task["runtimeInSeconds"]) for task in workflow["execution"]["tasks"]}
    last = set(parents) - set().union(*parents.values())
    return Graph(document, parents, {task: {"task": task, "seconds": seconds[task]} for task in last},
                 arguments=("--functions", "simulate", "--time-scale", scale))


class Graphs(World):
    """One graph after the other, each killed until it has come to its end."""

    kill_seconds = (0.002, 0.080)
    size = 1

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.graphs = []
        self.begin()

    def begin(self):
        shape = self.choices.choice([sequence, parallel, many, scattered, recorded])
        self.graphs.append(shape(self.choices, self.size))
        self.file = self.folder / f"graph-{len(self.graphs)}.json"
        self.file.write_text(json.dumps(self.graphs[-1].definition))

    def run(self):
        return f"graph-{len(self.graphs)}"

    def cycle(self):
        _, code = self.kill_under_load(self.file, self.run(), *self.graphs[-1].arguments)
        if code == OK:
            self.begin()

    def complete(self):
        self.run_to_end(self.file, self.run(), *self.graphs[-1].arguments)

    def check(self):
        self.expect("runs", len(self.check_any()), len(self.graphs))
        for number, graph in enumerate(self.graphs, 1):
            run = f"graph-{number}"
            self.expect(f"the result of {run}", json.loads(self.ask("show", run, "--json")).get("result"), graph.result)
            self.expect(f"faults of {run}", list(faults_in(self.history(run), graph.parents, graph.counts))[:5], [])
            self.figures.calls += sum(graph.counts.get(task, 1) for task in graph.parents)


class LargeGraphs(Graphs):
    """Up to tens of thousands of tasks, and the recorded workflows."""

    kill_seconds = (0.005, 0.400)
    size = 12
