#pragma once

#include <cstddef>

#include "expr/jsonpath/internal/cursor.h"
#include "expr/jsonpath/internal/query.h"

namespace sluice::expr::jsonpath::internal {

/// What stands between the brackets of `[?( … )]`.
Parsed<Expression> parse_jayway_filter(Cursor& cursor, std::size_t depth);

/// An operand of a filter, an argument of a function: a path, a literal, a list of literals.
Parsed<Expression> parse_jayway_operand(Cursor& cursor, std::size_t depth);

enum class Place : std::uint8_t { Alone, InFilter };

/// From its `$` or `@` on: to the text's end, or as far as a filter lets it.
Parsed<Query> parse_jayway_path(Cursor& cursor, Place place, std::size_t depth);

} // namespace sluice::expr::jsonpath::internal
