#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "connector/amqp/internal/connection.h"
#include "connector/amqp/internal/lane.h"
#include "connector/amqp/options.h"
#include "event/source.h"

namespace sluice::connector::amqp::internal {

/// The queues that are read over one connection, each on a channel of its own. One thread at a
/// time. Lost with its connection: another is opened then.
class Session {
public:
    using Deadline = std::chrono::steady_clock::time_point;

    static Result<std::unique_ptr<Session>> open(const Options& options);

    /// Reads from behind this number. Fails with NotFound when the queue, or what comes next, is
    /// gone; with Unavailable when the session is lost.
    Result<void> attach(const std::string& queue, std::uint64_t position);
    /// What was not acknowledged goes back to the queue.
    void detach(const std::string& queue);
    /// Takes in what comes, until about so many bytes wait or nothing more is there just now.
    Result<void> pump(std::size_t bytes_max, Deadline deadline);
    /// Of the queue that has waited longest.
    std::optional<event::Chunk> take();
    /// All up to this number may be forgotten by the broker, which hears it with `flush`.
    void confirm(std::string_view queue, std::uint64_t number);
    Result<void> flush();
    /// For those who have not pumped for a while.
    Result<void> keep_alive();
    void close() { connection_.close(); }

    /// The number of a message at this end of each stream; none where nothing came in this time.
    Result<std::map<std::string, std::uint64_t>> probe(std::span<const std::string> streams,
                                                       StreamStart::At end, Nanos wait);

private:
    Session(const Options& options, Connection connection);

    Lane* find(std::string_view queue);
    Result<Lane*> open_lane(Lane::Settings settings, const StreamStart* start,
                            std::uint16_t prefetch);
    Result<void> attach_queue(const std::string& queue, std::uint64_t position);
    Result<void> attach_stream(const std::string& stream, std::uint64_t position);
    Result<void> prepare_queue(amqp_channel_t channel);
    void close_lane(Lane& lane);
    Result<void> handle(const amqp_frame_t& frame);
    Result<void> grant_credit(Lane& lane);
    /// What has come by now; waits for the first until then.
    Result<void> drain(std::size_t bytes_max, Deadline deadline);
    /// Until each has had a message, or this time is over.
    Result<void> wait_for_first(std::span<Lane* const> lanes, Nanos wait);
    Result<void> check_made_anew(Lane& lane);
    Result<void> check_next_is_there(const std::string& stream, std::uint64_t position);
    Result<void> check_gaps();

    Options options_;
    Connection connection_;
    std::vector<std::unique_ptr<Lane>> lanes_; ///< By channel; those that are free are null.
    std::deque<Lane*> waiting_;
    std::size_t waiting_bytes_ = 0;
    std::size_t waiting_count_ = 0;
    bool is_busy_ = false; ///< Much came last time.
    std::vector<amqp_channel_t> gaps_;
    std::uint64_t tags_given_ = 0;
};

} // namespace sluice::connector::amqp::internal
