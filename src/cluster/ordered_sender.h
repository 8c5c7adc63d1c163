#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "event/producer.h"
#include "reactor/scheduler.h"

namespace sluice::cluster {

/// Sends what shards tell each other, in order for each destination, again and again until the bus
/// has it: a receiver takes only the next number. From any thread.
class OrderedSender : public std::enable_shared_from_this<OrderedSender> {
public:
    /// Both outlive its use.
    OrderedSender(event::Producer& producer, reactor::Scheduler& timers)
        : producer_(producer), timers_(timers) {}

    void send(event::Outgoing message);
    /// Sends nothing more.
    void stop();

private:
    struct Sent {
        event::Outgoing message;
        bool is_there = false; ///< Kept all the same while one before it is not.
    };
    struct Destination {
        std::deque<event::Outgoing> waiting;
        std::map<std::uint64_t, Sent> under_way; ///< By the order they were sent in.
        bool is_sending = false;                 ///< A thread is at it: the others only add.
        bool has_failed = false; ///< What is under way comes back before anything is sent again.
    };

    void send_waiting(const std::string& to);
    void finish(const std::string& to, std::uint64_t order, bool is_there);
    static void note_there(Destination& destination, std::uint64_t order);
    void try_again(const std::string& to);

    event::Producer& producer_;
    reactor::Scheduler& timers_;
    std::mutex mutex_;
    bool is_stopped_ = false;
    std::uint64_t last_ = 0;
    std::map<std::string, Destination> destinations_;
};

} // namespace sluice::cluster
