#pragma once

#include <string_view>

#include "expr/jsonpath/internal/cursor.h"
#include "expr/jsonpath/internal/query.h"

namespace sluice::expr::jsonpath::internal {

/// A path as Jayway's library reads it.
Parsed<Query> parse_jayway(std::string_view text);

/// A quoted name with Jayway's escapes: what it does not know stands for itself.
Parsed<std::string> parse_quoted(Cursor& cursor);

} // namespace sluice::expr::jsonpath::internal
