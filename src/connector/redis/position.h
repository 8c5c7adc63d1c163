#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::connector::redis {

/// Bits of a position that are the entry's number within its millisecond.
inline constexpr auto sequence_bits = 20U;

/// The id of an entry, `milliseconds-sequence`, as one number that rises with it. Unsupported when
/// it does not fit: milliseconds have 44 bits, which last until the year 2527, the sequence 20.
Result<std::uint64_t> position_of(std::string_view id);
std::string id_of(std::uint64_t position);

} // namespace sluice::connector::redis
