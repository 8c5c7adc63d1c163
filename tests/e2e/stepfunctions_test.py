#!/usr/bin/env python3
"""State machines by the AWS CLI and boto3, as Debian has them, against a server.

usage: stepfunctions_test.py PROGRAM

Both are older than some operations: aws_models describes those to them. What waits for the end of an execution asks the
server's own API, so nothing sleeps.
"""
import base64
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

SYSTEM_PYTHON = "/usr/bin/python3"
if os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON):
    os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])  # Debian's boto3 is for Debian's python.

try:
    import boto3
    import botocore.config
    import botocore.exceptions
except ImportError:
    sys.exit("boto3 is missing: tools/setup.sh installs it")

import live_server

PROGRAM = ""
AWS = "/usr/bin/aws"
MODELS = str(pathlib.Path(__file__).resolve().parent / "aws_models")
ROLE = "arn:aws:iam::123456789012:role/any"
SECRET = "the secret of this test's key"
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1",
               "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null", "AWS_DATA_PATH": MODELS,
               "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_PAGER": "", "AWS_MAX_ATTEMPTS": "1"}
os.environ.update(ENVIRONMENT)

GREET = {"StartAt": "Greet", "States": {"Greet": {
    "Type": "Pass", "Parameters": {"text.$": "States.Format('Hello {}', $.name)"}, "End": True}}}
REST = {"StartAt": "Rest", "States": {"Rest": {"Type": "Wait", "Seconds": 86400, "End": True}}}


def client(port, **options):
    return boto3.client("stepfunctions", endpoint_url=f"http://127.0.0.1:{port}",
                        config=botocore.config.Config(inject_host_prefix=False, retries={"max_attempts": 0}), **options)


class StepFunctionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = live_server.Server(PROGRAM)
        cls.states = client(cls.server.port)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def create(self, name, definition, **more):
        return self.states.create_state_machine(name=name, definition=json.dumps(definition), roleArn=ROLE,
                                                **more)["stateMachineArn"]

    def start(self, arn, name, data=None):
        return self.states.start_execution(stateMachineArn=arn, name=name, input=json.dumps(data or {}))["executionArn"]

    def ended(self, execution):
        run = ":".join(execution.split(":")[-2:])
        self.server.ask("GET", f"/v1/runs/{live_server.quoted(run)}/end?wait=20s")
        return self.states.describe_execution(executionArn=execution)

    def told(self, operation, **members):
        """All of an answer, also what is newer than Debian's SDK."""
        return self.server.ask("POST", "/", members, "application/x-amz-json-1.0", {"X-Amz-Target": f"AWSStepFunctions.{operation}"}).json

    def refused(self, code, call, **members):
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            call(**members)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)


class CommandLineTest(StepFunctionsTest):
    def aws(self, *arguments, environment=None):
        done = subprocess.run([AWS, "--endpoint-url", f"http://127.0.0.1:{self.server.port}", "--output", "json", "stepfunctions",
                               *arguments], capture_output=True, text=True, env={**os.environ, **(environment or {})})
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr[-2000:]}")
        return json.loads(done.stdout) if done.stdout.strip() else None

    def through_proxy(self, *arguments):
        """The client asks for the host sync-127.0.0.1, which nobody knows: the server is its own proxy."""
        return self.aws(*arguments, environment={"HTTP_PROXY": f"http://127.0.0.1:{self.server.port}", "NO_PROXY": ""})

    def test_an_execution_from_its_machine_to_its_history(self):
        machine = self.aws("create-state-machine", "--name", "greet", "--role-arn", ROLE, "--definition", json.dumps(GREET))
        arn = machine["stateMachineArn"]
        self.assertEqual(arn, "arn:aws:states:us-east-1:123456789012:stateMachine:greet")
        described = self.aws("describe-state-machine", "--state-machine-arn", arn)
        self.assertEqual(json.loads(described["definition"]), GREET)
        started = self.aws("start-execution", "--state-machine-arn", arn, "--name", "ann", "--input", '{"name": "Ann"}')
        self.ended(started["executionArn"])
        execution = self.aws("describe-execution", "--execution-arn", started["executionArn"])
        self.assertEqual((execution["status"], json.loads(execution["output"])), ("SUCCEEDED", {"text": "Hello Ann"}))
        history = self.aws("get-execution-history", "--execution-arn", started["executionArn"])["events"]
        self.assertEqual([event["type"] for event in history],
                         ["ExecutionStarted", "PassStateEntered", "PassStateExited", "ExecutionSucceeded"])
        self.assertEqual(json.loads(history[2]["stateExitedEventDetails"]["output"]), {"text": "Hello Ann"})
        listed = self.aws("list-executions", "--state-machine-arn", arn, "--status-filter", "SUCCEEDED")
        self.assertEqual([each["name"] for each in listed["executions"]], ["ann"])

    def test_an_execution_is_stopped(self):
        arn = self.create("rest", REST)
        execution = self.start(arn, "long")
        self.aws("stop-execution", "--execution-arn", execution, "--error", "Enough", "--cause", "it is late")
        described = self.ended(execution)
        self.assertEqual((described["status"], described["error"], described["cause"]), ("ABORTED", "Enough", "it is late"))
        last = self.states.get_execution_history(executionArn=execution, reverseOrder=True, maxResults=1)["events"][0]
        self.assertEqual(last["type"], "ExecutionAborted")

    def test_an_express_execution_is_waited_for(self):
        arn = self.create("quick", GREET, type="EXPRESS")
        ended = self.through_proxy("start-sync-execution", "--state-machine-arn", arn, "--input", '{"name": "Bo"}')
        self.assertEqual((ended["status"], json.loads(ended["output"])), ("SUCCEEDED", {"text": "Hello Bo"}))

    def test_a_state_is_tested(self):
        state = {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"},
                 "Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 3}], "Next": "Later"}
        tested = self.through_proxy("test-state", "--definition", json.dumps(state), "--role-arn", ROLE, "--inspection-level",
                                    "DEBUG", "--mock", json.dumps({"errorOutput": {"error": "Busy", "cause": "full"}}))
        self.assertEqual((tested["status"], tested["error"]), ("RETRIABLE", "Busy"))
        self.assertEqual(tested["inspectionData"]["errorDetails"], {"retryIndex": 0, "retryBackoffIntervalSeconds": 3})


class SdkTest(StepFunctionsTest):
    def test_a_worker_does_the_tasks_of_an_activity(self):
        activity = self.states.create_activity(name="dig")["activityArn"]
        arn = self.create("mine", {"StartAt": "Dig", "States": {"Dig": {"Type": "Task", "Resource": activity, "End": True}}})

        def work():
            for output in ("gold", None):
                task = self.states.get_activity_task(activityArn=activity, workerName="digger")
                if output is None:
                    self.states.send_task_failure(taskToken=task["taskToken"], error="Rock", cause="too hard")
                else:
                    self.states.send_task_heartbeat(taskToken=task["taskToken"])
                    self.states.send_task_success(taskToken=task["taskToken"], output=json.dumps([output, json.loads(task["input"])]))

        worker = threading.Thread(target=work)
        worker.start()
        found = self.ended(self.start(arn, "one", {"depth": 3}))
        failed = self.ended(self.start(arn, "two"))
        worker.join()
        self.assertEqual(json.loads(found["output"]), ["gold", {"depth": 3}])
        self.assertEqual((failed["status"], failed["error"], failed["cause"]), ("FAILED", "Rock", "too hard"))
        events = self.states.get_execution_history(executionArn=found["executionArn"])["events"]
        self.assertEqual([event["type"] for event in events[2:5]], ["ActivityScheduled", "ActivityStarted", "ActivitySucceeded"])
        self.assertEqual(events[3]["activityStartedEventDetails"], {"workerName": "digger"})
        self.states.delete_activity(activityArn=activity)
        self.refused("ActivityDoesNotExist", self.states.describe_activity, activityArn=activity)
        gone = self.ended(self.start(arn, "three"))
        self.assertEqual((gone["status"], gone["error"]), ("FAILED", "States.Runtime"))
        self.assertIn("does not exist", gone["cause"])

    def test_somebody_answers_by_a_task_token(self):
        self.assertEqual(self.server.ask("PUT", "/v1/functions/ask", {"kind": "poll"}).status, 200)
        arn = self.create("approve", {"StartAt": "Ask", "States": {"Ask": {
            "Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken", "End": True,
            "Parameters": {"FunctionName": "ask", "Payload": {"token.$": "$$.Task.Token", "of.$": "$$.Execution.Name"}}}}})
        execution = self.start(arn, "yes")
        task = self.server.ask("POST", "/v1/functions/ask/poll?wait=20s").json["tasks"][0]
        self.assertEqual(task["input"]["of"], "yes")
        self.server.ask("POST", f"/v1/tasks/{task['token']}/complete", {"result": None})
        self.states.send_task_heartbeat(taskToken=task["input"]["token"])
        self.states.send_task_success(taskToken=task["input"]["token"], output='{"approved": true}')
        self.assertEqual(json.loads(self.ended(execution)["output"]), {"approved": True})
        self.refused("TaskTimedOut", self.states.send_task_success, taskToken=task["input"]["token"], output="1")
        self.refused("InvalidToken", self.states.send_task_success, taskToken="none", output="1")

    def test_a_lambda_function_is_a_function_of_that_name(self):
        self.assertEqual(self.server.ask("PUT", "/v1/functions/double", {"kind": "poll"}).status, 200)
        arn = self.create("doubled", {"StartAt": "A", "States": {"A": {
            "Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:double", "End": True}}})
        execution = self.start(arn, "one", {"n": 4})
        task = self.server.ask("POST", "/v1/functions/double/poll?wait=20s").json["tasks"][0]
        self.server.ask("POST", f"/v1/tasks/{task['token']}/complete", {"result": task["input"]["n"] * 2})
        self.assertEqual(self.ended(execution)["output"], "8")

    def test_versions_and_aliases(self):
        arn = self.create("stable", GREET)
        one = self.states.publish_state_machine_version(stateMachineArn=arn)["stateMachineVersionArn"]
        self.states.update_state_machine(stateMachineArn=arn, definition=json.dumps(REST))
        two = self.states.publish_state_machine_version(stateMachineArn=arn)["stateMachineVersionArn"]
        self.assertEqual([one, two], [arn + ":1", arn + ":2"])
        route = [{"stateMachineVersionArn": one, "weight": 100}]
        alias = self.states.create_state_machine_alias(name="LIVE", routingConfiguration=route)["stateMachineAliasArn"]
        ended = self.ended(self.start(alias, "by-alias", {"name": "Cy"}))
        self.assertEqual(json.loads(ended["output"]), {"text": "Hello Cy"})
        self.assertEqual(self.states.describe_state_machine_alias(stateMachineAliasArn=alias)["routingConfiguration"], route)

    def test_what_is_refused(self):
        broken = {"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}}}
        self.refused("InvalidDefinition", self.states.create_state_machine, name="x", definition=json.dumps(broken), roleArn=ROLE)
        told = self.states.validate_state_machine_definition(definition=json.dumps(broken))
        self.assertEqual(told["result"], "FAIL")
        self.assertEqual(told["diagnostics"][0]["code"], "MISSING_TRANSITION_TARGET")
        self.refused("InvalidName", self.states.create_state_machine, name="a b", definition=json.dumps(GREET), roleArn=ROLE)
        self.refused("InvalidArn", self.states.describe_state_machine, stateMachineArn="greet")
        none = "arn:aws:states:us-east-1:123456789012:"
        self.refused("StateMachineDoesNotExist", self.states.start_execution, stateMachineArn=none + "stateMachine:none")
        self.refused("ExecutionDoesNotExist", self.states.describe_execution, executionArn=none + "execution:none:none")

    def test_a_failed_execution_is_redriven(self):
        self.assertEqual(self.server.ask("PUT", "/v1/functions/unsteady", {"kind": "poll"}).status, 200)
        arn = self.create("again", {"StartAt": "A", "States": {"A": {
            "Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:unsteady", "End": True}}})
        execution = self.start(arn, "one")
        for outcome, body in (("fail", {"kind": "Down", "message": "try later"}), ("complete", {"result": "up"})):
            task = self.server.ask("POST", "/v1/functions/unsteady/poll?wait=20s").json["tasks"][0]
            self.server.ask("POST", f"/v1/tasks/{task['token']}/{outcome}", body)
            described = self.ended(execution)
            if outcome == "fail":
                self.assertEqual((described["status"], described["error"]), ("FAILED", "Down"))
                self.states.redrive_execution(executionArn=execution)
        self.assertEqual((described["status"], described["output"]), ("SUCCEEDED", '"up"'))
        self.refused("ExecutionNotRedrivable", self.states.redrive_execution, executionArn=execution)


class IntegrationTest(StepFunctionsTest):
    """Buckets, connections and other machines: what stands in the file of --functions."""
    FUNCTIONS = "buckets:\n  shop: {directory: shop}\nconnections:\n  crm: {headers: {X-Key: k1}, allow_private: true}\n"

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.bucket = pathlib.Path(cls.folder.name) / "shop"
        cls.bucket.mkdir()
        (cls.bucket / "rows.csv").write_text("sku\n" + "".join(f"s{n}\n" for n in range(5)))
        file = pathlib.Path(cls.folder.name) / "functions.yaml"
        file.write_text(cls.FUNCTIONS)
        cls.server = live_server.Server(PROGRAM, "--functions", str(file))
        cls.states = client(cls.server.port)

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.folder.cleanup()

    def polled(self, function, count):
        tasks = []
        while len(tasks) < count:
            tasks += self.server.ask("POST", f"/v1/functions/{function}/poll?wait=20s&most={count - len(tasks)}").json["tasks"]
        return tasks

    def settle(self, task, outcome, body):
        self.assertEqual(self.server.ask("POST", f"/v1/tasks/{task['token']}/{outcome}", body).status, 200)

    def test_a_map_run_from_its_rows_to_its_files(self):
        self.assertEqual(self.server.ask("PUT", "/v1/functions/price", {"kind": "poll"}).status, 200)
        arn = self.create("prices", {"StartAt": "Rows", "States": {"Rows": {
            "Type": "Map", "MaxConcurrency": 2, "Label": "rows", "End": True,
            "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "shop", "Key": "rows.csv"},
                           "ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}},
            "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "shop", "Prefix": "out"}},
            "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Price", "States": {
                "Price": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:price", "End": True}}}}}})
        execution = self.start(arn, "all")
        tasks = self.polled("price", 2)
        run = self.states.list_map_runs(executionArn=execution)["mapRuns"][0]["mapRunArn"]
        told = self.states.describe_map_run(mapRunArn=run)
        self.assertEqual((told["status"], told["maxConcurrency"]), ("RUNNING", 2))
        self.assertEqual([told["itemCounts"][name] for name in ("total", "running", "pending")], [5, 2, 3])
        self.states.update_map_run(mapRunArn=run, maxConcurrency=5, toleratedFailureCount=2)
        tasks += self.polled("price", 3)
        for task in tasks[:2]:
            self.settle(task, "fail", {"kind": "NoPrice", "message": "ask the maker"})
        for task in tasks[2:]:
            self.settle(task, "complete", {"result": 7})
        details = json.loads(self.ended(execution)["output"])["ResultWriterDetails"]
        told = self.states.describe_map_run(mapRunArn=run)
        self.assertEqual((told["status"], told["maxConcurrency"], told["toleratedFailureCount"]), ("SUCCEEDED", 5, 2))
        self.assertEqual([told["executionCounts"][name] for name in ("succeeded", "failed", "resultsWritten")], [3, 2, 5])
        failed = self.states.list_executions(mapRunArn=run, statusFilter="FAILED")["executions"]
        self.assertEqual(len(failed), 2)
        manifest = json.loads((self.bucket / details["Key"]).read_text())
        files = {kind: [json.loads((self.bucket / each["Key"]).read_text()) for each in listed]
                 for kind, listed in manifest["ResultFiles"].items()}
        self.assertEqual([len(file) for file in files["SUCCEEDED"] + files["FAILED"]], [3, 2])
        self.assertEqual({each["Name"] for each in files["FAILED"][0]}, {each["name"] for each in failed})
        self.assertEqual({each["Error"] for each in files["FAILED"][0]}, {"NoPrice"})
        self.refused("ResourceNotFound", self.states.update_map_run, mapRunArn=run, maxConcurrency=1)

    def test_a_map_run_is_redriven_and_its_children_are_executions(self):
        self.assertEqual(self.server.ask("PUT", "/v1/functions/label", {"kind": "poll"}).status, 200)
        arn = self.create("labels", {"StartAt": "Rows", "States": {"Rows": {
            "Type": "Map", "MaxConcurrency": 4, "Label": "rows", "End": True,
            "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "shop", "Key": "rows.csv"},
                           "ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}},
            "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "shop", "Prefix": "labels"}},
            "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Print", "States": {
                "Print": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:label", "End": True}}}}}})
        execution = self.start(arn, "all")
        tasks = sorted(self.polled("label", 4), key=lambda task: task["input"]["sku"])
        self.settle(tasks[0], "complete", {"result": "printed"})
        self.settle(tasks[1], "fail", {"kind": "NoPaper", "message": "out of paper"})
        self.assertEqual(self.ended(execution)["error"], "States.ExceedToleratedFailureThreshold")
        run = self.states.list_map_runs(executionArn=execution)["mapRuns"][0]["mapRunArn"]

        newest = self.states.list_executions(mapRunArn=run, maxResults=3)
        rest = self.states.list_executions(mapRunArn=run, nextToken=newest["nextToken"])
        children = [*newest["executions"], *rest["executions"]]
        self.assertEqual([each["status"] for each in children], ["ABORTED", "ABORTED", "ABORTED", "FAILED", "SUCCEEDED"])
        one = {each["status"]: each["executionArn"] for each in children}
        done = self.states.describe_execution(executionArn=one["SUCCEEDED"])
        self.assertEqual((done["input"], done["output"], done["mapRunArn"]), ('{"sku":"s0"}', '"printed"', run))
        self.assertTrue(done["stateMachineArn"].endswith(":stateMachine:labels/rows"))
        failed = self.told("DescribeExecution", executionArn=one["FAILED"])
        self.assertEqual((failed["status"], failed["error"], failed["redriveStatus"]), ("FAILED", "NoPaper", "REDRIVABLE_BY_MAP_RUN"))
        types = [event["type"] for event in self.states.get_execution_history(executionArn=one["FAILED"])["events"]]
        self.assertEqual(types, ["ExecutionStarted", "TaskStateEntered", "LambdaFunctionScheduled", "LambdaFunctionStarted",
                                 "LambdaFunctionFailed", "ExecutionFailed"])
        self.refused("ExecutionDoesNotExist", self.states.describe_execution, executionArn=one["FAILED"] + "9")
        self.refused("ExecutionDoesNotExist", self.states.get_execution_history, executionArn=one["FAILED"] + "9")
        self.refused("ExecutionNotRedrivable", self.states.redrive_execution, executionArn=one["FAILED"])

        self.states.redrive_execution(executionArn=execution)
        tasks = sorted(self.polled("label", 4), key=lambda task: task["input"]["sku"])
        self.assertEqual([task["input"]["sku"] for task in tasks], ["s1", "s2", "s3", "s4"])
        self.server.kill()
        self.server.start()
        type(self).states = client(self.server.port)
        self.states.update_map_run(mapRunArn=run, toleratedFailureCount=1)
        stopped = self.states.list_executions(mapRunArn=run, statusFilter="RUNNING")["executions"][0]["executionArn"]
        self.states.stop_execution(executionArn=stopped, error="Enough")
        self.states.stop_execution(executionArn=stopped)
        self.assertEqual(self.states.describe_execution(executionArn=stopped)["error"], "Enough")
        for task in self.polled("label", 3):
            self.settle(task, "complete", {"result": "printed"})
        self.ended(execution)
        self.assertEqual(self.told("DescribeExecution", executionArn=execution)["redriveCount"], 1)
        told = self.told("DescribeMapRun", mapRunArn=run)
        self.assertEqual((told["status"], told["redriveCount"]), ("SUCCEEDED", 1))
        self.assertEqual([told["executionCounts"][name] for name in ("succeeded", "aborted", "failed", "pendingRedrive")], [4, 1, 0, 0])
        self.assertEqual(self.told("DescribeExecution", executionArn=one["FAILED"])["redriveCount"], 1)
        events = [event["type"] for event in self.states.get_execution_history(executionArn=execution)["events"]]
        self.assertEqual(events[events.index("ExecutionFailed"):], ["ExecutionFailed", "ExecutionRedriven", "MapRunRedriven",
                                                                    "MapRunSucceeded", "MapStateSucceeded", "MapStateExited", "ExecutionSucceeded"])
        details = json.loads(self.states.describe_execution(executionArn=execution)["output"])["ResultWriterDetails"]
        manifest = json.loads((self.bucket / details["Key"]).read_text())["ResultFiles"]
        written = [each["Input"] for file in manifest["SUCCEEDED"] for each in json.loads((self.bucket / file["Key"]).read_text())]
        self.assertEqual(sorted(written), [f'{{"sku":"s{n}"}}' for n in range(4)])

    def test_machines_start_each_other(self):
        child = self.create("child", {"StartAt": "A", "States": {"A": {
            "Type": "Choice", "Choices": [{"Variable": "$.n", "IsPresent": True, "Next": "B"}], "Default": "C"},
            "B": {"Type": "Pass", "End": True}, "C": {"Type": "Fail", "Error": "NoNumber", "Cause": "n is missing"}}})

        def run(pattern, given, name):
            state = {"Type": "Task", "Resource": f"arn:aws:states:::states:startExecution{pattern}", "End": True,
                     "Parameters": {"StateMachineArn": child, "Input": given, "Name": name}}
            arn = self.create(f"parent-{name}-{len(pattern)}", {"StartAt": "S", "States": {"S": state}})
            return self.ended(self.start(arn, "one"))

        started = json.loads(run("", {"n": 1}, "plain")["output"])
        self.assertEqual(set(started), {"ExecutionArn", "StartDate"})
        self.assertEqual(json.loads(self.ended(started["ExecutionArn"])["output"]), {"n": 1})
        text = json.loads(run(".sync", {"n": 2}, "text")["output"])
        self.assertEqual((text["Output"], text["Status"], text["Name"]), ('{"n":2}', "SUCCEEDED", "text"))
        self.assertEqual(json.loads(run(".sync:2", {"n": 3}, "value")["output"])["Output"], {"n": 3})
        failed = run(".sync", {}, "failing")
        cause = json.loads(failed["cause"])
        self.assertEqual((failed["error"], cause["Error"], cause["Cause"], cause["Status"]),
                         ("States.TaskFailed", "NoNumber", "n is missing", "FAILED"))
        self.assertEqual(self.states.describe_execution(executionArn=cause["ExecutionArn"])["status"], "FAILED")
        again = run("", {"n": 4}, "text")
        self.assertEqual(again["error"], "StepFunctions.ExecutionAlreadyExistsException")

    def test_machines_start_versions_and_aliases_of_others(self):
        def answer(text):
            return {"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": text, "End": True}}}

        machine = self.create("answers", answer("old"))
        version = self.states.publish_state_machine_version(stateMachineArn=machine)["stateMachineVersionArn"]
        self.states.update_state_machine(stateMachineArn=machine, definition=json.dumps(answer("new")))
        alias = self.states.create_state_machine_alias(
            name="LIVE", routingConfiguration=[{"stateMachineVersionArn": version, "weight": 100}])["stateMachineAliasArn"]
        for number, (target, expected) in enumerate(((machine, "new"), (version, "old"), (alias, "old"))):
            for pattern in ("", ".sync:2"):
                name = f"one-{number}-{len(pattern)}"
                state = {"Type": "Task", "Resource": f"arn:aws:states:::states:startExecution{pattern}", "End": True,
                         "Parameters": {"StateMachineArn": target, "Name": name}}
                self.ended(self.start(self.create(f"asks-{name}", {"StartAt": "S", "States": {"S": state}}), "one"))
                started = f"arn:aws:states:us-east-1:123456789012:execution:answers:{name}"
                self.ended(started)
                told = self.told("DescribeExecution", executionArn=started)
                self.assertEqual((json.loads(told["output"]), told.get("stateMachineVersionArn")),
                                 (expected, None if target == machine else version))
                self.assertEqual(told.get("stateMachineAliasArn"), alias if target == alias else None)
        none = self.create("asks-none", {"StartAt": "S", "States": {"S": {
            "Type": "Task", "Resource": "arn:aws:states:::states:startExecution", "End": True, "Parameters": {"StateMachineArn": machine + ":9"}}}})
        self.assertEqual(self.ended(self.start(none, "one"))["error"], "StepFunctions.StateMachineDoesNotExistException")

    def test_objects_and_requests(self):
        seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                seen.append((self.path, self.headers["X-Key"], self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(b'{"id": 7}')

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as other:
            threading.Thread(target=other.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{other.server_port}/orders"

            def call(action, arguments, **more):
                return {"Type": "Task", "Resource": f"arn:aws:states:::{action}", "Parameters": arguments, **more}

            arn = self.create("calls", {"StartAt": "Put", "States": {
                "Put": call("aws-sdk:s3:putObject", {"Bucket": "shop", "Key": "notes/a.txt", "Body": "hello"}, ResultPath=None, Next="Get"),
                "Get": call("aws-sdk:s3:getObject", {"Bucket": "shop", "Key": "notes/a.txt"},
                            ResultSelector={"Body.$": "$.Body"}, ResultPath="$.got", Next="List"),
                "List": call("aws-sdk:s3:listObjectsV2", {"Bucket": "shop", "Prefix": "notes/"},
                             ResultSelector={"keys.$": "$.Contents[*].Key"}, ResultPath="$.listed", Next="Ask"),
                "Ask": call("http:invoke", {"ApiEndpoint": url, "Method": "POST", "RequestBody": {"n": 1},
                                            "Authentication": {"ConnectionArn": "arn:aws:events:us-east-1:1:connection/crm/1"}},
                            ResultSelector={"body.$": "$.ResponseBody", "status.$": "$.StatusCode"}, ResultPath="$.asked", Next="None"),
                "None": call("aws-sdk:s3:getObject", {"Bucket": "shop", "Key": "../functions.yaml"}, End=True,
                             Catch=[{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "End"}]),
                "End": {"Type": "Succeed"}}})
            output = json.loads(self.ended(self.start(arn, "one"))["output"])
            other.shutdown()
        self.assertEqual(output["got"], {"Body": "hello"})
        self.assertEqual(output["listed"], {"keys": ["notes/a.txt"]})
        self.assertEqual(output["asked"], {"body": {"id": 7}, "status": 200})
        self.assertEqual(seen, [("/orders", "k1", b'{"n":1}')])
        self.assertEqual(output["error"]["Error"], "S3.S3Exception")

    def test_no_private_address_is_asked_without_leave(self):
        arn = self.create("outside", {"StartAt": "Ask", "States": {"Ask": {
            "Type": "Task", "Resource": "arn:aws:states:::http:invoke", "End": True,
            "Parameters": {"ApiEndpoint": f"http://127.0.0.1:{self.server.port}/v1/tokens", "Method": "GET"}}}})
        self.assertEqual(self.ended(self.start(arn, "one"))["error"], "forbidden_address")


class RestartTest(unittest.TestCase):
    def test_a_task_token_outlives_the_server_and_is_not_guessed(self):
        server = live_server.Server(PROGRAM)
        try:
            server.ask("PUT", "/v1/functions/ask", {"kind": "poll"})
            states = client(server.port)
            arn = states.create_state_machine(name="approve", roleArn=ROLE, definition=json.dumps({"StartAt": "Ask", "States": {"Ask": {
                "Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken", "End": True,
                "Parameters": {"FunctionName": "ask", "Payload": {"token.$": "$$.Task.Token"}}}}}))["stateMachineArn"]
            execution = states.start_execution(stateMachineArn=arn, name="one")["executionArn"]
            token = server.ask("POST", "/v1/functions/ask/poll?wait=20s").json["tasks"][0]["input"]["token"]
            server.kill()
            server.start()
            states = client(server.port)
            lines = base64.b64decode(token).split(b"\n")
            guessed = base64.b64encode(b"\n".join([*lines[:-1], b"0" * len(lines[-1])])).decode()
            with self.assertRaises(botocore.exceptions.ClientError) as caught:
                states.send_task_success(taskToken=guessed, output="1")
            self.assertEqual(caught.exception.response["Error"]["Code"], "TaskTimedOut")
            states.send_task_success(taskToken=token, output="2")
            server.ask("GET", "/v1/runs/approve%3Aone/end?wait=20s")
            self.assertEqual(states.describe_execution(executionArn=execution)["output"], "2")
        finally:
            server.close()

    def test_machines_and_executions_outlive_the_server(self):
        server = live_server.Server(PROGRAM)
        try:
            states = client(server.port)
            arn = states.create_state_machine(name="rest", definition=json.dumps(REST), roleArn=ROLE,
                                              tags=[{"key": "team", "value": "blue"}])["stateMachineArn"]
            version = states.publish_state_machine_version(stateMachineArn=arn)["stateMachineVersionArn"]
            states.create_state_machine_alias(name="LIVE", routingConfiguration=[{"stateMachineVersionArn": version, "weight": 100}])
            states.create_activity(name="dig")
            execution = states.start_execution(stateMachineArn=arn + ":LIVE", name="long")["executionArn"]
            server.kill()
            server.start()
            states = client(server.port)
            self.assertEqual(json.loads(states.describe_state_machine(stateMachineArn=version)["definition"]), REST)
            self.assertEqual(states.list_tags_for_resource(resourceArn=arn)["tags"], [{"key": "team", "value": "blue"}])
            self.assertEqual(states.list_activities()["activities"][0]["name"], "dig")
            self.assertEqual(states.describe_execution(executionArn=execution)["status"], "RUNNING")
            types = [event["type"] for event in states.get_execution_history(executionArn=execution)["events"]]
            self.assertEqual(types, ["ExecutionStarted", "WaitStateEntered"])
            states.stop_execution(executionArn=execution)
        finally:
            server.close()


class SignatureTest(unittest.TestCase):
    def test_only_who_has_the_secret_comes_in(self):
        os.environ["SLUICE_TOKEN"] = SECRET
        server = live_server.Server(PROGRAM)
        del os.environ["SLUICE_TOKEN"]
        try:
            right = client(server.port, aws_access_key_id="root", aws_secret_access_key=SECRET)
            self.assertEqual(right.list_state_machines()["stateMachines"], [])
            for key, secret in (("root", "wrong"), ("other", SECRET)):
                wrong = client(server.port, aws_access_key_id=key, aws_secret_access_key=secret)
                with self.assertRaises(botocore.exceptions.ClientError) as caught:
                    wrong.list_state_machines()
                self.assertEqual(caught.exception.response["Error"]["Code"], "UnrecognizedClientException")
        finally:
            server.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    PROGRAM = sys.argv.pop(1)
    unittest.main()
