#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::expr::jsonata::internal {

/// One character for one, as Unicode's simple mappings have it.
std::uint32_t to_upper(std::uint32_t code);
std::uint32_t to_lower(std::uint32_t code);

/// As JavaScript does it: ß becomes SS.
std::string upper_text(std::string_view text);
std::string lower_text(std::string_view text);

} // namespace sluice::expr::jsonata::internal
