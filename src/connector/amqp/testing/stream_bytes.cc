#include "connector/amqp/testing/stream_bytes.h"

#include "base/bytes.h"
#include "connector/amqp/internal/stream/crc32.h"

namespace sluice::connector::amqp::testing {

namespace {

void add_section(std::string& bytes, char code, std::string_view value) {
    bytes += '\0';
    bytes += '\x53';
    bytes += code;
    bytes += value;
}

/// A value with its size in four bytes.
std::string sized(std::uint8_t code, std::string_view bytes) {
    auto value = std::string{};
    auto out = Encoder{value};
    out.u8(code);
    out.u32(static_cast<std::uint32_t>(bytes.size()));
    out.raw(bytes);
    return value;
}

} // namespace

std::string frame_bytes(std::uint16_t key, std::string_view content) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u32(static_cast<std::uint32_t>(content.size() + 4));
    out.u16(key);
    out.u16(1);
    out.raw(content);
    return bytes;
}

std::string message_bytes(std::string_view body, std::string_view content_type) {
    auto bytes = std::string{};
    // Annotations: a map with one symbol and one byte.
    add_section(bytes, '\x72', std::string_view{"\xC1\x06\x02\xA3\x01x\x50\x02", 8});
    if (!content_type.empty()) {
        auto list = std::string{"\0\0\0\x07\x40\x40\x40\x40\x40\x40", 10};
        add_section(bytes, '\x73', sized(0xD0, list + sized(0xB3, content_type)));
    }
    add_section(bytes, '\x75', sized(0xB0, body));
    return bytes;
}

std::string entry_bytes(std::string_view message) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u32(static_cast<std::uint32_t>(message.size()));
    out.raw(message);
    return bytes;
}

std::string batch_bytes(const std::vector<std::string>& messages, std::uint8_t compression) {
    auto content = std::string{};
    for (const auto& message : messages) {
        content += entry_bytes(message);
    }
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u8(static_cast<std::uint8_t>(0x80U | (compression << 4U)));
    out.u16(static_cast<std::uint16_t>(messages.size()));
    out.u32(static_cast<std::uint32_t>(content.size()));
    out.u32(static_cast<std::uint32_t>(content.size()));
    out.raw(content);
    return bytes;
}

std::string chunk_bytes(const ChunkParts& parts) {
    auto data = std::string{};
    for (const auto& entry : parts.entries) {
        data += entry;
    }
    auto count = static_cast<std::uint32_t>(parts.entries.size());
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u8(0x50);
    out.u8(parts.type);
    out.u16(static_cast<std::uint16_t>(count));
    out.u32(parts.records == 0 ? count : parts.records);
    out.u64(1'700'000'000'000); // Time.
    out.u64(1);                 // Epoch.
    out.u64(parts.first_offset);
    out.u32(internal::stream::crc32(data));
    out.u32(static_cast<std::uint32_t>(data.size()));
    out.u32(43); // Of a trailer, which is not sent.
    out.u32(0);
    out.raw(data);
    return bytes;
}

std::string chunk_of(std::uint64_t first_offset, const std::vector<std::string>& bodies) {
    auto parts = ChunkParts{.first_offset = first_offset};
    for (const auto& body : bodies) {
        parts.entries.push_back(entry_bytes(message_bytes(body)));
    }
    return chunk_bytes(parts);
}

} // namespace sluice::connector::amqp::testing
