#include "connector/amqp/internal/queue_lag.h"

#include "connector/amqp/internal/connection.h"
#include "connector/amqp/internal/session.h"

namespace sluice::connector::amqp::internal {

namespace {

constexpr auto counting_channel = amqp_channel_t{1};

/// Streams count what they hold, and retention moves their beginning.
Result<std::uint64_t> stream_lag(Session& session, const std::string& stream, std::uint64_t held,
                                 std::uint64_t position) {
    if (held == 0) {
        return 0;
    }
    auto first = TRY(session.first_number(stream));
    auto end = first + held;
    return end > position + 1 ? end - position - 1 : 0;
}

} // namespace

Result<std::uint64_t> count_lag(const Options& options,
                                const std::map<std::string, std::uint64_t>& positions) {
    auto connection = TRY(Connection::open(options, "sluice lag"));
    TRY(connection.open_channel(counting_channel));
    auto session = std::unique_ptr<Session>{};
    auto is_stream = options.type == QueueType::Stream;
    if (is_stream) {
        auto reading = options;
        reading.is_declared = false;
        session = TRY(Session::open(reading));
    }
    auto total = std::uint64_t{0};
    for (const auto& [name, position] : positions) {
        auto count = std::uint64_t{TRY(connection.count_messages(counting_channel, name))};
        total += is_stream ? TRY(stream_lag(*session, name, count, position)) : count;
        connection.release(counting_channel);
    }
    connection.close();
    if (session) {
        session->close();
    }
    return total;
}

} // namespace sluice::connector::amqp::internal
