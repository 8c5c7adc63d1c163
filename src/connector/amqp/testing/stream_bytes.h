#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::connector::amqp::testing {

/// A command of the stream protocol with its size, key and version.
std::string frame_bytes(std::uint16_t key, std::string_view content);

/// A message of AMQP 1.0 with this body as data, as RabbitMQ keeps one that was published by 0.9.1.
std::string message_bytes(std::string_view body,
                          std::string_view content_type = "application/cloudevents+json");

/// An entry of a chunk.
std::string entry_bytes(std::string_view message);
/// Several messages as one entry. What is compressed is not looked at.
std::string batch_bytes(const std::vector<std::string>& messages, std::uint8_t compression = 0);

/// What a broker delivers: a chunk with a good checksum.
struct ChunkParts {
    std::uint64_t first_offset = 0;
    std::vector<std::string> entries;
    std::uint32_t records = 0; ///< 0: one in each entry.
    std::uint8_t type = 0;
};
std::string chunk_bytes(const ChunkParts& parts);
/// One message in each entry, with these bodies.
std::string chunk_of(std::uint64_t first_offset, const std::vector<std::string>& bodies);

} // namespace sluice::connector::amqp::testing
