#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "trigger/arrival.h"
#include "workflow/asl/map_children.h"
#include "workflow/asl/result_files.h"
#include "workflow/asl/testing/machine_run.h"

// Distributed maps of executions that ended without success and go on.
namespace sluice::workflow::asl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MapRedrive : public testing::MachineRun {
protected:
    static std::string map_state(std::string_view more) {
        return fmt::format(
            R"({{"Type": "Map", "End": true, {}
                "ItemProcessor": {{"ProcessorConfig": {{"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}},
                    "StartAt": "A", "States": {{
                        "A": {{"Type": "Pass", "Assign": {{"own.$": "$"}}, "Next": "S"}},
                        "S": {{"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:first",
                              "ResultPath": null, "Next": "T"}},
                        "T": {{"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:second",
                              "ResultPath": null, "Next": "Z"}},
                        "Z": {{"Type": "Pass", "Parameters": {{"own.$": "$own"}}, "End": true}}}}}}}})",
            more);
    }
    static std::string machine(std::string_view more) {
        return fmt::format(R"({{"StartAt": "M", "States": {{"M": {}}}}})", map_state(more));
    }
    static constexpr auto reader =
        R"("ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSON"},
            "Parameters": {"Bucket": "b", "Key": "k"}},)";
    static constexpr auto writer =
        R"("ResultWriter": {"Resource": "arn:aws:states:::s3:putObject",
            "Parameters": {"Bucket": "b", "Prefix": "out"}},)";

    void redrive() {
        auto data = Value::object({{"status", to_string(state_.progress.status)}});
        decide(trigger::command_arrival(state_, trigger::types::run_reopened, data, moment_));
    }
    void stop() {
        decide(trigger::command_arrival(state_, trigger::types::run_terminate, Value::object({}),
                                        moment_));
    }
    /// The whole of one child.
    void succeed(int index) {
        answer(fmt::format("M/{}/S", index), 1);
        answer(fmt::format("M/{}/T", index), 1);
    }
    void page(std::string_view text) { answer("M", *value::parse_json(text)); }

    /// Answers all calls that write results; some of them more than once.
    void write() {
        for (const auto& [key, task] : std::map{state_.tasks.begin(), state_.tasks.end()}) {
            if (task.target == "sluice.results") {
                std::ignore = *write_results(objects_, task.input);
                auto given = event::Answer{.result = *write_results(objects_, task.input)};
                decide(trigger::task_arrival(state_, key, 1, given, std::nullopt, moment_));
            }
        }
    }
    /// What the manifest lists, as `STATUS input`.
    std::vector<std::string> written() {
        auto listed = *objects_.list("b", "out/", "", 100);
        auto manifest = Value{};
        for (const auto& each : listed) {
            if (each.key.ends_with("manifest.json")) {
                manifest = *value::parse_json(*objects_.read("b", each.key, 0, 1'000'000));
            }
        }
        auto found = std::vector<std::string>{};
        for (const auto& [kind, files] : manifest.find("ResultFiles")->as_map()) {
            for (const auto& file : files.as_list()) {
                auto key = std::string{file.find("Key")->as_string()};
                auto content = *value::parse_json(*objects_.read("b", key, 0, 100'000'000));
                for (const auto& record : content.as_list()) {
                    found.push_back(fmt::format("{} {}", record.find("Status")->as_string(),
                                                record.find("Input")->as_string().substr(0, 8)));
                }
            }
        }
        std::ranges::sort(found);
        return found;
    }
    MapRun map_run() {
        auto heard = map_runs_;
        heard.close(state_.progress);
        EXPECT_EQ(heard.all().size(), 1U);
        return heard.all().front();
    }

    ObjectsInMemory objects_;
};

TEST_F(MapRedrive, GoesOnWithChildrenThatDidNotSucceed) {
    start(machine(R"("MaxConcurrency": 3,)"), "[7,8,9,10]");
    succeed(0);
    answer("M/1/S", 1);
    fail("M/1/T", "Oops");
    EXPECT_THAT(end(), HasSubstr("States.ExceedToleratedFailureThreshold"));
    EXPECT_EQ(map_run().executions.failed, 1U);
    EXPECT_EQ(map_run().executions.aborted, 2U);

    redrive();
    EXPECT_THAT(calls(), ElementsAre("M/1/T: second", "M/2/S: first", "M/3/S: first"));
    EXPECT_EQ(map_run().status, "RUNNING");
    EXPECT_EQ(map_run().redrives, 1U);
    EXPECT_EQ(map_run().executions.running, 3U);
    EXPECT_EQ(map_run().executions.pending_redrive, 0U);
    answer("M/1/T", 1);
    succeed(3);
    succeed(2);

    EXPECT_EQ(end(),
              R"({"status":"SUCCEEDED","output":[{"own":7},{"own":8},{"own":9},{"own":10}]})");
    EXPECT_EQ(map_run().executions.succeeded, 4U);
    EXPECT_TRUE(state_.scopes.empty());
    EXPECT_TRUE(state_.collected.empty());
    EXPECT_THAT(
        events(),
        ElementsAre("ExecutionStarted<0", "MapStateEntered<0", "MapStateStarted<2",
                    "MapRunStarted<3", "MapRunFailed<4", "MapStateFailed<5", "ExecutionFailed<6",
                    "ExecutionRedriven<7", "MapRunRedriven<8", "MapRunSucceeded<9",
                    "MapStateSucceeded<10", "MapStateExited<10", "ExecutionSucceeded<12"));
}

TEST_F(MapRedrive, BeginsWhatHadNotBegunBehindWhatGoesOn) {
    start(machine(R"("MaxConcurrency": 1,)"), "[7,8,9]");
    succeed(0);
    fail("M/1/S", "Oops");

    redrive();
    EXPECT_THAT(calls(), ElementsAre("M/1/S: first"));
    EXPECT_EQ(map_run().executions.pending(), 1U);
    fail("M/1/S", "Oops");
    EXPECT_THAT(end(), HasSubstr("FAILED"));
    redrive();
    EXPECT_EQ(map_run().redrives, 2U);
    succeed(1);
    succeed(2);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[{"own":7},{"own":8},{"own":9}]})");
}

TEST_F(MapRedrive, KeepsThoseThatHaveNotGoneOnYet) {
    start(machine(R"("ToleratedFailureCount": 2,)"), "[7,8,9]");
    for (auto index : {0, 1, 2}) {
        fail(fmt::format("M/{}/S", index), "Oops");
    }
    EXPECT_THAT(end(), HasSubstr("FAILED"));
    redrive();
    EXPECT_THAT(calls(), ElementsAre("M/0/S: first", "M/1/S: first", "M/2/S: first"));
    stop();
    redrive();
    command("asl.map_run", *value::parse_json(R"({"started": 3, "concurrency": 1})"));
    stop();
    EXPECT_EQ(map_run().status, "ABORTED");

    redrive();
    EXPECT_THAT(calls(), ElementsAre("M/0/S: first"));
    EXPECT_EQ(map_run().executions.pending_redrive, 2U);
    stop();
    redrive();
    succeed(0);
    succeed(1);
    succeed(2);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[{"own":7},{"own":8},{"own":9}]})");
}

TEST_F(MapRedrive, GoesOnWithChildrenOfPagesThatAreGone) {
    start(machine(std::string{reader} + R"("ToleratedFailureCount": 1,)"));
    page(R"({"items": ["a"], "cursor": {"index": 1}})");
    fail("M/0/S", "Oops");
    page(R"({"items": ["b"], "cursor": {"index": 2}})");
    stop();

    redrive();
    EXPECT_THAT(calls(), ElementsAre("M/0/S: first", "M/1/S: first"));
    EXPECT_EQ(input_of("M/0/S"), R"("a")");
    succeed(0);
    succeed(1);
    EXPECT_EQ(*call_of("M").second.input.find("cursor"), Value::object({{"index", 2}}));
    page(R"({"items": ["c"]})");
    succeed(2);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[{"own":"a"},{"own":"b"},{"own":"c"}]})");
}

TEST_F(MapRedrive, AsksAgainForAPageThatDidNotCome) {
    start(machine(reader));
    page(R"({"items": ["a"], "cursor": {"index": 1}})");
    succeed(0);
    fail("M", "States.ItemReaderFailed", "no such key");
    EXPECT_THAT(end(), HasSubstr("States.ItemReaderFailed"));

    redrive();
    EXPECT_EQ(*call_of("M").second.input.find("cursor"), Value::object({{"index", 1}}));
    page(R"({"items": ["b"]})");
    succeed(1);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[{"own":"a"},{"own":"b"}]})");
}

TEST_F(MapRedrive, WritesEachResultOnce) {
    start(machine(std::string{writer} + R"("MaxConcurrency": 2,)"), "[6,7,8,9]");
    succeed(0);
    fail("M/1/S", "Oops");
    write();
    EXPECT_THAT(end(), HasSubstr("States.ExceedToleratedFailureThreshold"));
    EXPECT_THAT(written(), ElementsAre("ABORTED 8", "FAILED 7", "PENDING 9", "SUCCEEDED 6"));

    redrive();
    EXPECT_THAT(calls(), ElementsAre("M/1/S: first", "M/2/S: first"));
    succeed(1);
    succeed(2);
    succeed(3);
    write();

    EXPECT_THAT(end(), HasSubstr("manifest.json"));
    EXPECT_THAT(written(), ElementsAre("SUCCEEDED 6", "SUCCEEDED 7", "SUCCEEDED 8", "SUCCEEDED 9"));
}

TEST_F(MapRedrive, WritesPartsAgainOfWhichNobodyKnows) {
    start(machine(std::string{reader} + writer));
    auto items = std::vector<Value>{};
    for (auto at = 0; at < 12; ++at) {
        items.emplace_back(fmt::format("{:06}", at) + std::string(200'000, 'x'));
    }
    answer("M", Value::object({{"items", Value::list(items)}}));
    for (auto at = 0; at < 7; ++at) {
        succeed(at);
    }
    ASSERT_EQ(std::ranges::count(calls(), "M: sluice.results"), 2);
    stop();
    EXPECT_THAT(state_.tasks, IsEmpty());

    redrive();
    EXPECT_THAT(calls(), ElementsAre("M: sluice.results", "M: sluice.results"));
    write();
    for (auto at = 7; at < 12; ++at) {
        succeed(at);
    }
    for (auto turn = 0; turn < 5; ++turn) {
        write();
    }

    EXPECT_THAT(end(), HasSubstr("SUCCEEDED"));
    auto expected = std::vector<std::string>{};
    for (auto at = 0; at < 12; ++at) {
        expected.push_back(fmt::format(R"(SUCCEEDED "{:06}x)", at));
    }
    EXPECT_EQ(written(), expected);
}

TEST_F(MapRedrive, WritesAgainWhatCouldNotBeWritten) {
    start(machine(writer), "[7]");
    succeed(0);
    fail("M", "States.ResultWriterFailed", "no such bucket");
    EXPECT_THAT(end(), HasSubstr("States.ResultWriterFailed"));

    redrive();
    write();
    write();

    EXPECT_THAT(end(), HasSubstr("manifest.json"));
    EXPECT_THAT(written(), ElementsAre("SUCCEEDED 7"));
}

TEST_F(MapRedrive, TellsOfEachChildOnceInWhatItGives) {
    start(machine(R"("ResultWriter": {"WriterConfig": {"Transformation": "NONE"}},)"), "[7,8]");
    fail("M/0/S", "Oops");
    redrive();
    succeed(0);
    succeed(1);

    auto output = *value::parse_json(end())->find("output");
    ASSERT_EQ(output.size(), 2U);
    EXPECT_EQ(*output.as_list()[0].find("Status"), Value{"SUCCEEDED"});
    EXPECT_EQ(*output.as_list()[0].find("RedriveCount"), Value{1});
}

TEST_F(MapRedrive, GoesOnInABranchToo) {
    start(fmt::format(
              R"({{"StartAt": "P", "States": {{"P": {{"Type": "Parallel", "End": true, "Branches": [
        {{"StartAt": "M", "States": {{"M": {}}}}}]}}}}}})",
              map_state("")),
          "[7,8]");
    answer("P/0/M/0/S", 1);
    answer("P/0/M/0/T", 1);
    fail("P/0/M/1/S", "Oops");
    EXPECT_THAT(end(), HasSubstr("FAILED"));

    redrive();
    EXPECT_THAT(calls(), ElementsAre("P/0/M/1/S: first"));
    answer("P/0/M/1/S", 1);
    answer("P/0/M/1/T", 1);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[[{"own":7},{"own":8}]]})");
}

TEST_F(MapRedrive, BeginsAnewWhereTheMapItselfTriesAgain) {
    start(machine(R"("Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1}],)"), "[7,8]");
    succeed(0);
    fail("M/1/S", "Oops");
    EXPECT_THAT(end(), HasSubstr("RUNNING"));
    EXPECT_TRUE(state_.collected.empty());
    pass(std::chrono::seconds{1});
    EXPECT_THAT(calls(), ElementsAre("M/0/S: first", "M/1/S: first"));

    succeed(0);
    fail("M/1/S", "Oops");
    EXPECT_THAT(end(), HasSubstr("FAILED"));
    redrive();

    EXPECT_THAT(calls(), ElementsAre("M/1/S: first"));
}

TEST_F(MapRedrive, CannotGoOnWithMoreThanItKeeps) {
    start(machine(std::string{reader} + R"("ToleratedFailurePercentage": 99,)"));
    auto items = std::vector<Value>(60, Value{std::string(200'000, 'x')});
    answer("M", Value::object({{"items", Value::list(items)}}));
    for (auto at = 0; at < 60; ++at) {
        fail(fmt::format("M/{}/S", at), "Oops");
    }
    EXPECT_THAT(end(), HasSubstr("FAILED"));
    auto lost = map_run().executions.not_redrivable;
    EXPECT_GT(lost, 10U);

    redrive();

    EXPECT_EQ(calls().size(), 60 - lost);
    EXPECT_EQ(map_run().executions.failed, lost);
}

class MapChildrenTest : public MapRedrive {
protected:
    MapChildrenTest() { listener_.add(all_); }

    static ChildQuery query(std::string status = {}, std::uint64_t until = UINT64_MAX,
                            std::size_t most = 100) {
        return {
            .run = "machine/M:run-3", .status = std::move(status), .until = until, .most = most};
    }
    /// `name status`
    static std::vector<std::string> shown(const MapChildren::Page& page) {
        auto found = std::vector<std::string>{};
        for (const auto& child : page.children) {
            found.push_back(child.name + " " + child.status);
        }
        return found;
    }

    MapChildren all_{query()};
};

TEST_F(MapChildrenTest, AreListedWithTheNewestFirst) {
    auto failed = MapChildren{query("FAILED", 3, 1)};
    auto running = MapChildren{query("RUNNING")};
    listener_.add(failed);
    listener_.add(running);
    start(machine(R"("MaxConcurrency": 4, "ToleratedFailureCount": 3,)"), "[6,7,8,9,10]");
    fail("M/3/S", "Oops");
    fail("M/0/S", "Oops");
    succeed(1);
    fail("M/2/S", "Oops");

    EXPECT_TRUE(all_.is_known());
    EXPECT_THAT(shown(all_.page()),
                ElementsAre("run-3-4 RUNNING", "run-3-3 FAILED", "run-3-2 FAILED",
                            "run-3-1 SUCCEEDED", "run-3-0 FAILED"));
    EXPECT_EQ(all_.page().rest, std::nullopt);
    EXPECT_THAT(shown(failed.page()), ElementsAre("run-3-2 FAILED"));
    EXPECT_EQ(failed.page().rest, 1U);
    EXPECT_THAT(shown(running.page()), ElementsAre("run-3-4 RUNNING"));
}

TEST_F(MapChildrenTest, WaitForTheirTurnInARedrive) {
    auto waiting = MapChildren{query("PENDING_REDRIVE")};
    auto one = MapChildren{{.run = "machine/M:run-3", .from = 0, .until = 1, .has_data = true}};
    listener_.add(waiting);
    listener_.add(one);
    start(machine(R"("ToleratedFailureCount": 1,)"), "[7,8]");
    command("asl.map_run", *value::parse_json(R"({"started": 3, "concurrency": 1})"));
    fail("M/0/S", "Oops");
    EXPECT_EQ(value::to_json(one.page().children[0].end), R"({"error":"Oops","cause":"it broke"})");
    fail("M/1/S", "Oops");

    redrive();
    EXPECT_THAT(shown(all_.page()), ElementsAre("run-3-1 PENDING_REDRIVE", "run-3-0 RUNNING"));
    EXPECT_THAT(shown(waiting.page()), ElementsAre("run-3-1 PENDING_REDRIVE"));
    succeed(0);

    auto child = one.page().children[0];
    EXPECT_EQ(child.status, "SUCCEEDED");
    EXPECT_EQ(child.redrives, 1U);
    EXPECT_EQ(child.input, Value{7});
    EXPECT_EQ(value::to_json(child.end), R"({"output":{"own":7}})");
}

TEST_F(MapChildrenTest, HaveHistoriesOfTheirOwn) {
    auto history = History{"run-3-1"};
    listener_.add(history);
    start(machine(""), "[7,8]");
    succeed(0);
    fail("M/1/S", "Oops");
    redrive();
    succeed(1);

    auto types = std::vector<std::string>{};
    for (const auto& event : history.events()) {
        types.push_back(fmt::format("{} {}<{}", value::to_json(*event.find("id")),
                                    event.find("type")->as_string(),
                                    value::to_json(*event.find("previousEventId"))));
    }
    EXPECT_THAT(types,
                ElementsAre("1 ExecutionStarted<0", "2 PassStateEntered<0", "3 PassStateExited<2",
                            "4 TaskStateEntered<3", "5 LambdaFunctionScheduled<4",
                            "6 LambdaFunctionStarted<5", "7 LambdaFunctionFailed<6",
                            "8 ExecutionFailed<7", "9 ExecutionRedriven<8", "10 TaskStateEntered<9",
                            "11 LambdaFunctionScheduled<10", "12 LambdaFunctionStarted<11",
                            "13 LambdaFunctionSucceeded<12", "14 TaskStateExited<13",
                            "15 TaskStateEntered<14", "16 LambdaFunctionScheduled<15",
                            "17 LambdaFunctionStarted<16", "18 LambdaFunctionSucceeded<17",
                            "19 TaskStateExited<18", "20 PassStateEntered<19",
                            "21 PassStateExited<20", "22 ExecutionSucceeded<21"));
    EXPECT_THAT(events(), ::testing::Not(::testing::Contains(HasSubstr("Lambda"))));
}

TEST_F(MapChildrenTest, MayBeStoppedAlone) {
    start(machine(R"("ToleratedFailureCount": 1,)"), "[7,8]");
    auto stop = *value::parse_json(R"({"started": 3, "index": 0, "error": "Enough"})");

    EXPECT_EQ(command("asl.stop_child", stop), trigger::Fate::Handled);
    EXPECT_THAT(calls(), ElementsAre("M/1/S: first"));
    EXPECT_THAT(shown(all_.page()), ElementsAre("run-3-1 RUNNING", "run-3-0 ABORTED"));
    EXPECT_EQ(command("asl.stop_child", stop), trigger::Fate::Failed) << "it has ended";
    EXPECT_EQ(command("asl.stop_child", stop.with("index", 1)), trigger::Fate::Handled);

    EXPECT_THAT(end(), HasSubstr("States.ExceedToleratedFailureThreshold"));
    redrive();
    EXPECT_THAT(calls(), ElementsAre("M/0/S: first", "M/1/S: first"));
}

TEST_F(MapChildrenTest, OfAChildHaveNamesOfTheirOwn) {
    auto inner = MapChildren{{.run = "machine/N:run-3-1-3", .execution = "run-3-1"}};
    auto of_child = MapRuns{"run-3-1"};
    listener_.add(inner);
    listener_.add(of_child);
    constexpr auto processor =
        R"("ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, )";
    start(
        fmt::format(
            R"({{"StartAt": "M", "States": {{"M": {{"Type": "Map", "End": true, {0}"StartAt": "N", "States": {{
                  "N": {{"Type": "Map", "End": true, {0}"StartAt": "W", "States": {{
                      "W": {{"Type": "Wait", "Seconds": 1, "End": true}}}}}}}}}}}}}}}}}})",
            processor),
        "[[1],[2,3]]");

    EXPECT_THAT(shown(inner.page()), ElementsAre("run-3-1-3-1 RUNNING", "run-3-1-3-0 RUNNING"));
    ASSERT_EQ(of_child.all().size(), 1U);
    EXPECT_EQ(of_child.all()[0].executions.running, 2U);
    pass(std::chrono::seconds{1});
    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[[1],[2,3]]})");
}

TEST_F(MapRedrive, BatchesPairsAndSelectsOnEachPage) {
    start(machine(
        std::string{reader} +
        R"("ItemSelector": {"k.$": "$$.Map.Item.Key"}, "ItemBatcher": {"MaxItemsPerBatch": 1},)"));
    page(R"({"items": [{"Key": "a", "Value": 1}], "pairs": true, "cursor": {"index": 1}})");
    succeed(0);
    page(R"({"items": [{"Key": "b", "Value": 2}], "pairs": true})");
    succeed(1);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[{"own":{"Items":[{"k":"a"}]}},)"
                     R"({"own":{"Items":[{"k":"b"}]}}]})");
}

} // namespace
} // namespace sluice::workflow::asl
