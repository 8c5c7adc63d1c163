#include <string>

#include <gtest/gtest.h>

#include "expr/cel/compile.h"
#include "expr/cel/template.h"
#include "expr/testing/bindings.h"
#include "expr/testing/reference_page.h"
#include "value/json.h"

namespace sluice::expr::cel {
namespace {

const auto page = testing::ReferencePage{EXPRESSIONS_DOCUMENT};

std::string write(const Outcome& outcome) {
    const auto* fault = std::get_if<Fault>(&outcome);
    return fault != nullptr ? "fault " + fault->code : value::to_json(std::get<Value>(outcome));
}

std::string evaluate_expression(const std::string& text, const Value& names) {
    auto program = compile(text, testing::options_for(names));
    return program ? write(program->evaluate(testing::MapBindings{names}))
                   : "refused: " + describe(program.error());
}

std::string evaluate_template(const std::string& text, const Value& names) {
    auto pattern = value::parse_json(text);
    EXPECT_TRUE(pattern) << text;
    auto made = Template::compile(*pattern, testing::options_for(names));
    return made ? write(made->evaluate(testing::MapBindings{names}))
                : "refused: " + describe(made.error());
}

TEST(ExpressionsReference, TellsTheTruthAboutExpressions) {
    auto names = page.sample();
    auto examples = page.examples("expressions");

    EXPECT_GT(examples.size(), 40U);
    for (const auto& [source, result] : examples) {
        EXPECT_EQ(evaluate_expression(source, names), result) << source;
    }
}

TEST(ExpressionsReference, TellsTheTruthAboutTemplates) {
    auto names = page.sample();
    auto examples = page.examples("templates");

    EXPECT_GT(examples.size(), 5U);
    for (const auto& [source, result] : examples) {
        EXPECT_EQ(evaluate_template(source, names), result) << source;
    }
}

} // namespace
} // namespace sluice::expr::cel
