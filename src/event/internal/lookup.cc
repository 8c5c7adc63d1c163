#include "event/internal/lookup.h"

#include <charconv>
#include <cstdint>

#include "base/invariant.h"
#include "event/internal/skimmer.h"
#include "value/json.h"

namespace sluice::event::internal {

namespace {

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

bool find_member(Skimmer& skimmer, std::string_view wanted) {
    auto name = Scanner::String{};
    auto storage = std::string{};
    while (skimmer.next_member(name)) {
        if (text_of(name, storage) == wanted) {
            return true;
        }
        skimmer.pass_value();
    }
    return false;
}

std::optional<std::size_t> to_index(std::string_view text) {
    auto has_leading_zero = text.size() > 1 && text.front() == '0';
    return has_leading_zero ? std::nullopt : read_whole<std::size_t>(text);
}

bool find_item(Skimmer& skimmer, std::string_view wanted) {
    auto index = to_index(wanted);
    for (auto at = std::size_t{0}; index && skimmer.next_item(); ++at) {
        if (at == *index) {
            return true;
        }
        skimmer.pass_value();
    }
    return false;
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
    auto skimmer = Skimmer{json};
    for (auto key : path) {
        auto first = skimmer.peek();
        auto is_found = first == '{'   ? find_member(skimmer, key)
                        : first == '[' ? find_item(skimmer, key)
                                       : false;
        if (!is_found) {
            return std::nullopt;
        }
    }
    return skimmer.pass_value();
}

} // namespace sluice::event::internal
