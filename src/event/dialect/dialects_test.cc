#include "event/dialect/dialects.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/builder.h"
#include "value/json.h"

namespace sluice::event {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

Result<Filter> parse_filter(std::string_view json) {
    return Filter::parse(value::parse_json(json).value(), expression_dialects());
}

bool lets_pass(std::string_view json, const Event& event) {
    auto filter = parse_filter(json);
    EXPECT_TRUE(filter) << filter.error().message;
    return filter && filter->matches(event);
}

std::string refusal_of(std::string_view json) {
    auto filter = parse_filter(json);
    return filter ? "none" : filter.error().message;
}

const auto order = Builder{"7", "/shop/eu", "order.paid"}
                       .attribute("priority", 5)
                       .data(Value::object({{"total", 120}, {"lines", Value::list({1})}}))
                       .build();

TEST(ExpressionDialects, AskBySqlUnderBothNames) {
    EXPECT_TRUE(lets_pass(R"({"sql": "type = 'order.paid' AND priority > 4"})", order));
    EXPECT_TRUE(lets_pass(R"({"cesql": "source LIKE '/shop/%'"})", order));
    EXPECT_FALSE(lets_pass(R"({"sql": "priority"})", order));
    EXPECT_TRUE(lets_pass(R"({"not": {"sql": "priority < 4"}})", order));
}

TEST(ExpressionDialects, DoNotMatchWhereAnExpressionFails) {
    EXPECT_FALSE(lets_pass(R"({"sql": "colour != 'red'"})", order));
    EXPECT_FALSE(lets_pass(R"({"sql": "1 / 0 = 0"})", order));
    EXPECT_FALSE(lets_pass(R"({"cel": "event.colour != 'red'"})", order));
}

TEST(ExpressionDialects, AskByCelAlsoForData) {
    EXPECT_TRUE(
        lets_pass(R"({"cel": "event.type == 'order.paid' && event.data.total > 100"})", order));
    EXPECT_TRUE(lets_pass(R"({"all": [{"cel": "data.lines[0] == 1"},
                                      {"exact": {"id": "7"}}]})",
                          order));
    EXPECT_TRUE(lets_pass(R"~({"cel": "!has(event.colour) && has(event.data)"})~", order));
    EXPECT_FALSE(lets_pass(R"({"cel": "data.total > 1000"})", order));
}

TEST(ExpressionDialects, TellWhichTypesCanMatch) {
    auto types = [](std::string_view json) { return parse_filter(json)->values_of("type"); };

    EXPECT_THAT(types(R"({"sql": "type = 'a' AND source LIKE 'b%'"})"), Optional(ElementsAre("a")));
    EXPECT_THAT(types(R"~({"sql": "priority > 1 AND type IN ('a', 'b')"})~"),
                Optional(ElementsAre("a", "b")));
    EXPECT_EQ(types(R"({"sql": "type = 'a' OR priority > 1"})"), std::nullopt);
    EXPECT_EQ(types(R"({"sql": "type != 'a'"})"), std::nullopt);
    EXPECT_EQ(types(R"~({"sql": "type NOT IN ('a')"})~"), std::nullopt);
}

TEST(ExpressionDialects, SayWhereAnExpressionIsWrong) {
    EXPECT_THAT(refusal_of(R"({"sql": "type = "})"),
                HasSubstr("filter.sql: expected an attribute"));
    EXPECT_THAT(refusal_of(R"({"sql": "type ="})"), HasSubstr("at byte 6"));
    EXPECT_THAT(refusal_of(R"~({"sql": "NOPE(type)"})~"), HasSubstr("no function NOPE"));
    EXPECT_THAT(refusal_of(R"({"sql": 1})"), HasSubstr("an expression as text"));
    EXPECT_THAT(refusal_of(R"({"cel": "nope.type == 'a'"})"), HasSubstr("filter.cel"));
    EXPECT_THAT(refusal_of(R"({"cel": "1 + 1"})"), HasSubstr("filter.cel"));
}

} // namespace
} // namespace sluice::event
