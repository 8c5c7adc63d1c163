#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace sluice::connector::amqp::internal::stream {

/// How the messages of a batch were packed. The numbers are the protocol's.
enum class Compression : std::uint8_t { None, Gzip, Snappy, Lz4, Zstd };

/// A message, or a batch that is compressed and stays as it is.
struct Entry {
    std::uint64_t offset = 0;  ///< Of its first message.
    std::uint32_t records = 1; ///< Messages in it.
    Compression compression = Compression::None;
    std::string_view bytes;
};

/// What a broker stores and delivers at a time: some messages with their checksum. Views of the
/// bytes it was made of.
class Chunk {
public:
    /// Fails with Corrupt when it is cut short, or its data does not match the checksum.
    static Result<Chunk> parse(std::string_view bytes);

    /// Otherwise it holds the stream's own records.
    bool has_messages() const { return has_messages_; }
    std::uint64_t first_offset() const { return first_offset_; }
    /// What the next chunk begins with, or less.
    std::uint64_t end_offset() const { return first_offset_ + records_; }
    std::uint32_t records() const { return records_; }

    /// The next one; false behind the last. Fails with Corrupt when they are not as many as the
    /// chunk says, or are cut short.
    Result<bool> next(Entry& entry);

private:
    Result<bool> next_of_batch(Entry& entry);
    Result<bool> begin_batch(Entry& entry);
    Result<bool> finish() const;

    bool has_messages_ = false;
    std::uint64_t first_offset_ = 0;
    std::uint32_t records_ = 0;

    std::string_view data_; ///< What was not given yet.
    std::uint32_t entries_left_ = 0;
    std::string_view batch_;
    std::uint32_t batch_left_ = 0;
    std::uint64_t next_offset_ = 0;
};

} // namespace sluice::connector::amqp::internal::stream
