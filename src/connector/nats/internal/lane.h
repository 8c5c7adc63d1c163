#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "connector/nats/pull_window.h"
#include "connector/nats/streams.h"
#include "event/message.h"

namespace sluice::connector::nats::internal {

/// The longest that a call of JetStream's API may hold up a read.
inline constexpr auto call_time_max = Nanos{std::chrono::seconds{1}};

/// A partition that is being read.
struct Lane {
    std::string partition;
    std::string stream;
    std::uint64_t id = 0;   ///< In the subjects that its answers come to.
    std::uint64_t read = 0; ///< The last number that was taken.

    bool is_open = false; ///< There is a consumer to ask.
    Consumer consumer{};
    std::uint64_t consumer_read = 0; ///< What the consumer counts; the next has to be one more.
    std::uint64_t pending = 0;
    PullWindow window{};
    Nanos heard_at{0};

    event::ChunkBuilder builder{}; ///< Taken, and not yet given to the reader.
    /// Behind this number some were missing: trimmed, or just deleted?
    std::optional<std::uint64_t> gap_behind{};

    Nanos open_at{0}; ///< Not to be tried before.
    std::uint64_t failures = 0;
    std::string trouble{};

    /// Of consumers with acknowledgements: number, and where its acknowledgement goes.
    std::deque<std::pair<std::uint64_t, std::string>> unconfirmed{};

    void close() {
        is_open = false;
        window.reset();
    }
};

} // namespace sluice::connector::nats::internal
