#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "event/codec.h"
#include "event/message.h"
#include "resp/commands.h"
#include "resp/reply.h"

namespace sluice::connector::redis {

/// How an event is laid out in an entry of a stream; docs/reference/buses/redis.md defines it.
enum class Mode : std::uint8_t {
    Structured, ///< One field, `event`: the event as JSON.
    Binary,     ///< A field `ce_NAME` for each attribute, `content-type`, and `data`.
};

/// Reads the fields of entries into a chunk. What is no event becomes a record with a fault.
class EntryReader {
public:
    void read(std::uint64_t number, const resp::Reply& fields, event::ChunkBuilder& into);

private:
    std::vector<std::pair<std::string_view, std::string_view>> attributes_;
};

/// Writes the command that appends an event. InvalidInput when binary mode cannot have it.
class EntryWriter {
public:
    explicit EntryWriter(Mode mode) : mode_(mode) {}
    /// `length_max` 0: the stream is not cut.
    Result<void> write(std::string_view stream, std::string_view json, std::uint64_t length_max,
                       resp::Commands& out);

private:
    Result<void> write_binary(std::string_view stream, std::string_view json,
                              std::uint64_t length_max, resp::Commands& out);

    Mode mode_;
    event::Codec codec_;
};

} // namespace sluice::connector::redis
