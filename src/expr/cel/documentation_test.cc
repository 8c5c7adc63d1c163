#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "expr/cel/compile.h"
#include "expr/cel/template.h"
#include "expr/testing/bindings.h"
#include "value/json.h"

namespace sluice::expr::cel {
namespace {

/// The lines of all fenced blocks of one language in the reference.
std::vector<std::string> lines_of(std::string_view language) {
    auto file = std::ifstream{EXPRESSIONS_DOCUMENT};
    auto lines = std::vector<std::string>{};
    auto line = std::string{};
    auto is_inside = false;
    while (std::getline(file, line)) {
        if (line.starts_with("```")) {
            is_inside = !is_inside && line.substr(3) == language;
        } else if (is_inside && !line.empty()) {
            lines.push_back(line);
        }
    }
    return lines;
}

Value sample() {
    auto text = std::string{};
    for (const auto& line : lines_of("json")) {
        text += line;
    }
    auto names = value::parse_json(text);
    EXPECT_TRUE(names) << text;
    return names ? *names : Value::object({});
}

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

struct Example {
    std::string source;
    std::string result;
};

std::vector<Example> examples_of(std::string_view language) {
    constexpr auto arrow = std::string_view{"  =>  "};
    auto examples = std::vector<Example>{};
    for (const auto& line : lines_of(language)) {
        auto at = line.find(arrow);
        EXPECT_NE(at, std::string::npos) << line;
        auto source = line.substr(0, at);
        source.erase(source.find_last_not_of(' ') + 1);
        examples.push_back({source, at == std::string::npos ? "" : line.substr(at + arrow.size())});
    }
    return examples;
}

TEST(ExpressionsReference, TellsTheTruthAboutExpressions) {
    auto names = sample();
    auto examples = examples_of("expressions");

    EXPECT_GT(examples.size(), 40U);
    for (const auto& [source, result] : examples) {
        EXPECT_EQ(evaluate_expression(source, names), result) << source;
    }
}

TEST(ExpressionsReference, TellsTheTruthAboutTemplates) {
    auto names = sample();
    auto examples = examples_of("templates");

    EXPECT_GT(examples.size(), 5U);
    for (const auto& [source, result] : examples) {
        EXPECT_EQ(evaluate_template(source, names), result) << source;
    }
}

} // namespace
} // namespace sluice::expr::cel
