#pragma once

#include <compare>
#include <cstdint>

#include "value/value.h"

namespace sluice::expr::states::internal {

/// Where two numbers stand on the line.
std::partial_ordering compare_numbers(const Value& left, const Value& right);

/// Equal as JSON: numbers by value, members in any order.
bool is_same(const Value& left, const Value& right);

/// What is the same has the same hash.
std::uint64_t hash_alike(const Value& value);

} // namespace sluice::expr::states::internal
