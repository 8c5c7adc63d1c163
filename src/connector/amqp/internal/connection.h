#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <amqp.h>

#include "base/clock.h"
#include "base/result.h"
#include "connector/amqp/internal/stream_start.h"
#include "connector/amqp/options.h"

namespace sluice::connector::amqp::internal {

/// A connection to a broker, logged in. One thread at a time. An error of Unavailable, and any on
/// channel 0, means that it is lost; other errors close their channel alone.
class Connection {
public:
    /// The purpose is what operators see in the broker's list of connections.
    static Result<Connection> open(const Options& options, std::string_view purpose);

    Result<void> open_channel(amqp_channel_t channel);
    void close_channel(amqp_channel_t channel);
    /// The type decides the arguments.
    Result<void> declare_queue(amqp_channel_t channel, const std::string& name,
                               const Options& options);
    Result<void> bind_queue(amqp_channel_t channel, const Options& options);
    Result<void> delete_queue(amqp_channel_t channel, const std::string& name);
    /// Messages ready in a queue that is there; of a stream all it holds, some seconds old.
    Result<std::uint32_t> count_messages(amqp_channel_t channel, const std::string& name);
    Result<void> consume(amqp_channel_t channel, const std::string& queue, const std::string& tag,
                         std::uint16_t prefetch, const StreamStart* start);
    /// From now on each message is confirmed.
    Result<void> select_confirms(amqp_channel_t channel);

    /// The next frame; false when none came in this time. It lives until `release`.
    Result<bool> next(amqp_frame_t& frame, Nanos wait);
    /// What frames of this channel refer to is used again.
    void release(amqp_channel_t channel) {
        amqp_maybe_release_buffers_on_channel(state_.get(), channel);
    }
    Result<void> acknowledge(amqp_channel_t channel, std::uint64_t tag);
    Result<void> publish(amqp_channel_t channel, std::string_view exchange, std::string_view key,
                         const amqp_basic_properties_t& properties, std::string_view body);
    Result<void> send_heartbeat();
    /// Takes leave of the broker, waiting no more than a second for its answer.
    void close();
    /// While it is held, what is written leaves in full packets.
    void hold(bool is_held);

    int descriptor() const { return amqp_get_sockfd(state_.get()); }
    bool has_data() const {
        return amqp_frames_enqueued(state_.get()) != 0 || amqp_data_in_buffer(state_.get()) != 0;
    }
    std::uint16_t channels_max() const { return channels_max_; }
    amqp_connection_state_t state() const { return state_.get(); }

private:
    struct Destroy {
        void operator()(amqp_connection_state_t state) const { amqp_destroy_connection(state); }
    };
    using State = std::unique_ptr<amqp_connection_state_t_, Destroy>;

    explicit Connection(State state) : state_(std::move(state)) {}

    Result<void> check(amqp_channel_t channel);

    State state_;
    std::uint16_t channels_max_ = 0;
};

} // namespace sluice::connector::amqp::internal
