#include "connector/amqp/internal/session_opener.h"

#include <utility>

#include "connector/amqp/internal/connection.h"
#include "connector/amqp/internal/queue_session.h"
#include "connector/amqp/internal/stream/stream_session.h"

namespace sluice::connector::amqp::internal {

namespace {

constexpr auto declaring_channel = amqp_channel_t{1};

/// A user's own stream may be ours to make, which the stream protocol cannot do as AMQP does.
Result<void> declare(const Options& options) {
    if (!options.is_declared) {
        return {};
    }
    auto connection = TRY(Connection::open(options, "sluice source"));
    TRY(connection.open_channel(declaring_channel));
    TRY(connection.declare_queue(declaring_channel, options.queue, options));
    if (!options.exchange.empty()) {
        TRY(connection.bind_queue(declaring_channel, options));
    }
    connection.close();
    return {};
}

} // namespace

Result<std::unique_ptr<Session>> SessionOpener::open() {
    auto is_by_stream = options_.type == QueueType::Stream && options_.effective_stream_port() != 0;
    if (!is_by_stream || std::exchange(is_avoided_, false)) {
        return QueueSession::open(options_);
    }
    auto session = stream::StreamSession::open(options_);
    if (session) {
        TRY(declare(options_));
        return session;
    }
    auto other = TRY(QueueSession::open(options_));
    tell(session.error());
    return other;
}

void SessionOpener::avoid_stream_protocol(const Error& why) {
    is_avoided_ = true;
    tell(why);
}

void SessionOpener::tell(const Error& why) {
    if (!std::exchange(is_told_, true)) {
        diagnostics_.warn("streams are read by amqp, which is slower",
                          {{"broker", options_.place()},
                           {"why", why.message},
                           {"help",
                            "rabbitmq-plugins enable rabbitmq_stream, and let stream_port "
                            "name its port; stream_port 0 is for those who want it so"}});
    }
}

} // namespace sluice::connector::amqp::internal
