#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::connector::amqp::internal::stream {

/// The checksum of Ethernet and zlib, which streams have for their chunks.
std::uint32_t crc32(std::string_view bytes);

} // namespace sluice::connector::amqp::internal::stream
