#pragma once

#include <compare>

#include "expr/jsonpath/internal/query.h"
#include "expr/meter.h"
#include "value/value.h"

namespace sluice::expr::jsonpath::internal {

/// Numbers of all kinds on one line.
std::partial_ordering order_of_numbers(const Value& left, const Value& right);

/// Numbers by what they say, lists and maps by what they hold.
bool are_equal(const Value& left, const Value& right, Meter& meter, std::size_t depth = 0);

/// RFC 9535, 2.3.5.2.2; a null pointer is Nothing.
bool compare_rfc(Operator comparison, const Value* left, const Value* right, Meter& meter);

/// Jayway's operators but `=~`; a null pointer is what is missing.
bool compare_jayway(Operator comparison, const Value* left, const Value* right, Meter& meter);

} // namespace sluice::expr::jsonpath::internal
