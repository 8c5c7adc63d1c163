#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "expr/cel/runtime/cell.h"

namespace sluice::expr::cel::runtime {

/// RFC 3339 with offset; nothing when it is not that or out of CEL's range.
std::optional<Moment> read_timestamp(std::string_view text);
/// A sum of decimal numbers with h, m, s, ms, us, ns and a sign in front, or "0".
std::optional<std::int64_t> read_duration(std::string_view text);

/// How far the clocks of a zone are ahead of UTC at that moment. `UTC`, a name of the IANA
/// database, or `+01:00`, also without its sign; nothing when there is no such zone.
std::optional<std::chrono::seconds> offset_of(std::string_view zone, Moment moment);

} // namespace sluice::expr::cel::runtime
