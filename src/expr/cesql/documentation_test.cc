#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "expr/cesql/expression.h"
#include "expr/testing/bindings.h"
#include "value/json.h"

namespace sluice::expr::cesql {
namespace {

/// The lines of all fenced blocks of one language in the reference.
std::vector<std::string> lines_of_block(std::string_view language) {
    auto file = std::ifstream{CESQL_DOCUMENT};
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
    constexpr auto arrow = std::string_view{"  =>  "};
    auto json = std::string{};
    for (const auto& line : lines_of_block("json")) {
        json += line;
    }
    auto event = value::parse_json(json).value();
    auto lines = lines_of_block("cesql");

    EXPECT_GT(lines.size(), 30U);
    for (const auto& line : lines) {
        auto at = line.find(arrow);
        ASSERT_NE(at, std::string::npos) << line;
        auto source = line.substr(0, at);
        source.erase(source.find_last_not_of(' ') + 1);
        EXPECT_EQ(documented(source, event), line.substr(at + arrow.size())) << source;
    }
}

} // namespace
} // namespace sluice::expr::cesql
