#pragma once

#include <span>
#include <string_view>

namespace sluice {

/// The known name that somebody most likely meant; empty when none is near.
std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

} // namespace sluice
