#pragma once

#include <cstdint>
#include <string>

#include "expr/cel/runtime/cell.h"

namespace sluice::expr::cel::runtime {

/// As `string()` gives it: scalars and types; lists, maps and optionals have no text.
std::string text_of(const Cell& cell);

/// The shortest that reads back the same; `NaN`, `Infinity`, `-Infinity`.
std::string write_double(double number);
/// RFC 3339 in UTC with the fraction digits it needs.
std::string write_timestamp(Moment moment);
/// In seconds, as "60.001s".
std::string write_duration(std::int64_t nanos);

} // namespace sluice::expr::cel::runtime
