#include "expr/states/internal/function.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/result.h"
#include "base/utf8.h"
#include "expr/states/digest.h"
#include "expr/states/internal/comparison.h"
#include "value/json.h"

namespace sluice::expr::states::internal {
namespace {

using Arguments = std::span<const Value>;

constexpr std::size_t characters_max = 10'000; ///< Of Base64Encode, Base64Decode and Hash.
constexpr std::size_t items_max = 1000;        ///< Of ArrayRange.
constexpr std::size_t format_depth_max = 1000;

template <typename... Parts>
std::unexpected<std::string> complain(fmt::format_string<Parts...> text, Parts&&... parts) {
    return std::unexpected(fmt::format(text, std::forward<Parts>(parts)...));
}

/// The nearest whole number, halves upwards.
std::optional<std::int64_t> rounded(const Value& number) {
    if (number.is_int()) {
        return number.as_int();
    }
    if (number.is_uint()) {
        return std::nullopt;
    }
    auto whole = std::floor(number.as_double() + 0.5);
    if (!(whole >= -0x1p63 && whole < 0x1p63)) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(whole);
}

std::expected<std::int64_t, std::string> integer(const Value& number) {
    auto whole = rounded(number);
    if (!whole) {
        return complain("{} is too large for an integer", value::to_json(number));
    }
    return *whole;
}

FunctionResult format_values(Arguments arguments, Random&) {
    auto text = arguments[0].as_string();
    auto out = std::string{};
    auto next = std::size_t{1};
    for (auto at = std::size_t{0}; at < text.size(); ++at) {
        if (text.substr(at, 2) != "{}") {
            out += text[at];
            continue;
        }
        if (next < arguments.size()) {
            append_formatted(arguments[next], out);
        }
        ++next;
        ++at;
    }
    if (next != arguments.size()) {
        return complain("the text has {} places {{}} and there are {} arguments for them", next - 1,
                        arguments.size() - 1);
    }
    return Value{out};
}

FunctionResult string_to_json(Arguments arguments, Random&) {
    auto text = arguments[0].as_string();
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return Value{};
    }
    return parse_text(text);
}

FunctionResult json_to_string(Arguments arguments, Random&) {
    return Value{value::to_json(arguments[0])};
}

FunctionResult array_of(Arguments arguments, Random&) {
    return Value::list({arguments.begin(), arguments.end()});
}

FunctionResult array_contains(Arguments arguments, Random&) {
    return Value{std::ranges::any_of(
        arguments[0].as_list(), [&](const Value& item) { return is_same(item, arguments[1]); })};
}

FunctionResult array_get_item(Arguments arguments, Random&) {
    auto items = arguments[0].as_list();
    auto at = TRY(integer(arguments[1]));
    if (at < 0 || at >= static_cast<std::int64_t>(items.size())) {
        return complain("index {} is outside of an array of {} items", at, items.size());
    }
    return items[static_cast<std::size_t>(at)];
}

FunctionResult array_length(Arguments arguments, Random&) {
    return Value{static_cast<std::int64_t>(arguments[0].size())};
}

FunctionResult array_unique(Arguments arguments, Random&) {
    auto items = arguments[0].as_list();
    auto order = std::vector<std::pair<std::uint64_t, std::size_t>>{};
    for (auto at = std::size_t{0}; at < items.size(); ++at) {
        order.emplace_back(hash_alike(items[at]), at);
    }
    std::ranges::sort(order);
    auto is_repeated = std::vector<bool>(items.size());
    for (auto at = std::size_t{0}; at < order.size(); ++at) {
        for (auto before = at; before-- > 0 && order[before].first == order[at].first;) {
            auto [first, second] = std::pair{order[before].second, order[at].second};
            if (!is_repeated[first] && is_same(items[first], items[second])) {
                is_repeated[second] = true;
                break;
            }
        }
    }
    auto unique = std::vector<Value>{};
    for (auto at = std::size_t{0}; at < items.size(); ++at) {
        if (!is_repeated[at]) {
            unique.push_back(items[at]);
        }
    }
    return Value::list(std::move(unique));
}

bool is_too_long(std::string_view text) {
    auto characters = std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    return static_cast<std::size_t>(characters) > characters_max;
}

FunctionResult encode_base64(Arguments arguments, Random&) {
    if (is_too_long(arguments[0].as_string())) {
        return complain("a text of more than {} characters cannot be encoded", characters_max);
    }
    return Value{base64_encode(arguments[0].as_string())};
}

FunctionResult decode_base64(Arguments arguments, Random&) {
    auto text = std::string{arguments[0].as_string()};
    if (is_too_long(text)) {
        return complain("a text of more than {} characters cannot be decoded", characters_max);
    }
    while (text.size() % 4 != 0) {
        text += '=';
    }
    auto bytes = base64_decode(text);
    if (!bytes) {
        return complain("the text is not Base64: {}", bytes.error().message);
    }
    return Value{replace_invalid_utf8(*bytes)};
}

FunctionResult json_merge(Arguments arguments, Random&) {
    if (arguments[2].as_bool()) {
        return complain("deep merging is not supported: the third argument must be false");
    }
    auto members =
        std::vector<value::Member>(arguments[0].as_map().begin(), arguments[0].as_map().end());
    members.insert(members.end(), arguments[1].as_map().begin(), arguments[1].as_map().end());
    return Value::map(std::move(members));
}

FunctionResult math_random(Arguments arguments, Random& chance) {
    auto start = TRY(integer(arguments[0]));
    auto end = TRY(integer(arguments[1]));
    if (start >= end) {
        return complain("the start number {} must be less than the end number {}", start, end);
    }
    auto width = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start);
    auto seeded = arguments.size() > 2
                      ? Random{static_cast<std::uint64_t>(TRY(integer(arguments[2])))}
                      : Random{chance.next()};
    auto offset = seeded.below(width);
    return Value{static_cast<std::int64_t>(static_cast<std::uint64_t>(start) + offset)};
}

FunctionResult math_add(Arguments arguments, Random&) {
    auto sum = std::int64_t{0};
    if (__builtin_add_overflow(TRY(integer(arguments[0])), TRY(integer(arguments[1])), &sum)) {
        return complain("the sum is too large for an integer");
    }
    return Value{sum};
}

/// Each character of the second argument separates; nothing empty is given.
FunctionResult string_split(Arguments arguments, Random&) {
    auto text = arguments[0].as_string();
    auto separators = arguments[1].as_string();
    auto pieces = std::vector<Value>{};
    auto begin = std::size_t{0};
    for (auto at = std::size_t{0}; at < text.size();) {
        auto size = std::max<std::size_t>(decode_utf8(text.substr(at)).size, 1);
        if (separators.find(text.substr(at, size)) != std::string_view::npos) {
            if (at > begin) {
                pieces.emplace_back(text.substr(begin, at - begin));
            }
            begin = at + size;
        }
        at += size;
    }
    if (begin < text.size()) {
        pieces.emplace_back(text.substr(begin));
    }
    return Value::list(std::move(pieces));
}

constexpr std::uint8_t any_number = 255;

constexpr auto functions = std::to_array<Function>({
    {"Array", 0, any_number, "v", array_of},
    {"ArrayContains", 2, 2, "lv", array_contains},
    {"ArrayGetItem", 2, 2, "ln", array_get_item},
    {"ArrayLength", 1, 1, "l", array_length},
    {"ArrayPartition", 2, 2, "ln", array_partition},
    {"ArrayRange", 3, 3, "nnn", array_range},
    {"ArrayUnique", 1, 1, "l", array_unique},
    {"Base64Decode", 1, 1, "s", decode_base64},
    {"Base64Encode", 1, 1, "s", encode_base64},
    {"Format", 1, any_number, "sv", format_values},
    {"Hash", 2, 2, "vs", hash_of_text},
    {"JsonMerge", 3, 3, "oob", json_merge},
    {"JsonToString", 1, 1, "v", json_to_string},
    {"MathAdd", 2, 2, "nn", math_add},
    {"MathRandom", 2, 3, "nnn", math_random},
    {"StringSplit", 2, 2, "ss", string_split},
    {"StringToJson", 1, 1, "s", string_to_json},
    {"UUID", 0, 0, "v", make_uuid},
});
static_assert(functions.size() == 18);

bool is_of_kind(char kind, const Value& value) {
    switch (kind) {
        case 'l': return value.is_list();
        case 'n': return value.is_number();
        case 's': return value.is_string();
        case 'o': return value.is_map();
        case 'b': return value.is_bool();
        default: return true;
    }
}

std::string_view name_of_kind(char kind) {
    switch (kind) {
        case 'l': return "an array";
        case 'n': return "a number";
        case 's': return "a string";
        case 'o': return "an object";
        default: return "a boolean";
    }
}

void append_formatted_within(const Value& value, std::string& out, std::size_t depth) {
    if (value.is_string()) {
        out += value.as_string();
    } else if (value.is_list() && depth < format_depth_max) {
        out += '[';
        auto separator = std::string_view{};
        for (const auto& item : value.as_list()) {
            out += separator;
            append_formatted_within(item, out, depth + 1);
            separator = ", ";
        }
        out += ']';
    } else if (value.is_map() && depth < format_depth_max) {
        out += '{';
        auto separator = std::string_view{};
        for (const auto& [key, member] : value.as_map()) {
            out += separator;
            out += key;
            out += '=';
            append_formatted_within(member, out, depth + 1);
            separator = ", ";
        }
        out += '}';
    } else {
        value::write_json(value, out);
    }
}

} // namespace

const Function* find_function(std::string_view name) {
    const auto* found = std::ranges::lower_bound(functions, name, {}, &Function::name);
    return found != functions.end() && found->name == name ? found : nullptr;
}

std::string refuse_argument(const Function& function, std::size_t at, const Value& value) {
    auto kind = function.kinds[std::min(at, function.kinds.size() - 1)];
    if (is_of_kind(kind, value)) {
        return {};
    }
    return fmt::format("argument {} must be {}", at + 1, name_of_kind(kind));
}

FunctionResult array_partition(std::span<const Value> arguments, Random&) {
    auto items = arguments[0].as_list();
    auto size = TRY(integer(arguments[1]));
    if (size <= 0) {
        return complain("the size of the chunks must be a positive integer, found {}", size);
    }
    auto chunks = std::vector<Value>{};
    while (!items.empty()) {
        auto chunk =
            items.first(std::min<std::size_t>(static_cast<std::size_t>(size), items.size()));
        chunks.push_back(Value::list({chunk.begin(), chunk.end()}));
        items = items.subspan(chunk.size());
    }
    return Value::list(std::move(chunks));
}

FunctionResult array_range(std::span<const Value> arguments, Random&) {
    auto first = TRY(integer(arguments[0]));
    auto last = TRY(integer(arguments[1]));
    auto step = TRY(integer(arguments[2]));
    if (step == 0) {
        return complain("the step must not be 0");
    }
    auto items = std::vector<Value>{};
    while (step > 0 ? first <= last : first >= last) {
        if (items.size() == items_max) {
            return complain("a range has at most {} items", items_max);
        }
        items.emplace_back(first);
        if (__builtin_add_overflow(first, step, &first)) {
            break;
        }
    }
    return Value::list(std::move(items));
}

FunctionResult hash_of_text(std::span<const Value> arguments, Random&) {
    auto text = arguments[0].is_string() ? std::string{arguments[0].as_string()}
                                         : value::to_json(arguments[0]);
    if (is_too_long(text)) {
        return complain("a text of more than {} characters cannot be hashed", characters_max);
    }
    auto digest = hex_digest(text, arguments[1].as_string());
    if (!digest) {
        return complain(
            "there is no algorithm {}: expected MD5, SHA-1, SHA-256, SHA-384 or SHA-512",
            arguments[1].as_string());
    }
    return Value{*digest};
}

/// RFC 9562, version 4.
FunctionResult make_uuid(std::span<const Value>, Random& chance) {
    auto high = (chance.next() & ~0xF000ULL) | 0x4000ULL;
    auto low = (chance.next() & ~(3ULL << 62U)) | (2ULL << 62U);
    return Value{fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U,
                             (high >> 16U) & 0xFFFFU, high & 0xFFFFU, low >> 48U,
                             low & 0xFFFF'FFFF'FFFFULL)};
}

FunctionResult parse_text(std::string_view text) {
    auto parsed = value::parse_json(text);
    if (!parsed) {
        return complain("the text is not JSON: {}", parsed.error().message);
    }
    return *std::move(parsed);
}

void append_formatted(const Value& value, std::string& out) {
    append_formatted_within(value, out, 0);
}

} // namespace sluice::expr::states::internal
