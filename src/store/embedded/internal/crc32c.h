#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::store::embedded {

/// CRC-32C (Castagnoli), by the processor's own instruction where it has one. `before` continues an
/// earlier piece.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

/// As RocksDB stores it: rotated and shifted, so that a checksum over checksums stays a good one.
constexpr std::uint32_t masked(std::uint32_t crc) {
    return ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U;
}

} // namespace sluice::store::embedded
