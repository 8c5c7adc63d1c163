#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "connector/amqp/internal/binding.h"
#include "connector/amqp/internal/connection.h"
#include "connector/amqp/options.h"
#include "event/producer.h"

namespace sluice::connector::amqp::internal {

/// An event that was sent to us, until the broker has it or it has failed.
struct Pending {
    event::Outgoing event;
    event::Producer::Done done;
    std::chrono::steady_clock::time_point sent_at;

    std::size_t bytes() const {
        return sizeof(Pending) + event.to.size() + event.key.size() + event.json.size();
    }
};

/// What became of one.
struct Outcome {
    Outcome(Pending pending, Result<void> outcome)
        : bytes(pending.bytes()), done(std::move(pending.done)), result(std::move(outcome)) {}

    std::size_t bytes = 0;
    event::Producer::Done done;
    Result<void> result;
};

/// A connection that publishes, and hears what was confirmed. One thread; lost with its
/// connection.
class Publisher {
public:
    static Result<Publisher> open(const Options& options);

    /// Whether it may be published already: the first for each place goes alone, since a broker
    /// that has just started may send it back and take the next.
    bool is_free(const Pending& pending) const;
    /// It waits for its confirmation from now on; also when this fails.
    Result<void> publish(Pending pending);
    /// Takes in what the broker has said until now. What is decided goes to `outcomes`.
    Result<void> hear(std::vector<Outcome>& outcomes);
    /// What was sent before this moment and is not confirmed has failed.
    void give_up(std::chrono::steady_clock::time_point before, std::vector<Outcome>& outcomes);
    /// Fails when the broker does not confirm the first message to a place: what comes behind it
    /// would wait for as long as the channel is open.
    Result<void> check_answers(std::chrono::steady_clock::time_point now) const;
    /// What was not confirmed, in the order it was sent.
    std::deque<Pending> take_unconfirmed();

    std::size_t unconfirmed() const { return window_.size() - settled_; }
    /// The broker has too little memory or disk, and asks for quiet.
    bool is_blocked() const { return is_blocked_; }
    int descriptor() const { return connection_.descriptor(); }
    void hold(bool is_held) { connection_.hold(is_held); }
    void close() { connection_.close(); }

private:
    struct Sent {
        Pending pending;
        bool is_settled = false;
        bool is_returned = false;
        std::string reason{}; ///< Why it was returned.
    };

    /// Where messages go.
    struct Place {
        std::chrono::steady_clock::time_point first_published_at;
        bool is_confirmed = false; ///< One was.
    };

    Publisher(const Options& options, Connection connection);

    Result<void> handle(const amqp_frame_t& frame, std::vector<Outcome>& outcomes);
    Result<void> handle_method(const amqp_method_t& method, std::vector<Outcome>& outcomes);
    void settle(std::uint64_t tag, bool is_multiple, std::vector<Outcome>& outcomes);
    void settle_one(Sent& sent, std::vector<Outcome>& outcomes);
    void drop_settled();
    const std::string& place_of(const Pending& pending) const;
    Result<void> note_returned(std::string_view message_id);
    Result<void> check_queue_is_missing(const std::string& queue);

    Options options_;
    Connection connection_;
    MessageWriter writer_;
    event::Codec codec_;
    std::deque<Sent> window_;
    std::uint64_t first_tag_ = 1; ///< Of the window's first.
    std::size_t settled_ = 0;     ///< In the window, behind one that is not.
    bool is_blocked_ = false;
    /// A message that came back: its method, until its header tells which one it was.
    std::optional<std::pair<std::string, std::string>> returned_; ///< Routing key and reason.
    boost::unordered_flat_map<std::string, Place> places_;        ///< That got a message already.
    std::set<std::string> missing_; ///< Queues that are not there, and not just without a leader.
};

} // namespace sluice::connector::amqp::internal
