"""State machines with loops, retries, branches and maps: the end is the same, and the history has no gap and nothing twice."""
import collections
import json

from world import OK, World

ITEMS_MAX, ROWS_MAX, ROUNDS = 8, 150, 4
LAMBDA = "arn:aws:lambda:us-east-1:123456789012:function:"


def task(function, arguments, **more):
    return {"Type": "Task", "Resource": LAMBDA + function, "Parameters": arguments, **({"End": True} if "Next" not in more else {}), **more}


def flow(start, **states):
    return {"StartAt": start, "States": states}


def slow(milliseconds, value):
    return {"duration": f"{milliseconds}ms", "value.$": value}


def machine(at_once):
    caught = [{"ErrorEquals": ["No"], "ResultPath": "$.error", "Next": "Caught"}]
    again = [{"ErrorEquals": ["No"], "IntervalSeconds": 1, "MaxAttempts": 1}]
    return flow(
        "Begin",
        Begin={"Type": "Pass", "Result": 0, "ResultPath": "$.round", "Next": "Round"},
        Round=task("sleep", slow(5, "States.MathAdd($.round, 1)"), ResultPath="$.round", Next="Enough"),
        Enough={"Type": "Choice", "Choices": [{"Variable": "$.round", "NumericLessThan": ROUNDS, "Next": "Round"}], "Default": "Both"},
        Both={"Type": "Parallel", "ResultPath": "$.both", "Next": "Each", "Branches": [
            flow("Wait", Wait={"Type": "Wait", "Seconds": 1, "Next": "Waited"}, Waited={"Type": "Pass", "Result": "waited", "End": True}),
            flow("Fails", Fails=task("fail", {"kind": "No"}, Retry=again, Catch=caught), Caught={"Type": "Pass", "Result": "caught", "End": True})]},
        Each={"Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": at_once, "ResultPath": "$.each", "Next": "Rows",
              "ItemProcessor": flow("Item", Item=task("sleep", slow(8, "$")))},
        Rows={"Type": "Map", "MaxConcurrency": 10, "ResultPath": "$.rows", "End": True,
              "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "in", "Key": "rows.csv"},
                             "ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}},
              "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, **flow("Row", Row=task("sleep", slow(3, "$.id")))},
              "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "out", "Prefix": "results"}}})


class Machines(World):
    """Executions one after the other, each killed until it has come to its end."""

    kill_seconds = (0.002, 0.250)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.items = list(range(1, self.choices.randint(2, ITEMS_MAX) + 1))
        self.rows = self.choices.randint(1, ROWS_MAX)
        for bucket in ("in", "out"):
            (self.folder / bucket).mkdir()
        (self.folder / "in/rows.csv").write_text("id\n" + "".join(f"{number}\n" for number in range(self.rows)))
        self.functions = self.folder / "functions.json"
        self.functions.write_text(json.dumps({"buckets": {name: {"directory": str(self.folder / name)} for name in ("in", "out")}}))
        self.file = self.folder / "machine.asl.json"
        self.file.write_text(json.dumps(machine(self.choices.randint(1, 4))))
        self.ended = 0

    def given(self):
        return ("--input", json.dumps({"items": self.items}), "--functions", self.functions)

    def run(self):
        return f"machine-{self.ended}"

    def cycle(self):
        _, code = self.kill_under_load(self.file, self.run(), *self.given())
        self.ended += code == OK

    def complete(self):
        self.run_to_end(self.file, self.run(), *self.given())
        self.ended += 1

    def check(self):
        self.expect("runs", len(self.check_any()), self.ended)
        for number in range(self.ended):
            self.check_run(f"machine-{number}")

    def check_run(self, run):
        _, printed = self.run_to_end(self.file, run, *self.given(), "--history")
        told = json.loads(printed)
        rows = told["output"].pop("rows")
        self.expect(f"the end of {run}", (told["status"], told["output"]), ("SUCCEEDED", {
            "items": self.items, "round": ROUNDS, "both": ["waited", "caught"], "each": self.items}))
        self.check_history(run, told["history"])
        self.check_results(run, rows["ResultWriterDetails"]["Key"])

    def check_history(self, run, history):
        """Events are numbered without a gap, each behind one that is there; each step was made as often as the machine says."""
        self.expect(f"event ids of {run}", [event["id"] for event in history], list(range(1, len(history) + 1)))
        late = [event["id"] for event in history if event["previousEventId"] >= event["id"]]
        self.expect(f"events of {run} that are behind none", late, [])
        count = len(self.items)
        tasks = ROUNDS + count
        found = collections.Counter(event["type"] for event in history)
        self.expect(f"events of {run}", dict(found), {
            "ExecutionStarted": 1, "ExecutionSucceeded": 1, "PassStateEntered": 3, "PassStateExited": 3,
            "TaskStateEntered": tasks + 1, "TaskStateExited": tasks + 1,
            "LambdaFunctionScheduled": tasks + 2, "LambdaFunctionStarted": tasks + 2, "LambdaFunctionSucceeded": tasks, "LambdaFunctionFailed": 2,
            "ChoiceStateEntered": ROUNDS, "ChoiceStateExited": ROUNDS, "WaitStateEntered": 1, "WaitStateExited": 1,
            "ParallelStateEntered": 1, "ParallelStateStarted": 1, "ParallelStateSucceeded": 1, "ParallelStateExited": 1,
            "MapStateEntered": 2, "MapStateStarted": 2, "MapStateSucceeded": 2, "MapStateExited": 2, "MapRunStarted": 1, "MapRunSucceeded": 1,
            "MapIterationStarted": count, "MapIterationSucceeded": count})

    def check_results(self, run, manifest):
        """What the map wrote has each row once, in its order."""
        out = self.folder / "out"
        listed = json.loads((out / manifest).read_text())["ResultFiles"]
        self.expect(f"failed rows of {run}", (listed["FAILED"], listed["PENDING"]), ([], []))
        outputs = [json.loads(one["Output"]) for file in listed["SUCCEEDED"] for one in json.loads((out / file["Key"]).read_text())]
        self.expect(f"rows of {run}", outputs, [str(number) for number in range(self.rows)])
