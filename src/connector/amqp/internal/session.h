#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "connector/amqp/internal/lane.h"
#include "connector/amqp/internal/stream_start.h"
#include "connector/amqp/options.h"
#include "event/source.h"

namespace sluice::connector::amqp::internal {

/// Queues that are read together, each on a lane of its own, and how a stream is read on from a
/// position. One thread at a time. Lost with its connection: another is opened then.
class Session {
public:
    using Deadline = std::chrono::steady_clock::time_point;

    virtual ~Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Reads from behind this number. Fails with NotFound when the queue, or what comes next, is
    /// gone; with Unavailable when the session is lost; with Unsupported when a session of another
    /// protocol has to read it.
    virtual Result<void> attach(const std::string& queue, std::uint64_t position);
    /// What was not acknowledged goes back to the queue.
    void detach(const std::string& queue);
    /// Takes in what comes, until about so many bytes wait or nothing more is there just now.
    Result<void> pump(std::size_t bytes_max, Deadline deadline);
    /// Of the queue that has waited longest.
    std::optional<event::Chunk> take();
    /// All up to this number may be forgotten by the broker, which hears it with `flush`.
    virtual void confirm(std::string_view /*queue*/, std::uint64_t /*number*/) {}
    /// Tells the broker what it is owed, so that it sends more.
    virtual Result<void> flush() = 0;
    /// For those who have not pumped for a while.
    virtual Result<void> keep_alive() = 0;
    virtual void close() = 0;

    /// The number of a message at this end of each stream; none where nothing came in this time.
    Result<std::map<std::string, std::uint64_t>> probe(std::span<const std::string> streams,
                                                       StreamStart::At end, Nanos wait);

protected:
    static constexpr auto bytes_unbounded = std::numeric_limits<std::size_t>::max();

    explicit Session(const Options& options) : options_(options) {}

    virtual Lane* find(std::string_view queue) = 0;
    /// `prefetch` messages at a time. Without a start it is no stream.
    virtual Result<Lane*> open_lane(Lane::Settings settings, const StreamStart* start,
                                    std::uint16_t prefetch) = 0;
    virtual void end_lane(Lane& lane) = 0;
    /// Takes in what comes next, about so many bytes of it; false when nothing came in this time.
    virtual Result<bool> receive(std::size_t bytes_max, Nanos wait) = 0;

    void close_lane(Lane& lane);
    /// To be called after a lane may have got something.
    void note(Lane& lane);
    const Options& options() const { return options_; }

private:
    Result<void> attach_stream(const std::string& stream, std::uint64_t position);
    /// What has come by now; waits for the first until then.
    Result<void> drain(std::size_t bytes_max, Deadline deadline);
    /// Until each has had a message, or this time is over.
    Result<void> wait_for_first(std::span<Lane* const> lanes, Nanos wait);
    Result<void> check_made_anew(Lane& lane);
    Result<void> check_next_is_there(const std::string& stream, std::uint64_t position);
    Result<void> check_gaps();

    Options options_;
    std::deque<Lane*> waiting_;
    std::size_t waiting_bytes_ = 0;
    std::size_t waiting_count_ = 0;
    bool is_busy_ = false; ///< Much came last time.
    std::vector<Lane*> gaps_;
};

} // namespace sluice::connector::amqp::internal
