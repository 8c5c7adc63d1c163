#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "expr/jsonpath/path.h"
#include "value/json.h"

namespace sluice::expr::jsonpath {
namespace {

/// The lines of all fenced blocks of one language in the reference.
std::vector<std::string> lines_in(std::string_view language) {
    auto file = std::ifstream{JSONPATH_DOCUMENT};
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

Value sample_document() {
    auto text = std::string{};
    for (const auto& line : lines_in("json")) {
        text += line;
    }
    return value::parse_json(text).value();
}

std::string answer(const std::string& text, const Value& document, Dialect dialect) {
    auto path = Path::compile(text, dialect);
    if (!path) {
        return "refused: " + path.error().message;
    }
    if (dialect == Dialect::Rfc9535) {
        auto values = path->select(document);
        return values ? value::to_json(Value::list(*values)) : "fault " + values.error().code;
    }
    auto read = path->read(document);
    return read ? value::to_json(*read) : "fault " + read.error().code;
}

void expect_true(std::string_view language, Dialect dialect, std::size_t count_min) {
    constexpr auto arrow = std::string_view{"  =>  "};
    auto document = sample_document();
    auto lines = lines_in(language);
    EXPECT_GE(lines.size(), count_min);
    for (const auto& line : lines) {
        auto at = line.find(arrow);
        ASSERT_NE(at, std::string::npos) << line;
        auto source = line.substr(0, at);
        source.erase(source.find_last_not_of(' ') + 1);
        EXPECT_EQ(answer(source, document, dialect), line.substr(at + arrow.size())) << source;
    }
}

TEST(JsonPathReference, TellsTheTruthAboutTheRfc) {
    expect_true("rfc9535", Dialect::Rfc9535, 20);
}

TEST(JsonPathReference, TellsTheTruthAboutJayway) {
    expect_true("jayway", Dialect::Jayway, 20);
}

} // namespace
} // namespace sluice::expr::jsonpath
