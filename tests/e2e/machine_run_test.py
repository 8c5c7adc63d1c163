#!/usr/bin/env python3
"""State machines tried by `sluice run`: the examples, and what the page of trials says.

usage: machine_run_test.py [PROGRAM] [unittest options]
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
    os.environ["SLUICE"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from program import FAILED, INVALID, NOT_FOUND, PROGRAM, ROOT, ProgramTest  # noqa: E402

EXAMPLES = ROOT / "examples/asl"


def mock(state, *outcomes):
    return {"state": state, "anyInput": True, "outcomes": list(outcomes)}


class Trials(ProgramTest):
    def trial(self, file, given, mocks, *options, code=0):
        return json.loads(self.sluice("run", EXAMPLES / file, "--input", json.dumps(given), "--mocks", json.dumps(mocks),
                                      "--skip-waits", "--json", *options, code=code).stdout)

    def test_a_saga_undoes_what_it_did(self):
        mocks = [mock("Reserve", {"result": "r1"}), mock("Charge", {"error": "Busy"}, {"result": "p1"}),
                 mock("Ship", {"error": "NoCarrier", "cause": "none goes there"}),
                 mock("Refund", {"result": None}), mock("Release", {"result": None})]

        ended = self.trial("order-saga.asl.json", {"id": 7}, mocks, "--history", code=FAILED)

        self.assertEqual((ended["status"], ended["error"], ended["cause"]), ("FAILED", "NoCarrier", "none goes there"))
        entered = [event["details"]["name"] for event in ended["history"] if event["type"].endswith("StateEntered")]
        self.assertEqual(entered, ["Reserve", "Charge", "Ship", "Refund", "Release", "Rejected"])

    def test_nobody_approves_for_a_week(self):
        ended = self.trial("approval.asl.json", {"id": 7, "total": 5000}, [mock("Ask", {"timeout": True, "submitted": {}})], code=FAILED)
        self.assertEqual(ended["error"], "Declined")

    def test_somebody_approves(self):
        answered = [mock("Ask", {"submitted": {}, "result": {"approved": True}})]
        self.assertEqual(self.trial("approval.asl.json", {"id": 7, "total": 5000}, answered)["output"]["answer"], {"approved": True})
        self.assertEqual(self.trial("approval.asl.json", {"id": 7, "total": 5}, [])["output"], {"id": 7, "total": 5})

    def test_a_csv_is_summed_up(self):
        lines = "sku,price,count\n" + "".join(f"s{n},{n},2\n" for n in range(1, 8))
        objects = json.dumps([{"bucket": "b", "key": "k.csv", "body": lines}])

        ended = self.trial("distributed-csv.asl.json", {"bucket": "b", "key": "k.csv"}, [], "--objects", objects)

        self.assertEqual(ended, {"status": "SUCCEEDED", "output": {"batches": [12, 30, 14], "total": 56}})

    def test_montage(self):
        tasks = ["mProject", "mDiffFit", "mBackground", "Model", "Add"]
        mocks = [mock(f"{task} {band}", {"echo": True}) for task in tasks for band in ("red", "green", "blue")]
        mocks.append(mock("Mosaic", {"result": "mosaic.png"}))
        self.assertEqual(self.trial("montage.asl.json", {"images": list(range(12))}, mocks)["output"], "mosaic.png")

    def machine(self, **states):
        return self.file("m.asl.json", json.dumps({"StartAt": next(iter(states)), "States": states}))

    def test_somebody_stops_an_execution(self):
        waits = self.machine(W={"Type": "Wait", "Seconds": 3600, "End": True})
        ended = json.loads(self.sluice("run", waits, "--stop-after", "10m", "--history", "--json", code=FAILED).stdout)
        self.assertEqual(ended["status"], "ABORTED")
        self.assertEqual([event["type"] for event in ended["history"]], ["ExecutionStarted", "WaitStateEntered", "ExecutionAborted"])
        late = json.loads(self.sluice("run", waits, "--stop-after", "2h", "--json").stdout)
        self.assertEqual(late["status"], "SUCCEEDED")
        self.assertIn("2 hours", self.sluice("run", waits, "--stop-after", "2 hours", code=INVALID).stderr)

    def test_an_activity_that_is_not_mocked_does_not_exist(self):
        digs = self.machine(Dig={"Type": "Task", "Resource": "arn:aws:states:us-east-1:111111111111:activity:dig", "End": True})
        ended = json.loads(self.sluice("run", digs, "--mocks", "[]", "--history", "--json", code=FAILED).stdout)
        self.assertEqual(ended["error"], "States.Runtime")
        self.assertIn("activity:dig does not exist.", ended["cause"])
        mocks = json.dumps([mock("Dig", {"result": "gold", "worker": "digger"})])
        ended = json.loads(self.sluice("run", digs, "--mocks", mocks, "--history", "--json").stdout)
        self.assertEqual(ended["history"][3]["details"], {"workerName": "digger"})

    def test_an_express_machine_that_loops_ends(self):
        loops = self.machine(A={"Type": "Pass", "Next": "B"}, B={"Type": "Choice", "Default": "A", "Choices": [
            {"Variable": "$.x", "IsPresent": True, "Next": "C"}]}, C={"Type": "Succeed"})
        said = json.loads(self.sluice("run", loops, "--skip-waits", "--json", code=FAILED).stdout)
        self.assertIn("maximum number of history events (25000)", said["cause"])
        said = json.loads(self.sluice("run", loops, "--skip-waits", "--express", "--json", code=FAILED).stdout)
        self.assertIn("maximum number of history events (2000000)", said["cause"])

    def test_what_is_not_mocked_is_named(self):
        said = self.sluice("run", EXAMPLES / "approval.asl.json", "--input", '{"total": 5000, "id": 1}', "--mocks", "[]", code=NOT_FOUND).stderr
        self.assertIn('the task of state "Ask" was called with', said)

    def test_what_is_wrong_is_told_with_its_place(self):
        file = self.file("m.asl.json", '{"StartAt": "A", "States": {"A": {"Type": "Pass"}}}')
        self.assertIn("m.asl.json:1:", self.sluice("run", file, "--skip-waits", code=INVALID).stderr)


class RealRuns(ProgramTest):
    FUNCTIONS = "buckets:\n  b: {directory: bucket}\nfunctions:\n  slow: {command: [sh, -c, 'cat >/dev/null; sleep 0.02; echo 1']}\n"
    WRITING = {"StartAt": "M", "States": {"M": {
        "Type": "Map", "End": True, "MaxConcurrency": 4,
        "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSONL"},
                       "Parameters": {"Bucket": "b", "Key": "rows.jsonl"}},
        "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "b", "Prefix": "out"},
                         "WriterConfig": {"Transformation": "COMPACT", "OutputType": "JSONL"}},
        "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "T", "States": {
            "T": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:slow", "ResultPath": "$.r", "End": True}}}}}}

    def setUp(self):
        super().setUp()
        self.functions = self.file("functions.yaml", self.FUNCTIONS)
        self.bucket = pathlib.Path(self.functions).parent / "bucket"
        self.bucket.mkdir()

    def test_a_csv_of_a_directory_is_summed_up(self):
        (self.bucket / "k.csv").write_text("sku,price,count\n" + "".join(f"s{n},{n},2\n" for n in range(1, 8)))
        ended = json.loads(self.sluice("run", EXAMPLES / "distributed-csv.asl.json", "--input", '{"bucket": "b", "key": "k.csv"}',
                                       "--functions", self.functions, "--json").stdout)
        self.assertEqual(ended, {"status": "SUCCEEDED", "output": {"batches": [12, 30, 14], "total": 56}})

    def test_a_map_goes_on_after_a_kill(self):
        (self.bucket / "rows.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in range(200)))
        machine = self.file("m.asl.json", json.dumps(self.WRITING))
        command = [PROGRAM, "run", machine, "--functions", self.functions, "--data", self.functions + ".data", "--json"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as first:
            done = 0
            for line in first.stderr:  # Half of it.
                done += '"function":"slow"' in line and '"status":"succeeded"' in line
                if done == 100:
                    first.kill()
                    break
        ended = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        manifest = json.loads((self.bucket / ended["output"]["ResultWriterDetails"]["Key"]).read_text())
        written = [json.loads(line) for each in manifest["ResultFiles"]["SUCCEEDED"]
                   for line in (self.bucket / each["Key"]).read_text().splitlines()]
        self.assertEqual(sorted(each["n"] for each in written), list(range(200)))

    def test_the_history_of_what_really_happened(self):
        machine = self.file("m.asl.json", json.dumps({"StartAt": "T", "States": {"T": {
            "Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:slow", "End": True}}}))
        options = ("run", machine, "--functions", self.functions, "--data", self.functions + ".data", "--run", "r")

        first = json.loads(self.sluice(*options, "--history").stdout)
        self.assertEqual((first["status"], first["output"]), ("SUCCEEDED", 1))
        self.assertEqual([event["type"] for event in first["history"]], [
            "ExecutionStarted", "TaskStateEntered", "LambdaFunctionScheduled", "LambdaFunctionStarted", "LambdaFunctionSucceeded",
            "TaskStateExited", "ExecutionSucceeded"])
        self.assertEqual(json.loads(self.sluice(*options, "--history").stdout), first)
        self.assertNotIn("history", json.loads(self.sluice(*options).stdout))

    def test_an_express_machine_has_no_limit_of_events(self):
        machine = self.file("m.asl.json", json.dumps({"StartAt": "M", "States": {"M": {
            "Type": "Map", "End": True, "ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}}}}))
        items = self.file("items.json", json.dumps(list(range(10_000))))
        self.sluice("run", machine, "--input", f"@{items}", code=FAILED)
        ended = json.loads(self.sluice("run", machine, "--input", f"@{items}", "--express").stdout)
        self.assertEqual(len(ended["output"]), 10_000)

    def test_what_is_wrong_with_a_bucket_is_told_with_its_place(self):
        functions = self.file("wrong.yaml", "buckets:\n  b: {directory: x, colour: red}\n")
        said = self.sluice("run", EXAMPLES / "distributed-csv.asl.json", "--functions", functions, code=INVALID).stderr
        self.assertIn("wrong.yaml:2:", said)


if __name__ == "__main__":
    unittest.main()
