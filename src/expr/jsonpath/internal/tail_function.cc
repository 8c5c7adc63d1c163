#include "expr/jsonpath/internal/tail_function.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "value/json.h"

namespace sluice::expr::jsonpath::internal {
namespace {

std::unexpected<Fault> refuse(std::string message) {
    return std::unexpected(Fault{"invalid_argument", std::move(message), 0});
}

double as_double(const Value& number) {
    switch (number.kind()) {
        case value::Kind::Int: return static_cast<double>(number.as_int());
        case value::Kind::Uint: return static_cast<double>(number.as_uint());
        default: return number.as_double();
    }
}

void collect(const Value& value, std::vector<double>& numbers) {
    if (value.is_number()) {
        numbers.push_back(as_double(value));
    }
    if (value.is_list()) {
        for (const auto& item : value.as_list()) {
            if (item.is_number()) {
                numbers.push_back(as_double(item));
            }
        }
    }
}

std::expected<Value, Fault> aggregate(Tail tail, const Value& subject,
                                      std::span<const Value> arguments) {
    auto numbers = std::vector<double>{};
    if (subject.is_list()) {
        collect(subject, numbers);
    }
    for (const auto& argument : arguments) {
        collect(argument, numbers);
    }
    if (numbers.empty()) {
        return refuse("expected numbers to reckon with, found none");
    }
    auto count = static_cast<double>(numbers.size());
    auto sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
    switch (tail) {
        case Tail::Min: return Value{std::ranges::min(numbers)};
        case Tail::Max: return Value{std::ranges::max(numbers)};
        case Tail::Avg: return Value{sum / count};
        case Tail::Sum: return Value{sum};
        default: break;
    }
    auto mean = sum / count;
    auto squares = std::accumulate(numbers.begin(), numbers.end(), 0.0, [&](double all, double x) {
        return all + (x - mean) * (x - mean);
    });
    return Value{std::sqrt(squares / count)};
}

std::expected<Value, Fault> pick_item(const Value& subject, std::int64_t index) {
    if (!subject.is_list()) {
        return refuse("expected a list to take an item of");
    }
    auto size = static_cast<std::int64_t>(subject.size());
    auto at = index < 0 ? index + size : index;
    if (at < 0 || at >= size) {
        return std::unexpected(
            Fault{"no_such_member", fmt::format("the list has no item {}", index), 0});
    }
    return subject.as_list()[static_cast<std::size_t>(at)];
}

void append_text(const Value& value, std::string& out) {
    if (value.is_string()) {
        out += value.as_string();
    } else if (value.is_number() || value.is_bool()) {
        value::write_json(value, out);
    }
}

std::expected<Value, Fault> concatenate(const Value& subject, std::span<const Value> arguments,
                                        Meter& meter) {
    auto out = std::string{};
    auto add = [&](const Value& value) {
        append_text(value, out);
        if (out.size() > meter.text_bytes_max()) {
            meter.exhaust();
        }
    };
    auto add_all = [&](const Value& value) {
        if (!value.is_list()) {
            add(value);
            return;
        }
        for (const auto& item : value.as_list()) {
            if (meter.is_exhausted()) {
                return;
            }
            add(item);
        }
    };
    if (subject.is_list()) {
        add_all(subject);
    }
    for (const auto& argument : arguments) {
        add_all(argument);
    }
    return Value{out};
}

Value keys_of(const Value& map) {
    auto keys = std::vector<Value>{};
    for (const auto& member : map.as_map()) {
        keys.emplace_back(member.key);
    }
    return Value::list(std::move(keys));
}

} // namespace

std::expected<Value, Fault> call_tail(Tail tail, const Value& subject,
                                      std::span<const Value> arguments, Meter& meter) {
    if (!meter.spend(1 + subject.size())) {
        return Value{};
    }
    switch (tail) {
        case Tail::Length:
            return subject.is_list() || subject.is_map()
                       ? Value{static_cast<std::int64_t>(subject.size())}
                       : Value{};
        case Tail::Keys: return subject.is_map() ? keys_of(subject) : Value{};
        case Tail::First: return pick_item(subject, 0);
        case Tail::Last: return pick_item(subject, -1);
        case Tail::Index:
            if (!arguments[0].is_int()) {
                return refuse("expected an integer as the index");
            }
            return pick_item(subject, arguments[0].as_int());
        case Tail::Concat: return concatenate(subject, arguments, meter);
        case Tail::Append: {
            if (!subject.is_list()) {
                return refuse("expected a list to append to");
            }
            auto items = std::vector<Value>(subject.as_list().begin(), subject.as_list().end());
            items.insert(items.end(), arguments.begin(), arguments.end());
            return Value::list(std::move(items));
        }
        default: return aggregate(tail, subject, arguments);
    }
}

} // namespace sluice::expr::jsonpath::internal
