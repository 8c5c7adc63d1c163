#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "workflow/asl/testing/definitions.h"

namespace sluice::workflow::asl {
namespace {

using testing::definition_with;
using testing::problems_of;

constexpr auto mapped = R"("Type": "Map", "End": true, "ItemProcessor": {"StartAt": "i",
    "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
    "States": {"i": {"Type": "Succeed"}}})";

std::string map_problems(std::string_view more) {
    return problems_of(definition_with(fmt::format("{{{}, {}}}", mapped, more)));
}

std::string map_problem(std::string_view member) {
    return fmt::format("SCHEMA_VALIDATION_FAILED at /States/S{}", member);
}

TEST(AslMapRules, OfItsFields) {
    EXPECT_EQ(map_problems(R"("MaxConcurrency": 0)"), "");
    EXPECT_EQ(map_problems(R"("MaxConcurrency": -1)"), map_problem("/MaxConcurrency"));
    EXPECT_EQ(map_problems(R"("MaxConcurrency": 1, "MaxConcurrencyPath": "$.a")"), map_problem(""));
    EXPECT_EQ(map_problems(R"("ToleratedFailurePercentage": 100.5)"),
              map_problem("/ToleratedFailurePercentage"));
    EXPECT_EQ(map_problems(R"("ItemsPath": null)"), map_problem("/ItemsPath"));
    EXPECT_EQ(map_problems(R"("ItemsPath": "$$.Execution.Input.rows")"), "");
    EXPECT_EQ(map_problems(R"("ItemSelector": {}, "Parameters": {})"), map_problem(""));
    EXPECT_EQ(map_problems(R"("Iterator": {"StartAt": "x", "States": {}})"), map_problem(""));
    EXPECT_EQ(map_problems(R"("Items": [1])"), map_problem("/Items"));
    EXPECT_EQ(problems_of(definition_with(R"({"Type": "Map", "End": true})")), map_problem(""));
    EXPECT_EQ(problems_of(definition_with(R"({"Type": "Map", "End": true, "Label": "l",
                  "Iterator": {"StartAt": "i", "ProcessorConfig": {"Mode": "INLINE"},
                               "States": {"i": {"Type": "Succeed"}}}})")),
              map_problem("/Label"));
    EXPECT_EQ(problems_of(definition_with(R"({"Type": "Map", "End": true, "ItemProcessor": {
                  "ProcessorConfig": {"Mode": "DISTRIBUTED"}, "StartAt": "i",
                  "States": {"i": {"Type": "Succeed"}}}})")),
              map_problem("/ItemProcessor/ProcessorConfig"));
}

TEST(AslMapRules, OfLabels) {
    EXPECT_EQ(map_problems(R"("Label": "rows-1_é")"), "");
    for (auto label : {"a b", "a*", "a[", "a/b", "a$", "a\\u0085", "a\\n", "a~", "a`", ""}) {
        EXPECT_EQ(map_problems(fmt::format(R"("Label": "{}")", label)),
                  "INVALID_LABEL_NAME at /States/S/Label")
            << label;
    }
    EXPECT_EQ(map_problems(fmt::format(R"("Label": "{}")", std::string(40, 'l'))), "");
    EXPECT_EQ(map_problems(fmt::format(R"("Label": "{}")", std::string(41, 'l'))),
              "INVALID_LABEL_NAME at /States/S/Label");
}

TEST(AslMapRules, OfReadersBatchersAndWriters) {
    constexpr auto reader = R"("ItemReader": {{"Resource": "arn:aws:states:::s3:{}",
        "Parameters": {{"Bucket": "b"}}, "ReaderConfig": {}}})";
    auto problems = [&](std::string_view action, std::string_view config) {
        return map_problems(fmt::format(fmt::runtime(reader), action, config));
    };
    auto at = [](std::string_view member) {
        return map_problem(fmt::format("/ItemReader{}", member));
    };

    EXPECT_EQ(problems("listObjectsV2", "{}"), "");
    EXPECT_EQ(problems("getObject", R"({"InputType": "JSONL", "MaxItems": 0})"), "");
    EXPECT_EQ(problems("putObject", "{}"), at("/Resource"));
    EXPECT_EQ(problems("getObject", R"({"InputType": "XML"})"), at("/ReaderConfig/InputType"));
    EXPECT_EQ(problems("getObject", R"({"InputType": "CSV"})"), at("/ReaderConfig"));
    EXPECT_EQ(problems("getObject", R"({"InputType": "CSV", "CSVHeaderLocation": "GIVEN"})"),
              at("/ReaderConfig"));
    EXPECT_EQ(problems("getObject", R"({"MaxItems": 1, "MaxItemsPath": "$.n"})"),
              at("/ReaderConfig"));
    EXPECT_EQ(problems("getObject", R"({"CSVDelimiter": "DOT"})"),
              at("/ReaderConfig/CSVDelimiter"));
    EXPECT_EQ(problems("getObject", R"({"ItemsPointer": "a/b"})"),
              at("/ReaderConfig/ItemsPointer"));
    EXPECT_EQ(map_problems(R"("ItemBatcher": {"MaxItemsPerBatch": 5})"), "");
    EXPECT_EQ(map_problems(R"("ItemBatcher": {})"), map_problem("/ItemBatcher"));
    EXPECT_EQ(map_problems(R"("ItemBatcher": {"MaxItemsPerBatch": 0})"),
              map_problem("/ItemBatcher/MaxItemsPerBatch"));
    EXPECT_EQ(map_problems(R"("ResultWriter": {"WriterConfig": {"OutputType": "JSON"}})"), "");
    EXPECT_EQ(map_problems(R"("ResultWriter": {})"), map_problem("/ResultWriter"));
    EXPECT_EQ(map_problems(R"("ResultWriter": {"WriterConfig": {"Transformation": "SHRINK"}})"),
              map_problem("/ResultWriter/WriterConfig/Transformation"));
}

} // namespace
} // namespace sluice::workflow::asl
