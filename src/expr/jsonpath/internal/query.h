#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "value/value.h"

namespace re2 {
class RE2;
} // namespace re2

namespace sluice::expr::jsonpath::internal {

struct Expression;

struct Name {
    std::string text;
};

struct Index {
    std::int64_t at = 0;
};

struct Slice {
    std::optional<std::int64_t> start;
    std::optional<std::int64_t> end;
    std::int64_t step = 1;
};

struct Wildcard {};

struct Filter {
    std::shared_ptr<const Expression> condition;
    /// Jayway tests an object itself where the RFC tests its members.
    bool tests_objects_whole = false;
};

using Selector = std::variant<Name, Index, Slice, Wildcard, Filter>;

struct Segment {
    std::vector<Selector> selectors;
    bool is_descendant = false;
};

/// Jayway's functions, which end a path: `$.numbers.sum()`.
enum class Tail : std::uint8_t {
    Length,
    Min,
    Max,
    Avg,
    Stddev,
    Sum,
    Keys,
    First,
    Last,
    Index,
    Concat,
    Append,
};

struct Query {
    std::vector<Segment> segments;
    std::optional<Tail> tail;
    std::vector<Expression> tail_arguments;
    std::size_t position = 0;
    bool is_from_root = true;
    /// At most one value: nothing but single names and indices. The RFC calls it singular.
    bool is_definite = true;
    /// A tail behind `..` sees all matches at once, otherwise each of them.
    bool has_descendants = false;
};

enum class Operator : std::uint8_t {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    // Jayway's.
    LooselyEqual,
    LooselyNotEqual,
    Before,
    BeforeOrEqual,
    After,
    AfterOrEqual,
    StrictlyEqual,
    StrictlyNotEqual,
    Matches,
    In,
    NotIn,
    SubsetOf,
    AnyOf,
    NoneOf,
    Contains,
    Size,
    Empty,
};

/// The RFC's functions, which stand inside filters.
enum class Function : std::uint8_t { Length, Count, Match, Search, Value };

struct Expression {
    enum class Kind : std::uint8_t { Or, And, Not, Exists, Compare, Call, Literal, Path };

    Kind kind = Kind::Literal;
    Operator comparison = Operator::Equal;
    Function function = Function::Length;
    std::vector<Expression> parts; ///< Operands or arguments.
    Value literal;
    Query query;
    /// Of a pattern that is known beforehand; null when it is no regular expression.
    std::shared_ptr<const re2::RE2> pattern;
    bool has_pattern = false;
};

} // namespace sluice::expr::jsonpath::internal
