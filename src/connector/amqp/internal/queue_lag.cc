#include "connector/amqp/internal/queue_lag.h"

#include <algorithm>
#include <vector>

#include "connector/amqp/internal/connection.h"
#include "connector/amqp/internal/queue_session.h"

namespace sluice::connector::amqp::internal {

namespace {

constexpr auto counting_channel = amqp_channel_t{1};
// Streams that are empty send nothing.
constexpr auto probe_wait = std::chrono::milliseconds{300};

using Numbers = std::map<std::string, std::uint64_t>;

std::uint64_t number_in(const Numbers& numbers, const std::string& name) {
    auto found = numbers.find(name);
    return found == numbers.end() ? 0 : found->second;
}

Result<Numbers> count_held(const Options& options, const Numbers& positions) {
    auto connection = TRY(Connection::open(options, "sluice lag"));
    TRY(connection.open_channel(counting_channel));
    auto held = Numbers{};
    for (const auto& [name, position] : positions) {
        held.emplace(name, TRY(connection.count_messages(counting_channel, name)));
        connection.release(counting_channel);
    }
    connection.close();
    return held;
}

/// What a stream holds is counted every few seconds, and retention moves its beginning. What was
/// written last is seen at once, but not how much follows it in the same chunk. The larger counts.
Result<std::uint64_t> count_behind(const Options& options, const Numbers& positions,
                                   const Numbers& held) {
    auto reading = options;
    reading.is_declared = false;
    auto session = TRY(QueueSession::open(reading));
    auto names = std::vector<std::string>{};
    for (const auto& [name, position] : positions) {
        names.push_back(name);
    }
    auto firsts = TRY(session->probe(names, StreamStart::At::First, probe_wait));
    auto lasts = TRY(session->probe(names, StreamStart::At::Last, probe_wait));
    session->close();
    auto total = std::uint64_t{0};
    for (const auto& [name, position] : positions) {
        auto first = number_in(firsts, name);
        auto counted = first == 0 ? 0 : first + number_in(held, name) - 1;
        auto end = std::max(counted, number_in(lasts, name));
        total += end > position ? end - position : 0;
    }
    return total;
}

} // namespace

Result<std::uint64_t> count_lag(const Options& options, const Numbers& positions) {
    auto held = TRY(count_held(options, positions));
    if (options.type == QueueType::Stream) {
        return count_behind(options, positions, held);
    }
    auto total = std::uint64_t{0};
    for (const auto& [name, count] : held) {
        total += count;
    }
    return total;
}

} // namespace sluice::connector::amqp::internal
