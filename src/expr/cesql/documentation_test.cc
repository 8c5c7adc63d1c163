#include <string>

#include <gtest/gtest.h>

#include "expr/cesql/expression.h"
#include "expr/testing/bindings.h"
#include "expr/testing/reference_page.h"
#include "value/json.h"

namespace sluice::expr::cesql {
namespace {

std::string documented(const std::string& text, const Value& event) {
    auto expression = Expression::compile(text);
    if (!expression) {
        return "refused: " + expression.error().message;
    }
    auto answer = expression->evaluate(testing::MapBindings{event});
    auto out = value::to_json(answer.value);
    for (const auto& error : answer.errors) {
        out += " with " + error.code;
    }
    return out;
}

TEST(CeSqlReference, TellsTheTruth) {
    auto page = testing::ReferencePage{CESQL_DOCUMENT};
    auto event = page.sample();
    auto examples = page.examples("cesql");

    EXPECT_GT(examples.size(), 30U);
    for (const auto& [source, result] : examples) {
        EXPECT_EQ(documented(source, event), result) << source;
    }
}

} // namespace
} // namespace sluice::expr::cesql
