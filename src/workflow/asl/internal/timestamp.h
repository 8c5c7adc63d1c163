#pragma once

#include <string_view>

namespace sluice::workflow::asl::internal {

/// RFC 3339 as the States Language profiles it: a capital `T`, and `Z` or an offset. Any year, which
/// is why this is not value::parse_time.
bool is_timestamp(std::string_view text);

} // namespace sluice::workflow::asl::internal
