#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "connector/amqp/internal/back_off.h"
#include "connector/amqp/internal/publisher.h"
#include "event/producer.h"
#include "observe/diagnostics.h"

namespace sluice::connector::amqp::internal {

/// A publisher on a thread of its own, made anew when it is lost.
class QueueProducer final : public event::Producer {
public:
    QueueProducer(const Options& options, observe::Diagnostics& diagnostics);
    ~QueueProducer() override;

    void send(event::Outgoing event, Done done) override;
    Result<void> flush(Nanos wait) override;

private:
    using Steady = std::chrono::steady_clock;
    using Outcomes = std::vector<Outcome>;

    void run(); ///< The thread.
    bool take_queued();
    void connect(Outcomes& outcomes);
    Result<void> publish_some();
    void lose_publisher(const Error& why, Outcomes& outcomes);
    void give_up_old(Outcomes& outcomes);
    void report(Outcomes& outcomes);
    void wait_for_work();
    void stop(Outcomes& outcomes);
    bool has_room() const;
    void set_descriptor(int descriptor);
    void set_trouble(std::string trouble);
    void wake() const;

    const Options options_;
    observe::Diagnostics& diagnostics_;
    const int wake_descriptor_;

    std::mutex mutex_;
    std::condition_variable changed_; ///< There is room, or all is done.
    std::deque<Pending> queued_;
    std::size_t bytes_ = 0; ///< Of everything sent and not done.
    std::size_t count_ = 0;
    bool is_stopping_ = false;
    bool is_asleep_ = false; ///< The thread wants to hear of what is sent.
    int descriptor_ = -1;    ///< Of the publisher, to be cut when it hangs.
    std::string trouble_;

    // The thread's own.
    std::deque<Pending> ready_;
    std::optional<Publisher> publisher_;
    BackOff back_off_;
    Steady::time_point next_attempt_{};
    Steady::time_point next_review_{}; ///< When to look for what has waited too long.

    std::thread thread_;
};

} // namespace sluice::connector::amqp::internal
