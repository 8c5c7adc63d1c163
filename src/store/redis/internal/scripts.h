#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice::store::redis::internal {

/// What is done inside the server, at once.
enum class Script : std::uint8_t { Apply, Acquire, Page, Ticket, Renew, Claim, Release, Leave };

inline constexpr auto script_count = std::size_t{8};

std::string_view text_of(Script script);

} // namespace sluice::store::redis::internal
