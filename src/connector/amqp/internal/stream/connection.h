#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "connector/amqp/internal/stream/commands.h"
#include "connector/amqp/internal/stream/frame_buffer.h"
#include "connector/amqp/options.h"
#include "reactor/byte_stream.h"

namespace sluice::connector::amqp::internal::stream {

/// A connection to a node by the stream protocol, logged in. One thread at a time. All its errors
/// are Unavailable, and it is of no use after one.
class Connection {
public:
    static Result<Connection> open(const Options& options, const Node& at,
                                   std::string_view purpose);

    /// Where the node says that it is.
    const std::optional<Node>& node() const { return node_; }

    /// The next frame, when it is there: the same until `drop`, as are its bytes.
    Result<std::optional<Frame>> next();
    /// The same, waiting for it.
    Result<Frame> await(reactor::Deadline deadline);
    void drop() { buffer_.drop(); }

    std::uint32_t next_correlation() { return ++correlation_; }
    /// For commands, which leave with `send`.
    CommandWriter writer() { return CommandWriter{out_}; }
    Result<void> send();

    /// Says that we are there, when it is time to.
    Result<void> keep_alive();
    /// To be called when nothing is there to be read: fails when that has lasted for too long.
    Result<void> check_silence() const;
    /// So long at most may pass between two such calls.
    Nanos patience() const { return heartbeat_ / 4; }
    /// Takes leave of the broker, waiting no more than a second for its answer.
    void close();

    int raw() const { return stream_.raw(); }
    short reading_wants() const { return stream_.reading_wants(); }

private:
    using Steady = std::chrono::steady_clock;

    Connection(reactor::ByteStream stream, const Options& options, std::string place);

    Result<void> log_in(const Options& options, std::string_view purpose);
    std::unexpected<Error> lost(const Error& why) const;

    reactor::ByteStream stream_;
    std::string place_; ///< For people.
    Nanos heartbeat_{};
    FrameBuffer buffer_;
    std::string out_;
    std::optional<Node> node_;
    std::uint32_t correlation_ = 0;
    Steady::time_point last_sent_{};
    Steady::time_point last_received_{};
};

} // namespace sluice::connector::amqp::internal::stream
