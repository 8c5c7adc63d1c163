#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connector/amqp/internal/session.h"
#include "connector/amqp/internal/stream/link.h"

namespace sluice::connector::amqp::internal::stream {

/// Streams that are read by RabbitMQ's stream protocol, each over a link to a node that has it.
class StreamSession final : public Session {
public:
    /// Fails when the broker is not reached by this protocol.
    static Result<std::unique_ptr<Session>> open(const Options& options);

    Result<void> flush() override;
    Result<void> keep_alive() override;
    void close() override;

private:
    explicit StreamSession(const Options& options) : Session(options) {}

    Lane* find(std::string_view queue) override;
    Result<Lane*> open_lane(Lane::Settings settings, const StreamStart* start,
                            std::uint16_t prefetch) override;
    void end_lane(Lane& lane) override;
    Result<bool> receive(std::size_t bytes_max, Nanos wait) override;

    Result<bool> receive_now(std::size_t bytes_max);
    Result<void> wait_for_any(Nanos wait);
    Result<Link*> link_for(const std::string& stream);
    Result<Link*> link_to(const Node& node);
    Result<Link*> add_link(const Node& node);
    Result<StreamPlaces> explain(const std::string& stream, const Error& refusal) const;

    std::vector<std::unique_ptr<Link>> links_; ///< The first is to the node that the options name.
    std::size_t last_link_ = 0;                ///< What came last came from it.
};

} // namespace sluice::connector::amqp::internal::stream
