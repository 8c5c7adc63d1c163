#pragma once

#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "value/json.h"
#include "value/value.h"

namespace sluice::value {

/// What a failing test shows of a value: its kind beside its JSON, which alone leaves some kinds
/// open.
inline void PrintTo(const Value& value,
                    std::ostream* out) { // NOLINT(readability-identifier-naming)
    *out << to_string(value.kind()) << ' ' << to_json(value);
}

inline void showValue(const Value& value,
                      std::ostream& out) { // NOLINT(readability-identifier-naming)
    PrintTo(value, &out);
}

} // namespace sluice::value

namespace sluice::value::testing {

enum class Kinds : std::uint8_t { All, Json };

/// Numbers where kinds meet and precision ends, each as every kind that can hold it.
inline std::vector<Value> edge_numbers() {
    auto numbers =
        std::vector<Value>{-0.0, 0.5, -0.5, 1e300, -1e300, 5e-324, 1e19, -1e19, 0x1p64, 0x1p63};
    for (auto number :
         {0L, 1L, -1L, 255L, 1L << 53, (1L << 53) + 1, (1L << 62) + 1,
          std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
        numbers.emplace_back(number);
        numbers.emplace_back(static_cast<double>(number));
        numbers.emplace_back(static_cast<std::uint64_t>(number));
    }
    for (auto number :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()}) {
        numbers.emplace_back(number);
    }
    return numbers;
}

/// Whether JSON gives this number back as it is.
inline bool is_json_number(const Value& number) {
    auto int_max = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    return number.is_int() || (number.is_uint() && number.as_uint() > int_max) ||
           (number.is_double() && std::isfinite(number.as_double()));
}

inline rc::Gen<Value> arbitrary_number(Kinds kinds) {
    auto numbers = rc::gen::oneOf(
        rc::gen::elementOf(edge_numbers()),
        rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](auto raw) { return Value{raw}; }),
        rc::gen::map(rc::gen::arbitrary<std::uint64_t>(), [](auto raw) { return Value{raw}; }),
        rc::gen::map(rc::gen::arbitrary<double>(), [](auto raw) { return Value{raw}; }));
    return kinds == Kinds::All ? numbers : rc::gen::suchThat(numbers, is_json_number);
}

/// Valid UTF-8 around the length at which texts leave the value itself.
inline rc::Gen<std::string> arbitrary_text() {
    auto parts = rc::gen::elementOf(
        std::vector<std::string>{"a", "b", "Z", "\"", "\\", "\n", "\x01", std::string(1, '\0'), "/",
                                 "\u00e9", "\u20ac", "\U0001F600", "ten bytes!"});
    return rc::gen::map(rc::gen::scale(0.1, rc::gen::container<std::vector<std::string>>(parts)),
                        [](const auto& chosen) {
                            auto text = std::string{};
                            for (const auto& part : chosen) {
                                text += part;
                            }
                            return text;
                        });
}

inline rc::Gen<Value> arbitrary_scalar(Kinds kinds) {
    auto json = rc::gen::oneOf(
        rc::gen::just(Value{}),
        rc::gen::map(rc::gen::arbitrary<bool>(), [](bool truth) { return Value{truth}; }),
        arbitrary_number(kinds),
        rc::gen::map(arbitrary_text(), [](const auto& text) { return Value{text}; }));
    if (kinds == Kinds::Json) {
        return json;
    }
    return rc::gen::oneOf(json,
                          rc::gen::map(rc::gen::arbitrary<std::string>(),
                                       [](const auto& bytes) { return Value::bytes(bytes); }),
                          rc::gen::map(rc::gen::arbitrary<std::int64_t>(),
                                       [](auto count) { return Value{Time{Nanos{count}}}; }),
                          rc::gen::map(rc::gen::arbitrary<std::int64_t>(),
                                       [](auto count) { return Value{Nanos{count}}; }));
}

/// A value of at most that many levels. Small texts and numbers repeat, so that equal ones meet.
inline rc::Gen<Value> arbitrary_value(Kinds kinds = Kinds::All, int depth = 3) {
    if (depth == 0) {
        return arbitrary_scalar(kinds);
    }
    auto child = arbitrary_value(kinds, depth - 1);
    auto member = rc::gen::map(rc::gen::pair(arbitrary_text(), child), [](auto pair) {
        return Member{std::move(pair.first), std::move(pair.second)};
    });
    return rc::gen::oneOf(
        arbitrary_scalar(kinds),
        rc::gen::map(rc::gen::scale(0.1, rc::gen::container<std::vector<Value>>(child)),
                     [](auto items) { return Value::list(std::move(items)); }),
        rc::gen::map(rc::gen::scale(0.15, rc::gen::container<std::vector<Member>>(member)),
                     [](auto members) { return Value::map(std::move(members)); }));
}

/// Lists within lists.
inline Value nested_lists(std::size_t depth) {
    auto value = Value{"core"};
    for (auto level = std::size_t{0}; level < depth; ++level) {
        value = Value::list({std::move(value)});
    }
    return value;
}

} // namespace sluice::value::testing
