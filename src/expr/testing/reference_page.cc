#include "expr/testing/reference_page.h"

#include <fstream>

#include "base/invariant.h"
#include "value/json.h"

namespace sluice::expr::testing {

std::vector<std::string> ReferencePage::lines_of(std::string_view language) const {
    auto file = std::ifstream{path_};
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

Value ReferencePage::sample() const {
    auto text = std::string{};
    for (const auto& line : lines_of("json")) {
        text += line;
    }
    auto sample = value::parse_json(text);
    INVARIANT(sample.has_value(), "the page's sample is JSON");
    return *std::move(sample);
}

std::vector<Example> ReferencePage::examples(std::string_view language) const {
    constexpr auto arrow = std::string_view{"  =>  "};
    auto examples = std::vector<Example>{};
    for (const auto& line : lines_of(language)) {
        auto at = line.find(arrow);
        INVARIANT(at != std::string::npos, "a line of examples has an arrow");
        auto source = line.substr(0, at);
        source.erase(source.find_last_not_of(' ') + 1);
        examples.push_back({std::move(source), line.substr(at + arrow.size())});
    }
    return examples;
}

} // namespace sluice::expr::testing
