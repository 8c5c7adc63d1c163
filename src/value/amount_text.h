#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace sluice::value {

/// How many a second: "100/s", "90/m", "10/h", "5/d", or a number. Fails with InvalidInput for
/// anything else, and outside of one a day to a billion a second.
Result<double> parse_rate(const Value& written);

/// "256MiB", "64KiB", "2GiB", "1500000B", or a number of bytes. Fails with InvalidInput.
Result<std::uint64_t> parse_bytes(const Value& written);

} // namespace sluice::value
