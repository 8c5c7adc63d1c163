#include "sluice/eval/typed_value.h"

#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "value/json.h"

namespace sluice::app {
namespace {

using value::Kind;

constexpr std::size_t kinds_depth_max = 256;

std::string double_text(double number) {
    if (std::isnan(number)) {
        return "NaN";
    }
    if (std::isinf(number)) {
        return number > 0 ? "Infinity" : "-Infinity";
    }
    return value::to_json(Value{number});
}

/// Whole seconds towards the past, the rest in nanoseconds.
Value seconds_and_nanos(std::chrono::nanoseconds time) {
    auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    return Value::object({{"seconds", std::to_string(seconds.count())},
                          {"nanos", static_cast<std::int64_t>((time - seconds).count())}});
}

Value described(const Value& value, std::size_t depth);

Value list_with_kinds(const Value& list, std::size_t depth) {
    auto items = std::vector<Value>{};
    for (const auto& item : list.as_list()) {
        items.push_back(described(item, depth));
    }
    return Value::object({{"list", Value::list(std::move(items))}});
}

Value map_with_kinds(const Value& map, std::size_t depth) {
    auto members = std::vector<Value>{};
    for (const auto& [key, value] : map.as_map()) {
        members.push_back(Value::list({Value::object({{"string", key}}), described(value, depth)}));
    }
    return Value::object({{"map", Value::list(std::move(members))}});
}

Value described(const Value& value, std::size_t depth) {
    if (depth == 0) {
        return Value{};
    }
    switch (value.kind()) {
        case Kind::Null: return Value::object({{"null", Value{}}});
        case Kind::Bool: return Value::object({{"bool", value}});
        case Kind::Int: return Value::object({{"int", std::to_string(value.as_int())}});
        case Kind::Uint: return Value::object({{"uint", std::to_string(value.as_uint())}});
        case Kind::Double: return Value::object({{"double", double_text(value.as_double())}});
        case Kind::String: return Value::object({{"string", value}});
        case Kind::Bytes: return Value::object({{"bytes", base64_encode(value.as_bytes())}});
        case Kind::List: return list_with_kinds(value, depth - 1);
        case Kind::Map: return map_with_kinds(value, depth - 1);
        case Kind::Timestamp:
            return Value::object(
                {{"timestamp", seconds_and_nanos(value.as_timestamp().time_since_epoch())}});
        case Kind::Duration:
            return Value::object({{"duration", seconds_and_nanos(value.as_duration())}});
    }
    return Value{};
}

} // namespace

Value with_kinds(const Value& value) {
    return described(value, kinds_depth_max);
}

} // namespace sluice::app
