#include "sluice/eval/batch.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "value/json.h"

namespace sluice::app {
namespace {

constexpr auto line_limits = value::JsonLimits{.depth_max = 1000};

ExpressionAnswer refusal(const Error& error) {
    return {.fault = expr::Fault{"invalid_input", error.message, 0}};
}

Value answer_line(std::string_view text, Evaluator evaluate, Kinds kinds, event::Codec& codec) {
    auto line = value::parse_json(text, line_limits);
    if (!line) {
        return write_answer(Value{}, refusal(line.error()));
    }
    const auto* id = line->find("id");
    auto one = read_case(*line, codec);
    return write_answer(id != nullptr ? *id : Value{},
                        one ? evaluate(*one, kinds) : refusal(one.error()));
}

/// Many readers of lines take NEL and the separators of lines and paragraphs for ends of lines:
/// only inside of texts can they stand, where they can be escaped.
void escape_line_ends(std::string& json) {
    constexpr auto escapes = std::to_array<std::pair<std::string_view, std::string_view>>(
        {{"\u2028", "\\u2028"}, {"\u2029", "\\u2029"}, {"\u0085", "\\u0085"}});
    for (const auto& [found, written] : escapes) {
        for (auto at = json.find(found); at != std::string::npos; at = json.find(found, at)) {
            json.replace(at, found.size(), written);
        }
    }
}

} // namespace

ExitCode eval_batch(Evaluator evaluate, Kinds kinds) {
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    auto codec = event::Codec{};
    auto text = std::string{};
    auto out = std::string{};
    while (std::cin && std::getline(std::cin, text)) {
        if (std::ranges::all_of(text, [](char c) { return c == ' ' || c == '\t' || c == '\r'; })) {
            continue;
        }
        out.clear();
        value::write_json(answer_line(text, evaluate, kinds, codec), out);
        escape_line_ends(out);
        out += '\n';
        std::cout.write(out.data(), static_cast<std::streamsize>(out.size()));
        // Who sends the next line only after an answer must get it.
        if (std::cin.rdbuf()->in_avail() <= 0) {
            std::cout.flush();
        }
        if (!std::cout) {
            return ExitCode::Failed; // Nobody reads any more.
        }
    }
    std::cout.flush();
    return std::cout ? ExitCode::Ok : ExitCode::Failed;
}

} // namespace sluice::app
