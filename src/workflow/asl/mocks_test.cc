#include "workflow/asl/mocks.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::workflow::asl {
namespace {

Value json(std::string_view text) {
    return *value::parse_json(text);
}

TEST(Mocks, TakesTheFirstForTheStateWhoseInputIsTheCall) {
    auto mocks = *Mocks::read(json(R"([
        {"state": "A", "input": {"n": 1}, "outcomes": [{"result": "one"}, {"result": "again"}]},
        {"state": "A", "anyInput": true, "outcomes": [{"echo": true}]},
        {"state": null, "outcomes": [{"error": "E"}]}])"));

    EXPECT_EQ(mocks.answer("A", json(R"({"n": 1.0})")), json(R"({"result": "one"})"));
    EXPECT_EQ(mocks.answer("A", json(R"({"n": 1})")), json(R"({"result": "again"})"));
    EXPECT_EQ(mocks.answer("A", json(R"({"n": 1})")), json(R"({"result": "again"})"));
    EXPECT_EQ(mocks.answer("A", 5), json(R"({"echo": true, "result": 5})"));
    EXPECT_EQ(mocks.answer("B", 5), json(R"({"error": "E"})"));
}

TEST(Mocks, SaysWhatNobodyAnswersFor) {
    auto mocks = *Mocks::read(json(R"([{"state": "A", "input": 1, "outcomes": [{"result": 1}]}])"));

    auto missing = mocks.answer("A", 2);

    ASSERT_FALSE(missing);
    EXPECT_TRUE(missing.error().message.starts_with("the task of state \"A\" was called with 2"));
    EXPECT_FALSE(Mocks::read(json(R"([{"state": "A"}])")));
    EXPECT_FALSE(Mocks::read(json(R"({})")));
}

TEST(Mocks, PlaceholdersStandForAnyText) {
    EXPECT_TRUE(is_like("arn:<region>:f-<n>", "arn:eu:f-<n>"));
    EXPECT_TRUE(is_like("<a><b>", ""));
    EXPECT_TRUE(is_like("x<a>y", "xyyy"));
    EXPECT_FALSE(is_like("x<a>y", "xyz"));
    EXPECT_FALSE(is_like(json(R"({"a": 1})"), json(R"({"a": 1, "b": 2})")));
}

} // namespace
} // namespace sluice::workflow::asl
