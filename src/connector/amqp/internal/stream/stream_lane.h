#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "connector/amqp/internal/lane.h"
#include "connector/amqp/internal/stream/chunk.h"
#include "connector/amqp/internal/stream/message_sections.h"

namespace sluice::connector::amqp::internal::stream {

/// One stream by one subscription: takes its chunks apart, as much at a time as is wanted.
class StreamLane final : public Lane {
public:
    StreamLane(Settings settings, std::uint8_t subscription, std::uint16_t prefetch);

    /// A chunk as it was delivered, the one before being done with; its bytes stay there until this
    /// one is. Fails with NotFound when the stream is not the one that was read, and with
    /// Unavailable when the bytes are wrong.
    Result<void> begin(std::string_view bytes);
    /// Adds about so many bytes of it; true when it is done with.
    Result<bool> unpack(std::size_t bytes_max);

    std::uint8_t subscription() const { return subscription_; }
    /// How many chunks the broker may be asked for now. They count as asked for.
    std::uint16_t take_credit();

private:
    Result<void> add_entry(const Entry& entry);

    std::uint8_t subscription_ = 0;
    std::uint16_t prefetch_ = 0;
    Chunk chunk_;
    SectionReader reader_;
    bool has_begun_ = false;           ///< A chunk has come.
    std::uint32_t awaited_chunks_ = 0; ///< Asked for, and not come yet.
    std::uint32_t chunk_records_ = 0;  ///< Messages of the last chunk.
};

} // namespace sluice::connector::amqp::internal::stream
