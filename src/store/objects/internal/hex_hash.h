#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::store::internal {

/// BLAKE2b of so many bytes, twice as many digits.
std::string hex_hash(std::string_view bytes, std::size_t size);

} // namespace sluice::store::internal
