#pragma once

#include <string>
#include <string_view>

#include "expr/jsonata/internal/item.h"

namespace sluice::expr::jsonata::internal {

/// A number as XPath's `format-number` writes it. The options are an object of characters, such as
/// `{"decimal-separator": ","}`. Raises D308x and D309x.
std::string format_number(double number, std::string_view picture, const Item& options,
                          Arena& arena);

/// Half to even, after moving the point in decimal, so that 1.15 is what it looks like.
double round_to(double number, int digits);

} // namespace sluice::expr::jsonata::internal
