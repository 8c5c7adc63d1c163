#include "workflow/asl/parse.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "value/json.h"
#include "workflow/asl/check.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::asl {

namespace {

constexpr auto blanks = std::string_view{" \t\r\n"};
constexpr auto quoted_bytes_max = std::size_t{500};

/// As the service quotes a text it could not read: no more than its beginning.
std::string source_of(std::string_view text, const raw::Place& place) {
    auto quoted = text.substr(0, quoted_bytes_max);
    auto rest = text.size() > quoted_bytes_max
                    ? fmt::format("[truncated {} chars]", text.size() - quoted_bytes_max)
                    : std::string{};
    return fmt::format("[Source: (String)\"{}\"{}; line: {}, column: {}]", quoted, rest, place.line,
                       place.column);
}

std::unexpected<Diagnostic> not_json(std::string_view text, const raw::Place& place,
                                     std::string_view why) {
    auto source = source_of(text, place);
    return std::unexpected(Diagnostic{.code = "INVALID_JSON_DESCRIPTION",
                                      .location = source,
                                      .message = fmt::format("{}\n at {}", why, source)});
}

raw::Place place_of(std::string_view text, std::size_t at) {
    auto before = text.substr(0, at);
    auto line_start = before.rfind('\n');
    return {.line = static_cast<int>(1 + std::ranges::count(before, '\n')),
            .column = static_cast<int>(
                1 + (line_start == std::string_view::npos ? at : at - line_start - 1))};
}

bool is_word_letter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '$';
}

bool is_json_word(std::string_view word) {
    return word == "true" || word == "false" || word == "null";
}

} // namespace

std::expected<Value, Diagnostic> parse(std::string_view text) {
    auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) {
        return std::unexpected(Diagnostic{
            .code = "MISSING_DESCRIPTION", .location = "/", .message = "The definition is empty"});
    }
    auto end = begin;
    while (end < text.size() && is_word_letter(text[end])) {
        ++end;
    }
    auto word = text.substr(begin, end - begin);
    if (!word.empty() && !(word.front() >= '0' && word.front() <= '9') && !is_json_word(word)) {
        return not_json(text, place_of(text, end),
                        fmt::format("Unrecognized token '{}': was expecting (JSON String, Number, "
                                    "Array, Object or token 'null', 'true' or 'false')",
                                    word));
    }
    if (text[begin] != '{') {
        auto value = value::parse_json(text, {.depth_max = depth_max});
        return value ? std::expected<Value, Diagnostic>{*std::move(value)}
                     : not_json(text, place_of(text, begin), value.error().message);
    }
    auto document = raw::parse(text, "", {.depth_max = depth_max});
    if (!document) {
        const auto& finding = document.error().front();
        return not_json(text, {.line = finding.line, .column = finding.column}, finding.message);
    }
    return std::move(document->form);
}

} // namespace sluice::workflow::asl
