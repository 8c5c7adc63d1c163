#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "connector/nats/binding.h"
#include "event/producer.h"

namespace sluice::connector::nats::internal {

/// An event that is sent and not yet confirmed.
struct Sent {
    std::string subject;
    std::string key;
    Encoded message;
    event::Producer::Done done; ///< Empty: it is settled.
    Nanos until{0};

    std::size_t bytes() const { return subject.size() + key.size() + message.body.size() + 256; }
};

/// Events under way, in the order in which they were sent, each under a number from 1.
class Flight {
public:
    std::uint64_t add(Sent sent);
    /// Those that are not settled, oldest first.
    template <typename Use>
    void each(Use use) {
        for (auto at = std::size_t{0}; at < sent_.size(); ++at) {
            if (sent_[at].done) {
                use(first_ + at, sent_[at]);
            }
        }
    }
    /// Null: there is none of that number any more.
    const Sent* find(std::uint64_t number) const;
    /// Takes one out.
    event::Producer::Done settle(std::uint64_t number);
    /// Takes out what has waited too long, and what was sent behind it to the same place.
    std::vector<event::Producer::Done> expire(Nanos now);
    std::vector<event::Producer::Done> settle_all();
    /// All up to this number.
    std::vector<event::Producer::Done> settle_up_to(std::uint64_t number);

    std::uint64_t last() const { return first_ + sent_.size() - 1; }
    std::size_t count() const { return count_; }
    std::size_t bytes() const { return bytes_; }

private:
    event::Producer::Done take(Sent& sent);
    void trim();

    std::deque<Sent> sent_;
    std::uint64_t first_ = 1; ///< The number of the front.
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
};

} // namespace sluice::connector::nats::internal
