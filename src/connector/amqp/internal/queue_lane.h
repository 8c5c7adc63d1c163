#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <amqp.h>

#include "base/result.h"
#include "connector/amqp/internal/binding.h"
#include "connector/amqp/internal/lane.h"

namespace sluice::connector::amqp::internal {

/// One queue on one channel of AMQP 0.9.1: puts its messages together frame by frame.
class QueueLane final : public Lane {
public:
    /// The tag is its consumer's: what is meant for another is dropped.
    QueueLane(Settings settings, std::string tag, amqp_channel_t channel);

    /// True when a message is complete, and nothing refers to its frames any more. Fails when the
    /// queue is not of the type it was said to be.
    Result<bool> take(const amqp_frame_t& frame);

    amqp_channel_t channel() const { return channel_; }
    std::uint64_t last_tag() const { return last_tag_; }
    /// Of a number that was counted on this lane; 0 when it was before.
    std::uint64_t tag_of(std::uint64_t number) const { return number > base_ ? number - base_ : 0; }

    /// What was taken and not yet paid for with an acknowledgement.
    std::uint64_t credited_tag = 0;
    /// Acknowledged once it is durable.
    std::uint64_t confirmed_tag = 0;

private:
    enum class Awaited : std::uint8_t { Method, Header, Body };

    Result<bool> take_header(const amqp_frame_t& frame);
    Result<bool> take_body(std::string_view part);
    Result<std::uint64_t> number_of(const amqp_basic_properties_t& properties) const;
    void finish(std::string_view body);

    std::string tag_;
    amqp_channel_t channel_ = 0;
    std::uint64_t base_ = 0; ///< Deliveries are counted on from here.
    MessageReader reader_;

    Awaited awaited_ = Awaited::Method;
    bool is_ours_ = false;      ///< Not of an earlier consumer.
    bool is_oversized_ = false; ///< Its beginning is kept, for people.
    const amqp_basic_properties_t* properties_ = nullptr;
    std::uint64_t number_ = 0;
    std::uint64_t body_size_ = 0;
    std::uint64_t body_taken_ = 0;
    std::string body_; ///< Of messages in several frames.

    std::uint64_t last_tag_ = 0;
};

} // namespace sluice::connector::amqp::internal
