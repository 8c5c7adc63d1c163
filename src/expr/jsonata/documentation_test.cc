#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "expr/jsonata/expression.h"
#include "expr/testing/bindings.h"
#include "value/json.h"

namespace sluice::expr::jsonata {
namespace {

/// The lines of all fenced blocks of one language in the reference.
std::vector<std::string> documented_lines(std::string_view language) {
    auto file = std::ifstream{JSONATA_DOCUMENT};
    auto lines = std::vector<std::string>{};
    auto is_inside = false;
    for (auto line = std::string{}; std::getline(file, line);) {
        if (line.starts_with("```")) {
            is_inside = !is_inside && line.substr(3) == language;
        } else if (is_inside && !line.empty()) {
            lines.push_back(line);
        }
    }
    return lines;
}

Value documented_input() {
    auto text = std::string{};
    for (const auto& line : documented_lines("json")) {
        text += line;
    }
    return *value::parse_json(text);
}

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
    constexpr auto arrow = std::string_view{"  =>  "};
    auto input = documented_input();
    auto lines = documented_lines("jsonata");

    EXPECT_GT(lines.size(), 50U);
    for (const auto& line : lines) {
        auto at = line.find(arrow);
        ASSERT_NE(at, std::string::npos) << line;
        auto source = line.substr(0, at);
        EXPECT_EQ(documented_answer(source, input), line.substr(at + arrow.size())) << source;
    }
}

} // namespace
} // namespace sluice::expr::jsonata
