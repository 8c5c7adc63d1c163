#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "engine/lane.h"
#include "reactor/mailbox.h"

namespace sluice::engine {

/// A lane with a thread and a mailbox.
class LaneThread {
public:
    LaneThread(store::Store& store, Committer& committer, LaneOutputs outputs, LaneLimits limits,
               observe::Diagnostics& diagnostics, std::string name);
    ~LaneThread();

    /// Before `start` only.
    void add(std::unique_ptr<Shard> shard, Release left) {
        lane_.add(std::move(shard), std::move(left));
    }
    using Order = std::move_only_function<void(Lane&)>;
    /// Has something done on the lane's thread, behind what was posted; dropped once it stops. From
    /// any thread.
    void order(Order order) { mailbox_.push_unbounded(std::move(order)); }
    /// Has it give up its shards, behind what was posted; dropped once it stops. From any thread.
    void lose(const Error& error, std::function<void()> done);
    /// It was told to give up its shards, and has not come to it yet. From any thread.
    bool is_losing() const { return losses_ > 0; }
    void start();
    /// Finishes what was taken; twice is safe.
    void stop();

    /// From any thread, its own included.
    void post(Input&& input);
    /// Waits for room: never from a lane's thread.
    void push(Input&& input);
    LaneStats stats() const { return lane_.stats(); }

private:
    struct Returned {
        std::unique_ptr<Commit> commit;
        Result<void> result;
    };
    struct Stop {};
    using Mail = std::variant<Input, Returned, Stop, Order>;

    void run();
    /// What came since, its own posts included.
    void collect(std::vector<Input>& inputs);
    void refuse_rest();
    /// Until there is something to do.
    void wait();

    Lane lane_;
    std::string name_;
    reactor::Mailbox<Mail> mailbox_;
    std::vector<Input> own_; ///< What the lane posts to itself: no lock, no waking.
    std::atomic<std::thread::id> thread_id_;
    std::atomic<std::uint64_t> losses_ = 0; ///< Ordered, and not yet done.
    std::chrono::steady_clock::time_point next_sweep_;
    std::vector<Mail> mail_;
    bool is_stopping_ = false; ///< The lane's thread alone.
    std::jthread thread_;
};

} // namespace sluice::engine
