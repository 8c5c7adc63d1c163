#include "connector/amqp/internal/queue_lane.h"

#include <utility>

#include <fmt/format.h>

#include "connector/amqp/internal/bytes.h"

namespace sluice::connector::amqp::internal {

namespace {

// Of a message that is too large, for a person to look at.
constexpr auto beginning_bytes_max = std::size_t{4096};

} // namespace

QueueLane::QueueLane(Settings settings, std::string tag, amqp_channel_t channel)
    : Lane(std::move(settings)), tag_(std::move(tag)), channel_(channel), base_(position()) {}

Result<bool> QueueLane::take(const amqp_frame_t& frame) {
    if (frame.frame_type == AMQP_FRAME_METHOD) {
        if (frame.payload.method.id != AMQP_BASIC_DELIVER_METHOD) {
            return false;
        }
        const auto* delivery =
            static_cast<const amqp_basic_deliver_t*>(frame.payload.method.decoded);
        is_ours_ = view_of(delivery->consumer_tag) == tag_;
        if (is_ours_) {
            last_tag_ = delivery->delivery_tag;
        }
        awaited_ = Awaited::Header;
        return false;
    }
    if (frame.frame_type == AMQP_FRAME_HEADER && awaited_ == Awaited::Header) {
        return take_header(frame);
    }
    if (frame.frame_type == AMQP_FRAME_BODY && awaited_ == Awaited::Body) {
        return take_body(view_of(frame.payload.body_fragment));
    }
    return false;
}

Result<bool> QueueLane::take_header(const amqp_frame_t& frame) {
    properties_ = static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded);
    body_size_ = frame.payload.properties.body_size;
    body_taken_ = 0;
    body_.clear();
    is_oversized_ = body_size_ > settings().limits.event_bytes_max;
    if (is_ours_) {
        number_ = TRY(number_of(*properties_));
    }
    awaited_ = Awaited::Body;
    if (body_size_ == 0) {
        finish({});
        return true;
    }
    return false;
}

Result<bool> QueueLane::take_body(std::string_view part) {
    body_taken_ += part.size();
    auto is_whole = body_taken_ >= body_size_;
    if (is_whole && body_.empty() && !is_oversized_) [[likely]] {
        finish(part);
        return true;
    }
    if (!is_oversized_) {
        body_ += part;
    } else if (body_.size() < beginning_bytes_max) {
        body_ += part.substr(0, beginning_bytes_max - body_.size());
    }
    if (is_whole) {
        finish(body_);
    }
    return is_whole;
}

Result<std::uint64_t> QueueLane::number_of(const amqp_basic_properties_t& properties) const {
    if (!is_numbered()) {
        return base_ + last_tag_;
    }
    auto offset = stream_offset(properties);
    if (!offset) {
        return fail(Errc::Conflict, "queue {} is no stream: say quorum or classic", name());
    }
    TRY(check(*offset + 1));
    return *offset + 1;
}

void QueueLane::finish(std::string_view body) {
    awaited_ = Awaited::Method;
    if (!is_ours_ || !admit(number_)) {
        return;
    }
    if (is_oversized_) {
        add_fault(number_, body,
                  fmt::format("the message has {} bytes: at most {} are taken", body_size_,
                              settings().limits.event_bytes_max));
        return;
    }
    add(number_, reader_.read(*properties_, body), body);
}

} // namespace sluice::connector::amqp::internal
