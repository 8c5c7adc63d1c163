#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connector/amqp/internal/connection.h"
#include "connector/amqp/internal/queue_lane.h"
#include "connector/amqp/internal/session.h"

namespace sluice::connector::amqp::internal {

/// Queues and streams that are read by AMQP 0.9.1 over one connection, each on a channel of its
/// own.
class QueueSession final : public Session {
public:
    static Result<std::unique_ptr<Session>> open(const Options& options);

    Result<void> attach(const std::string& queue, std::uint64_t position) override;
    void confirm(std::string_view queue, std::uint64_t number) override;
    Result<void> flush() override;
    Result<void> keep_alive() override;
    void close() override { connection_.close(); }

private:
    QueueSession(const Options& options, Connection connection);

    Lane* find(std::string_view queue) override { return find_lane(queue); }
    Result<Lane*> open_lane(Lane::Settings settings, const StreamStart* start,
                            std::uint16_t prefetch) override;
    void end_lane(Lane& lane) override;
    Result<bool> receive(std::size_t bytes_max, Nanos wait) override;

    QueueLane* find_lane(std::string_view queue);
    Result<void> attach_queue(const std::string& queue, std::uint64_t position);
    Result<void> prepare_queue(amqp_channel_t channel);
    Result<void> handle(const amqp_frame_t& frame);
    Result<void> grant_credit(QueueLane& lane);

    Connection connection_;
    std::vector<std::unique_ptr<QueueLane>> lanes_; ///< By channel; those that are free are null.
    std::uint64_t tags_given_ = 0;
};

} // namespace sluice::connector::amqp::internal
