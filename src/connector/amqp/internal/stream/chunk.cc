#include "connector/amqp/internal/stream/chunk.h"

#include "connector/amqp/internal/stream/big_endian.h"
#include "connector/amqp/internal/stream/crc32.h"

namespace sluice::connector::amqp::internal::stream {

namespace {

// RabbitMQ's Osiris, `osiris_log`: magic and version, type, entries, records, timestamp, epoch, id,
// checksum, sizes of data and trailer, reserved. The trailer stays with the broker.
constexpr auto header_bytes = std::size_t{48};
constexpr auto magic_and_version = '\x50';
constexpr auto type_at = 1;
constexpr auto entries_at = 2;
constexpr auto records_at = 4;
constexpr auto id_at = 24;
constexpr auto crc_at = 32;
constexpr auto data_bytes_at = 36;
constexpr auto messages_type = '\0';

constexpr auto size_bytes = std::size_t{4};
// Bit of a batch and its compression, records, bytes before compression, bytes.
constexpr auto batch_header_bytes = std::size_t{11};
constexpr auto batch_bit = 0x80U;

/// A size and so many bytes; false when they are not all there.
bool take_sized(std::string_view& data, std::string_view& bytes) {
    if (data.size() < size_bytes) {
        return false;
    }
    auto size = big_endian<std::uint32_t>(data.data());
    if (data.size() - size_bytes < size) {
        return false;
    }
    bytes = data.substr(size_bytes, size);
    data.remove_prefix(size_bytes + size);
    return true;
}

} // namespace

Result<Chunk> Chunk::parse(std::string_view bytes) {
    if (bytes.size() < header_bytes || bytes[0] != magic_and_version) {
        return fail(Errc::Corrupt, "expected a chunk of a stream, found {} other bytes",
                    bytes.size());
    }
    auto chunk = Chunk{};
    chunk.has_messages_ = bytes[type_at] == messages_type;
    chunk.entries_left_ = big_endian<std::uint16_t>(bytes.data() + entries_at);
    chunk.records_ = big_endian<std::uint32_t>(bytes.data() + records_at);
    chunk.first_offset_ = big_endian<std::uint64_t>(bytes.data() + id_at);
    chunk.next_offset_ = chunk.first_offset_;
    auto size = big_endian<std::uint32_t>(bytes.data() + data_bytes_at);
    if (bytes.size() - header_bytes < size) {
        return fail(Errc::Corrupt, "chunk {} has {} of {} bytes", chunk.first_offset_,
                    bytes.size() - header_bytes, size);
    }
    chunk.data_ = bytes.substr(header_bytes, size);
    if (crc32(chunk.data_) != big_endian<std::uint32_t>(bytes.data() + crc_at)) {
        return fail(Errc::Corrupt, "chunk {} does not match its checksum", chunk.first_offset_);
    }
    return chunk;
}

Result<bool> Chunk::next(Entry& entry) {
    while (true) {
        if (batch_left_ > 0) {
            return next_of_batch(entry);
        }
        if (entries_left_ == 0) {
            return finish();
        }
        --entries_left_;
        auto is_batch = !data_.empty() && (static_cast<unsigned char>(data_[0]) & batch_bit) != 0;
        if (is_batch) {
            if (TRY(begin_batch(entry))) {
                return true;
            }
            continue;
        }
        if (!take_sized(data_, entry.bytes)) {
            return fail(Errc::Corrupt, "message {} of chunk {} is cut short", next_offset_,
                        first_offset_);
        }
        entry.offset = next_offset_++;
        entry.records = 1;
        entry.compression = Compression::None;
        return true;
    }
}

/// True when it is compressed, and an entry as a whole.
Result<bool> Chunk::begin_batch(Entry& entry) {
    if (data_.size() < batch_header_bytes) {
        return fail(Errc::Corrupt, "a batch of chunk {} is cut short", first_offset_);
    }
    auto compression = (static_cast<unsigned char>(data_[0]) >> 4U) & 7U;
    auto records = big_endian<std::uint16_t>(data_.data() + 1);
    data_.remove_prefix(batch_header_bytes - size_bytes);
    auto bytes = std::string_view{};
    if (!take_sized(data_, bytes)) {
        return fail(Errc::Corrupt, "a batch of chunk {} is cut short", first_offset_);
    }
    if (compression == 0) {
        batch_ = bytes;
        batch_left_ = records;
        return false;
    }
    entry = {.offset = next_offset_,
             .records = records,
             .compression = static_cast<Compression>(compression),
             .bytes = bytes};
    next_offset_ += records;
    return true;
}

Result<bool> Chunk::next_of_batch(Entry& entry) {
    entry.records = 1;
    entry.compression = Compression::None;
    if (!take_sized(batch_, entry.bytes)) {
        return fail(Errc::Corrupt, "message {} in a batch of chunk {} is cut short", next_offset_,
                    first_offset_);
    }
    entry.offset = next_offset_++;
    --batch_left_;
    return true;
}

Result<bool> Chunk::finish() const {
    if (next_offset_ != end_offset()) {
        return fail(Errc::Corrupt, "chunk {} has {} messages and says {}", first_offset_,
                    next_offset_ - first_offset_, records_);
    }
    return false;
}

} // namespace sluice::connector::amqp::internal::stream
