#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace sluice::expr::states {

/// A time of any year, as `Timestamp` fields and comparisons have it.
struct Timestamp {
    std::int64_t seconds = 0; ///< Since 1970.
    std::int32_t nanos = 0;

    auto operator<=>(const Timestamp&) const = default;
};

/// RFC 3339 with a capital `T`, and `Z` or an offset: "2016-03-14T01:59:00.25+01:00".
std::optional<Timestamp> parse_timestamp(std::string_view text);

Timestamp timestamp_of(Time time);

} // namespace sluice::expr::states
