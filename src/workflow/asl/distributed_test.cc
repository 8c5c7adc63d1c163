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
                                      "MapStateExited<6", "ExecutionSucceeded<9"));
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

TEST_F(DistributedMap, HandsItsResultsToAWriter) {
    start(machine(R"("ResultWriter": {"Resource": "arn:aws:states:::s3:putObject",
        "Parameters": {"Bucket": "b", "Prefix": "out"}},)"),
          "[7]");
    answer("M/0/T", 1);
    auto objects = ObjectsInMemory{};

    auto written = write_results(objects, call_of("M").second.input);
    answer("M", *written);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":{"MapRunArn":)"
                     R"("arn:aws:states:us-east-1:123456789012:mapRun:machine/M:run-5",)"
                     R"("ResultWriterDetails":{"Bucket":"b","Key":"out/run-5/manifest.json"}}})");
    EXPECT_THAT(*objects.read("b", "out/run-5/SUCCEEDED_0.json", 0, 1000),
                HasSubstr(R"({"Output":"{\"own\":7}")"));
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
