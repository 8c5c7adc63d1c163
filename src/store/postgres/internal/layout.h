#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/postgres/options.h"

namespace sluice::store::postgres {

/// Raised when an older program would misread the tables.
inline constexpr auto layout_format = 1;

/// Makes the tables where they are missing, and gives the count of shards they were made for.
/// Unsupported when a newer release made them, Corrupt when they are not as we make them.
Result<std::uint16_t> lay_out(const Options& options);

} // namespace sluice::store::postgres
