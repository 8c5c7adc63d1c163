#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace sluice::value {

/// RFC 3339 with offset, as CloudEvents' `time`: "2026-11-15T05:57:30.25Z". Leap seconds (":60")
/// are taken as the next second. Fails with InvalidInput.
Result<Time> parse_time(std::string_view text);
/// In UTC with the fraction digits it needs.
std::string format_time(Time time);

/// "1h30m", "250ms", "1.5s", "2d": a sum of decimal numbers with d, h, m, s, ms, us, ns; "0" alone
/// too.
Result<Nanos> parse_duration(std::string_view text);
/// As parse_duration reads it, largest units first: "1h30m", "250ms".
std::string format_duration(Nanos duration);

} // namespace sluice::value
