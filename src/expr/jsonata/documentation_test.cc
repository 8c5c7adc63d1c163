#include <string>

#include <gtest/gtest.h>

#include "expr/jsonata/expression.h"
#include "expr/testing/bindings.h"
#include "expr/testing/reference_page.h"
#include "value/json.h"

namespace sluice::expr::jsonata {
namespace {

std::string documented_answer(const std::string& text, const Value& input) {
    auto expression = Expression::compile(text);
    if (!expression) {
        return "fault " + expression.error().code;
    }
    auto answer = expression->evaluate(input, testing::MapBindings{Value::object({{"rate", 1.5}})});
    if (const auto* fault = std::get_if<Fault>(&answer)) {
        return "fault " + fault->code;
    }
    const auto* value = std::get_if<Value>(&answer);
    return value != nullptr ? value::to_json(*value) : "undefined";
}

TEST(JsonataReference, TellsTheTruth) {
    auto page = testing::ReferencePage{JSONATA_DOCUMENT};
    auto input = page.sample();
    auto examples = page.examples("jsonata");

    EXPECT_GT(examples.size(), 50U);
    for (const auto& [source, result] : examples) {
        EXPECT_EQ(documented_answer(source, input), result) << source;
    }
}

} // namespace
} // namespace sluice::expr::jsonata
