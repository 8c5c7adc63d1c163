#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "value/internal/json_fault.h"
#include "value/json.h"

namespace sluice::value {

namespace {

namespace dom = simdjson::dom;

// The reader recurses, so a deeper limit than this is not granted.
constexpr auto depth_bound = std::size_t{1000};
// Larger texts get a parser of their own, so that no thread keeps its buffers.
constexpr auto kept_parser_bytes_max = std::size_t{1024 * 1024};

Result<Value> read(const dom::element& element, std::size_t depth_left);

Result<Value> read_list(const dom::array& array, std::size_t depth_left) {
    auto items = std::vector<Value>{};
    items.reserve(array.size());
    for (auto item : array) {
        items.push_back(TRY(read(item, depth_left)));
    }
    return Value::list(std::move(items));
}

/// A map keeps the last of what has the same key. Of a text the first stands, so that looking for
/// one member can end there.
Result<Value> without_repeated(const dom::object& object, std::size_t depth_left) {
    auto members = std::vector<Member>{};
    auto keys = std::set<std::string_view>{};
    for (auto [key, member] : object) {
        if (keys.insert(key).second) {
            auto value = TRY(read(member, depth_left));
            members.push_back({std::string{key}, std::move(value)});
        }
    }
    return Value::map(std::move(members));
}

Result<Value> read_map(const dom::object& object, std::size_t depth_left) {
    auto members = std::vector<Member>{};
    members.reserve(object.size());
    for (auto [key, member] : object) {
        // Not in the same expression: GCC does not destroy the key when TRY returns from there.
        auto value = TRY(read(member, depth_left));
        members.push_back({std::string{key}, std::move(value)});
    }
    auto map = Value::map(std::move(members));
    return map.size() == object.size() ? map : without_repeated(object, depth_left);
}

// Each getter is of the type just asked for, so none can fail.
Result<Value> read(const dom::element& element, std::size_t depth_left) {
    auto type = element.type();
    auto is_container = type == dom::element_type::ARRAY || type == dom::element_type::OBJECT;
    if (is_container && depth_left == 0) {
        return fail(Errc::LimitExceeded, "the JSON text is nested too deeply");
    }
    switch (type) {
        case dom::element_type::ARRAY:
            return read_list(element.get_array().value_unsafe(), depth_left - 1);
        case dom::element_type::OBJECT:
            return read_map(element.get_object().value_unsafe(), depth_left - 1);
        case dom::element_type::INT64: return Value{element.get_int64().value_unsafe()};
        case dom::element_type::UINT64: return Value{element.get_uint64().value_unsafe()};
        case dom::element_type::DOUBLE: return Value{element.get_double().value_unsafe()};
        case dom::element_type::STRING: return Value{element.get_string().value_unsafe()};
        case dom::element_type::BOOL: return Value{element.get_bool().value_unsafe()};
        case dom::element_type::NULL_VALUE: return Value{};
    }
    return fail(Errc::Internal, "a JSON element has the unknown type {}", static_cast<int>(type));
}

bool is_integer_beyond_64_bits(std::string_view literal) {
    auto digits = literal.starts_with('-') ? literal.substr(1) : literal;
    if (digits.size() < 19 || digits.find_first_not_of("0123456789") != std::string_view::npos) {
        return false;
    }
    const auto* end = literal.data() + literal.size();
    auto whole = std::uint64_t{0};
    auto part = std::int64_t{0};
    return literal.starts_with('-')
               ? std::from_chars(literal.data(), end, part).ec == std::errc::result_out_of_range
               : std::from_chars(literal.data(), end, whole).ec == std::errc::result_out_of_range;
}

std::size_t string_end(std::string_view text, std::size_t open) {
    auto at = open + 1;
    while (at < text.size() && text[at] != '"') {
        at += text[at] == '\\' ? 2 : 1;
    }
    return std::min(at + 1, text.size());
}

// The parser refuses integers beyond 64 bits; with an exponent they are doubles to it.
std::string with_large_integers_as_doubles(std::string_view text) {
    auto out = std::string{};
    auto at = std::size_t{0};
    while (at < text.size()) {
        auto end = at + 1;
        if (text[at] == '"') {
            end = string_end(text, at);
        } else if (text[at] == '-' || (text[at] >= '0' && text[at] <= '9')) {
            end = std::min(text.find_first_not_of("0123456789+-.eE", at), text.size());
        }
        auto token = text.substr(at, end - at);
        out += token;
        out += is_integer_beyond_64_bits(token) ? "e0" : "";
        at = end;
    }
    return out;
}

std::unexpected<Error> refusal(simdjson::error_code code, std::string_view text) {
    if (code == simdjson::DEPTH_ERROR) {
        return fail(Errc::LimitExceeded, "the JSON text is nested too deeply");
    }
    if (auto fault = find_json_fault(text)) {
        return *fault == text.size() ? fail(Errc::InvalidInput,
                                            "not JSON: the text ends too early at byte {}", *fault)
                                     : fail(Errc::InvalidInput, "not JSON at byte {}: found {:?}",
                                            *fault, text.substr(*fault, 1));
    }
    return fail(Errc::InvalidInput, "not JSON: {}", simdjson::error_message(code));
}

Result<Value> parse_with(dom::parser& parser, std::string_view text, std::size_t depth_max) {
    auto element = dom::element{};
    auto code = parser.parse(text.data(), text.size()).get(element);
    if (code == simdjson::NUMBER_ERROR) {
        code = parser.parse(with_large_integers_as_doubles(text)).get(element);
    }
    if (code != simdjson::SUCCESS) {
        return refusal(code, text);
    }
    return read(element, depth_max);
}

} // namespace

Result<Value> parse_json(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.bytes_max) {
        return fail(Errc::LimitExceeded, "the JSON text has {} bytes, the limit is {}", text.size(),
                    limits.bytes_max);
    }
    if (text.empty()) {
        return fail(Errc::InvalidInput, "not JSON: the text is empty");
    }
    auto depth_max = std::min(limits.depth_max, depth_bound);
    if (text.size() > kept_parser_bytes_max) {
        auto parser = dom::parser{};
        return parse_with(parser, text, depth_max);
    }
    thread_local auto parser = dom::parser{};
    return parse_with(parser, text, depth_max);
}

} // namespace sluice::value
