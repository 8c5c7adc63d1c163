#include "event/internal/lookup.h"

#include <charconv>
#include <cstdint>

#include "base/invariant.h"
#include "value/json.h"

namespace sluice::event::internal {

namespace {

using Step = Scanner::Step;

Value to_text(std::string_view json) {
    auto raw = json.substr(1, json.size() - 2);
    if (raw.find('\\') == std::string_view::npos) {
        return Value{raw};
    }
    auto text = std::string{};
    unescape(raw, text);
    return Value{text};
}

Value parse_valid(std::string_view json) {
    auto parsed = value::parse_json(json, {.bytes_max = json.size(), .depth_max = depth_max_hard});
    INVARIANT(parsed.has_value(), "the text of an event was validated when it came in");
    return *std::move(parsed);
}

template <typename Number>
std::optional<Number> read_whole(std::string_view text) {
    auto number = Number{};
    const auto* end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end ? std::optional{number} : std::nullopt;
}

Value to_number(std::string_view json) {
    if (auto integer = read_whole<std::int64_t>(json)) {
        return *integer;
    }
    auto is_integer = json.find_first_of(".eE") == std::string_view::npos;
    if (auto number = read_whole<double>(json); number && !is_integer) {
        return *number;
    }
    return parse_valid(json);
}

std::string_view pass_value(Scanner& scanner) {
    const auto* begin = scanner.position();
    auto is_passed = scanner.skip_value(depth_max_hard);
    INVARIANT(is_passed, "the text of an event was validated when it came in");
    return {begin, static_cast<std::size_t>(scanner.position() - begin)};
}

std::optional<std::string_view> find_member(std::string_view json, std::string_view wanted) {
    auto scanner = Scanner{json};
    auto name = Scanner::String{};
    auto storage = std::string{};
    for (auto is_first = true; scanner.next_member(is_first, name) == Step::Item;
         is_first = false) {
        auto member = pass_value(scanner);
        if (text_of(name, storage) == wanted) {
            return member;
        }
    }
    return std::nullopt;
}

std::optional<std::size_t> to_index(std::string_view text) {
    auto has_leading_zero = text.size() > 1 && text.front() == '0';
    return has_leading_zero ? std::nullopt : read_whole<std::size_t>(text);
}

std::optional<std::string_view> find_item(std::string_view json, std::string_view wanted) {
    auto index = to_index(wanted);
    auto scanner = Scanner{json};
    for (auto at = std::size_t{0}; index && scanner.next_item(at == 0) == Step::Item; ++at) {
        auto item = pass_value(scanner);
        if (at == *index) {
            return item;
        }
    }
    return std::nullopt;
}

} // namespace

Value to_value(std::string_view json) {
    switch (json.front()) {
        case '"': return to_text(json);
        case 't':
        case 'f': return Value{json.front() == 't'};
        case 'n': return {};
        case '{':
        case '[': return parse_valid(json);
        default: return to_number(json);
    }
}

std::string_view text_of(const Scanner::String& string, std::string& storage) {
    if (!string.has_escape) {
        return string.raw;
    }
    storage.clear();
    unescape(string.raw, storage);
    return storage;
}

std::optional<std::string_view> find_path(std::string_view json,
                                          std::span<const std::string_view> path) {
    auto found = std::optional{json};
    for (auto key : path) {
        auto first = found->front();
        found = first == '{'   ? find_member(*found, key)
                : first == '[' ? find_item(*found, key)
                               : std::nullopt;
        if (!found) {
            return std::nullopt;
        }
    }
    return found;
}

} // namespace sluice::event::internal
