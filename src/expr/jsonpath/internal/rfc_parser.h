#pragma once

#include <string_view>

#include "expr/jsonpath/internal/cursor.h"
#include "expr/jsonpath/internal/query.h"

namespace sluice::expr::jsonpath::internal {

/// A path by RFC 9535, well-typed.
Parsed<Query> parse_rfc(std::string_view text);

} // namespace sluice::expr::jsonpath::internal
