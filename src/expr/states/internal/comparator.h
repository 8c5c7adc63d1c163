#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "expr/states/timestamp.h"
#include "value/value.h"

namespace sluice::expr::states::internal {

/// The comparison of a Choice rule: what a type tests and how.
struct Comparator {
    enum class Type : std::uint8_t { String, Numeric, Timestamp, Boolean, Matches, Is };
    enum class Relation : std::uint8_t {
        Equals,
        LessThan,
        GreaterThan,
        LessThanEquals,
        GreaterThanEquals,
    };
    enum class Test : std::uint8_t { Null, Present, Numeric, String, Boolean, Timestamp };

    Type type = Type::String;
    Relation relation = Relation::Equals;
    Test test = Test::Null;
    bool has_path = false; ///< `…Path`: what it is compared with is read too.
};

/// One of the 39 operators by its name; nothing when it is none.
std::optional<Comparator> find_comparator(std::string_view name);

/// What a literal operand must be, for messages; empty when it is that.
std::string_view refuse_operand(const Comparator& comparator, const Value& operand);

/// A value of another type is never equal, less or greater.
bool compare(const Comparator& comparator, const Value& variable, const Value& operand);

/// Whether a value that is there is of a kind; `Present` holds for all.
bool is_of(Comparator::Test test, const Value& value);

/// `*` stands for any text, `\*` for itself, `\\` for a backslash.
bool matches(std::string_view text, std::string_view pattern);

} // namespace sluice::expr::states::internal
