#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice::expr::cesql::internal {

/// `%` any run of characters, `_` one, `\%` and `\_` those themselves.
std::vector<std::uint32_t> compile_like(std::string_view pattern);
bool is_like(std::string_view text, const std::vector<std::uint32_t>& pattern);

} // namespace sluice::expr::cesql::internal
