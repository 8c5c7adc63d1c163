#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "workflow/asl/item_pages.h"
#include "workflow/asl/result_files.h"
#include "workflow/asl/testing/machine_run.h"

namespace sluice::workflow::asl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MachineRun;

class DistributedMap : public MachineRun {
protected:
    static std::string machine(std::string_view more) {
        return fmt::format(
            R"({{"StartAt": "V", "States": {{
                "V": {{"Type": "Pass", "Assign": {{"outer": 1}}, "Next": "M"}},
                "M": {{"Type": "Map", "End": true, {}
                    "ItemProcessor": {{"ProcessorConfig": {{"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}},
                        "StartAt": "A", "States": {{
                            "A": {{"Type": "Pass", "Assign": {{"own.$": "$"}}, "Next": "T"}},
                            "T": {{"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f",
                                  "ResultPath": null, "Next": "Z"}},
                            "Z": {{"Type": "Pass", "Parameters": {{"own.$": "$own"}}, "End": true}}}}}}}}}}}})",
            more);
    }

    static constexpr auto reader =
        R"("ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSON"},
            "Parameters": {"Bucket": "b", "Key": "k"}},)";
};

TEST_F(DistributedMap, ChildrenHaveVariablesAndEventsOfTheirOwn) {
    start(machine(""), "[7,8]");
    EXPECT_THAT(calls(), ElementsAre("M/0/T: f", "M/1/T: f"));

    answer("M/1/T", 1);
    answer("M/0/T", 1);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[{"own":7},{"own":8}]})");
    EXPECT_THAT(events(), ElementsAre("ExecutionStarted<0", "PassStateEntered<0",
                                      "PassStateExited<2", "MapStateEntered<3", "MapStateStarted<4",
                                      "MapRunStarted<5", "MapRunSucceeded<6", "MapStateSucceeded<7",
                                      "MapStateExited<7", "ExecutionSucceeded<9"));
}

TEST_F(DistributedMap, ToleratesSoManyFailures) {
    start(machine(R"("ToleratedFailureCount": 1,)"), "[7,8,9]");
    fail("M/0/T", "Oops");
    answer("M/1/T", 1);
    EXPECT_EQ(end(), R"({"status":"RUNNING"})");

    fail("M/2/T", "Oops");

    EXPECT_THAT(end(), HasSubstr("States.ExceedToleratedFailureThreshold"));
    EXPECT_THAT(state_.tasks, IsEmpty());
}

TEST_F(DistributedMap, ReadsAPageWhenTheOneBeforeIsDone) {
    start(machine(reader));
    EXPECT_THAT(calls(), ElementsAre("M: sluice.items"));

    answer("M", *value::parse_json(R"({"items": ["a"], "cursor": {"index": 1}})"));
    answer("M/0/T", 1);
    EXPECT_EQ(*call_of("M").second.input.find("cursor"), Value::object({{"index", 1}}));
    answer("M", *value::parse_json(R"({"items": ["b"]})"));
    answer("M/1/T", 1);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[{"own":"a"},{"own":"b"}]})");
}

TEST_F(DistributedMap, FailsWhenItsItemsCannotBeRead) {
    start(machine(reader));

    fail("M", "States.ItemReaderFailed", "no such key");

    EXPECT_EQ(end(),
              R"({"status":"FAILED","error":"States.ItemReaderFailed","cause":"no such key"})");
}

TEST_F(DistributedMap, BatchesItemsOverPages) {
    start(machine(std::string{reader} +
                  R"("ItemBatcher": {"MaxItemsPerBatch": 2, "BatchInput": {"x": 1}},)"));

    answer("M", *value::parse_json(R"({"items": [1, 2, 3], "cursor": {"index": 3}})"));
    answer("M/0/T", 1);
    answer("M", *value::parse_json(R"({"items": [4, 5]})"));
    answer("M/1/T", 1);
    answer("M/2/T", 1);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[)"
                     R"({"own":{"Items":[1,2],"BatchInput":{"x":1}}},)"
                     R"({"own":{"Items":[3,4],"BatchInput":{"x":1}}},)"
                     R"({"own":{"Items":[5],"BatchInput":{"x":1}}}]})");
}

class ResultWriter : public DistributedMap {
protected:
    static constexpr auto writer =
        R"("ResultWriter": {"Resource": "arn:aws:states:::s3:putObject",
            "Parameters": {"Bucket": "b", "Prefix": "out"}},)";

    /// Does what the function for results would.
    void write() { answer("M", *write_results(objects_, call_of("M").second.input)); }

    /// A file of the map run, by its name.
    std::string file(std::string_view name) {
        auto listed = *objects_.list("b", "out/", "", 100);
        for (const auto& each : listed) {
            if (each.key.ends_with(name)) {
                return *objects_.read("b", each.key, 0, 1'000'000);
            }
        }
        return "";
    }
    Value first_of(std::string_view name) {
        return value::parse_json(file(name))->as_list().front();
    }

    ObjectsInMemory objects_;
};

TEST_F(ResultWriter, TellsOfEachChildAsAnExecution) {
    start(machine(writer), "[7]");
    answer("M/0/T", 1);
    write();

    auto output = *value::parse_json(end())->find("output");
    EXPECT_EQ(*output.find("MapRunArn"),
              Value{"arn:aws:states:us-east-1:123456789012:mapRun:machine/M:run-5"});
    EXPECT_THAT(
        value::to_json(*output.find("ResultWriterDetails")),
        ::testing::MatchesRegex(R"(.*"Bucket":"b","Key":"out/[0-9a-f-]{36}/manifest.json".*)"));
    auto record = first_of("SUCCEEDED_0.json");
    EXPECT_EQ(*record.find("Input"), Value{"7"});
    EXPECT_EQ(*record.find("Output"), Value{R"({"own":7})"});
    EXPECT_EQ(*record.find("Status"), Value{"SUCCEEDED"});
    EXPECT_EQ(*record.find("ExecutionArn"),
              Value{"arn:aws:states:us-east-1:123456789012:execution:machine/M:" +
                    std::string{record.find("Name")->as_string()}});
    auto manifest = *value::parse_json(file("manifest.json"));
    EXPECT_EQ(manifest.find("ResultFiles")->find("SUCCEEDED")->size(), 1U);
    EXPECT_EQ(manifest.find("ResultFiles")->find("FAILED")->size(), 0U);
}

TEST_F(ResultWriter, TellsWhatFailedAndWhatNeverBegan) {
    start(machine(std::string{writer} + R"("MaxConcurrency": 2, "ToleratedFailureCount": 1,)"),
          "[6,7,8,9]");
    fail("M/0/T", "Oops", "first");
    fail("M/1/T", "Oops", "second");
    write();

    EXPECT_THAT(end(), HasSubstr("States.ExceedToleratedFailureThreshold"));
    EXPECT_THAT(file("FAILED_0.json"), HasSubstr(R"("Error":"Oops","Cause":"first")"));
    EXPECT_THAT(file("FAILED_0.json"), HasSubstr(R"("Status":"ABORTED")"));
    EXPECT_EQ(*first_of("PENDING_0.json").find("Input"), Value{"9"});
    EXPECT_EQ(file("SUCCEEDED_0.json"), "");
    EXPECT_THAT(state_.tasks, IsEmpty());
}

TEST_F(ResultWriter, WritesPartsWhileOthersRun) {
    start(machine(std::string{reader} + writer));
    auto large = Value{std::string(200'000, 'x')};
    auto items = std::vector<Value>(60, large);
    answer("M", Value::object(
                    {{"items", Value::list(items)}, {"cursor", Value::object({{"offset", 1}})}}));

    for (auto at = 0; at < 60; ++at) {
        answer(fmt::format("M/{}/T", at), 1);
    }

    auto calls_of_map = std::ranges::count(calls(), "M: sluice.results");
    EXPECT_GE(calls_of_map, 2);
    while (std::ranges::count(calls(), "M: sluice.results") > 0) {
        for (const auto& [key, task] : std::map{state_.tasks.begin(), state_.tasks.end()}) {
            if (task.target == "sluice.results") {
                auto given = event::Answer{.result = *write_results(objects_, task.input)};
                decide(trigger::task_arrival(state_, key, 1, given, std::nullopt, moment_));
            }
        }
    }
    EXPECT_LT(state_.collected.size(), 2U) << "what is written is kept no more";
    EXPECT_THAT(calls(), ElementsAre("M: sluice.items"));
    answer("M", *value::parse_json(R"({"items": []})"));
    write();
    auto manifest = *value::parse_json(file("manifest.json"));
    EXPECT_GE(manifest.find("ResultFiles")->find("SUCCEEDED")->size(), 2U);
    EXPECT_THAT(end(), HasSubstr("SUCCEEDED"));
}

TEST_F(ResultWriter, MayFail) {
    start(machine(writer), "[7]");
    answer("M/0/T", 1);

    fail("M", "States.ResultWriterFailed", "no such bucket");

    EXPECT_EQ(
        end(),
        R"({"status":"FAILED","error":"States.ResultWriterFailed","cause":"no such bucket"})");
}

TEST_F(ResultWriter, IsNotHeardOfOnceItsMapHasBegunAnew) {
    start(machine(std::string{reader} + writer +
                  R"("Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 5}],)"));
    auto items = std::vector<Value>(30, Value{std::string(200'000, 'x')});
    answer("M", Value::object({{"items", Value::list(items)}}));
    for (auto at = 0; std::ranges::count(calls(), "M: sluice.results") < 2; ++at) {
        answer(fmt::format("M/{}/T", at), 1);
    }

    fail("M", "States.ResultWriterFailed");

    EXPECT_THAT(end(), HasSubstr("RUNNING"));
    EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(ResultWriter, MayFlattenWhereNothingIsWritten) {
    auto plain = std::string{R"({"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
        "ResultWriter": {"WriterConfig": {"Transformation": "FLATTEN", "OutputType": "JSON"}},
        "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
            "StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}}}})"};

    start(plain, "[[1, 2], {\"status\": 3, \"output\": [4]}]");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[1,2,{"status":3,"output":[4]}]})");
}

TEST_F(DistributedMap, KeepsNoResultsThatCannotBeItsOutput) {
    start(machine(reader));
    auto items = std::vector<Value>(10, Value{std::string(50'000, 'x')});
    answer("M", Value::object({{"items", Value::list(items)}}));

    for (auto at = 0; at < 9; ++at) {
        answer(fmt::format("M/{}/T", at), 1);
    }
    EXPECT_THAT(state_.collected, IsEmpty());
    answer("M/9/T", 1);

    EXPECT_THAT(end(), HasSubstr("States.DataLimitExceeded"));
}

TEST_F(DistributedMap, TakesOtherLimitsWhileItRuns) {
    start(machine(R"("MaxConcurrency": 1,)"), "[7,8,9]");
    EXPECT_THAT(calls(), ElementsAre("M/0/T: f"));

    EXPECT_EQ(command("asl.map_run",
                      *value::parse_json(R"({"started": 5, "concurrency": 2, "tolerated": 1})")),
              trigger::Fate::Handled);
    EXPECT_THAT(calls(), ElementsAre("M/0/T: f", "M/1/T: f"));
    fail("M/0/T", "Oops");

    EXPECT_THAT(calls(), ElementsAre("M/1/T: f", "M/2/T: f"));
    EXPECT_EQ(command("asl.map_run", *value::parse_json(R"({"started": 4})")),
              trigger::Fate::Failed);
}

class ItemPagesTest : public ::testing::Test {
protected:
    /// All items, and how many pages they came in.
    std::pair<std::string, int> read(const std::string& body, std::string_view config,
                                     std::uint64_t most = 0) {
        auto objects = *ObjectsInMemory::read_form(
            Value::list({Value::object({{"bucket", "b"}, {"key", "k"}, {"body", body}})}));
        auto pages = ItemPages{objects};
        auto items = std::vector<Value>{};
        auto request = Value::object({{"resource", "arn:aws:states:::s3:getObject"},
                                      {"arguments", Value::object({{"Bucket", "b"}, {"Key", "k"}})},
                                      {"config", *value::parse_json(config)},
                                      {"most", static_cast<std::int64_t>(most)}});
        for (auto count = 1;; ++count) {
            auto page = pages.read(request);
            if (!page) {
                return {page.error().message, count};
            }
            auto got = page->find("items")->as_list();
            items.insert(items.end(), got.begin(), got.end());
            const auto* cursor = page->find("cursor");
            if (cursor == nullptr || most > 0) {
                return {value::to_json(Value::list(items)), count};
            }
            request = request.with("cursor", *cursor);
        }
    }
};

TEST_F(ItemPagesTest, ReadsRowsOfTexts) {
    EXPECT_EQ(
        read("a,,c\n1,\"x,\"\"y\"\"\"\n   \n4,5,6,7\n", R"({"InputType": "CSV"})").first,
        R"([{"a":"1","":"x,\"y\"","c":""},{"a":"   ","":"","c":""},{"a":"4","":"5","c":"6"}])");
    EXPECT_EQ(
        read("1|2\n", R"({"InputType": "CSV", "CSVDelimiter": "PIPE", "CSVHeaders": ["x", "y"]})")
            .first,
        R"([{"x":"1","y":"2"}])");
    EXPECT_EQ(read("1\n", R"({"InputType": "CSV", "CSVHeaders": ["x", "x"]})").first,
              "CSV headers cannot contain duplicates.");
}

TEST_F(ItemPagesTest, ReadsLinesAndDocuments) {
    EXPECT_EQ(read("{\"a\":1}\n\nnull\n2", R"({"InputType": "JSONL"})").first,
              R"([{"a":1},null,2])");
    EXPECT_EQ(read(R"({"x": {"y/z": [1, 2]}})", R"({"ItemsPointer": "/x/y~1z"})").first, "[1,2]");
    EXPECT_EQ(read("3", R"({})").first, "Attempting to map over non-iterable node.");
    EXPECT_EQ(read("[1,2,3]", R"({})", 2).first, "[1,2]");
    EXPECT_EQ(read(R"({"a": {"b": "}]\\\""}, "c": [1]})", R"({})").first,
              R"([{"Key":"a","Value":{"b":"}]\\\""}},{"Key":"c","Value":[1]}])");
    EXPECT_EQ(read(" [ ] ", R"({})").first, "[]");
}

TEST_F(ItemPagesTest, SaysWhatIsNoJson) {
    for (const auto* body : {"", "[1,", "[1,]", "[:", "{\"a\"}", "{1:2}", "[\"a", "nope"}) {
        EXPECT_THAT(read(body, R"({})").first, ::testing::StartsWith("Unable to parse the JSON"))
            << body;
    }
    EXPECT_THAT(read("[:]", R"({"ItemsPointer": "/0"})").first,
                ::testing::StartsWith("Unable to parse the JSON"));
    EXPECT_EQ(read("[1]", R"({"ItemsPointer": "/0"})").first,
              "Attempting to map over non-iterable node.");
    EXPECT_EQ(read("[1]", R"({"ItemsPointer": "/7"})").first,
              "Attempting to map over non-iterable node.");
}

TEST_F(ItemPagesTest, ReadsLongDocumentsInPages) {
    auto body = std::string{R"({"skipped": [)"};
    for (auto at = 0; at < 300'000; ++at) {
        body += fmt::format("{},", at);
    }
    body += R"(0], "items": [)";
    for (auto at = 0; at < 20'000; ++at) {
        body += fmt::format(R"({{"n": "{:0100}"}},)", at);
    }
    body += R"({"last": true}]})";

    auto [items, pages] = read(body, R"({"ItemsPointer": "/items"})");

    EXPECT_GE(pages, 20);
    EXPECT_TRUE(items.ends_with(R"(,{"last":true}])"));
    EXPECT_EQ(std::ranges::count(items, ':'), 20'001);
}

TEST_F(ItemPagesTest, ReadsWhatIsInTheObjectsOfAList) {
    auto objects = *ObjectsInMemory::read_form(*value::parse_json(
        R"([{"bucket": "b", "key": "in/1", "body": "{\"a\":1}\n2\n"},
            {"bucket": "b", "key": "in/2", "body": ""},
            {"bucket": "b", "key": "in/3", "body": "3"}, {"bucket": "b", "key": "out", "body": "4"}])"));
    auto pages = ItemPages{objects};
    auto request = *value::parse_json(
        R"({"resource": "arn:aws:states:::s3:listObjectsV2",
            "arguments": {"Bucket": "b", "Prefix": "in/"},
            "config": {"InputType": "JSONL", "Transformation": "LOAD_AND_FLATTEN"}})");
    auto items = std::vector<Value>{};
    for (auto is_more = true; is_more;) {
        auto page = *pages.read(request);
        auto got = page.find("items")->as_list();
        items.insert(items.end(), got.begin(), got.end());
        is_more = page.find("cursor") != nullptr;
        request = is_more ? request.with("cursor", *page.find("cursor")) : request;
    }

    EXPECT_EQ(value::to_json(Value::list(items)), R"([{"a":1},2,3])");
}

TEST_F(ItemPagesTest, ReadsLongFilesInPages) {
    auto body = std::string{"n\n"};
    for (auto at = 0; at < 200'000; ++at) {
        body += fmt::format("{:09}\n", at);
    }

    auto [items, pages] = read(body, R"({"InputType": "CSV"})");

    EXPECT_EQ(pages, 200);
    EXPECT_TRUE(items.starts_with(R"([{"n":"000000000"},{"n":"000000001"})"));
    EXPECT_TRUE(items.ends_with(R"({"n":"000199999"}])"));
    EXPECT_EQ(std::ranges::count(items, ':'), 200'000);
}

} // namespace
} // namespace sluice::workflow::asl
