#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/clock.h"

namespace sluice::connector::nats {

/// How much of a consumer is asked for, so that the next messages are on their way while these are
/// taken, and never more lies here than a bound allows.
///
/// There are up to two requests: what the second brings is taken while the next is on its way.
class PullWindow {
public:
    struct Ask {
        std::uint64_t request = 0;
        std::uint64_t messages = 1;
        std::size_t bytes_max = 0; ///< 0: one message of any size.
    };
    /// What a consumer allows in one request; 0: anything.
    struct Bounds {
        std::uint64_t messages_max = 0;
        std::size_t bytes_max = 0;
    };

    void set_bytes(std::size_t bytes) { bytes_ = bytes; }
    void set_bounds(Bounds bounds) { bounds_ = bounds; }

    /// Whether to ask for more, given what lies here unread and what the consumer still has.
    std::optional<Ask> ask(std::uint64_t request, std::size_t unread_bytes, bool has_more);
    bool is_asking() const { return !requests_.empty(); }
    bool has(std::uint64_t request) const;
    /// A message came: of the oldest request, which its last one ends.
    void take(std::size_t bytes);
    /// Nothing more comes of that request.
    void end(std::uint64_t request);
    /// The next message does not fit in what the request allowed.
    void end_too_large(std::uint64_t request);
    void reset() { requests_.clear(); }

private:
    struct Request {
        std::uint64_t number = 0;
        std::uint64_t left = 0;
        bool is_fresh = true; ///< Nothing came of it yet.
    };

    std::size_t bytes_on_their_way() const;

    std::size_t bytes_ = std::size_t{1} << 20U;
    Bounds bounds_{};
    std::deque<Request> requests_;
    std::size_t message_bytes_ = 1024; ///< Of a message, on average.
    bool is_next_large_ = false;
};

} // namespace sluice::connector::nats
