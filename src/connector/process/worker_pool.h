#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connector/process/environment.h"
#include "connector/process/function.h"
#include "event/sink.h"
#include "observe/diagnostics.h"
#include "reactor/process_runner.h"
#include "reactor/scheduler.h"

namespace sluice::connector::process {

/// What functions stand on. All of it outlives them.
struct Services {
    reactor::ProcessRunner& runner;
    reactor::Scheduler& timers;
    observe::Diagnostics& diagnostics;
    const secret::Secrets* secrets = nullptr; ///< Null: there are none.
};

/// The workers of one function: processes that take calls as lines of JSON, one at a time each.
///
/// One is started when a call finds none idle, and never beyond the maximum. One that dies, breaks
/// the protocol, or is told to stop fails its call, once it is gone, and no other. Members may be
/// called from any thread.
class WorkerPool : public std::enable_shared_from_this<WorkerPool> {
public:
    using Done = event::Sink::Done;

    WorkerPool(Services services, std::string name, Function function);

    void deliver(event::Delivery delivery, Done done);
    /// Kills the workers that have a call with this token.
    void cancel(std::string_view token);
    /// Ends all workers, and refuses what comes or waits.
    void stop();

    std::size_t size() const;

private:
    struct Call {
        event::Delivery delivery;
        Done done;
    };
    struct Worker {
        reactor::ProcessId process;
        std::optional<Call> call;
        std::uint64_t call_id = 0; ///< Of the last one.
        std::uint64_t calls = 0;
        bool is_leaving = false;
        std::optional<event::Answer> verdict; ///< On its call, given when it is gone.
        std::optional<reactor::TimerId> idle_timer;
        std::optional<reactor::TimerId> timeout_timer;
        std::optional<reactor::TimerId> heartbeat_timer;
    };
    using Number = std::uint64_t;
    using Workers = std::map<Number, Worker>;

    // All of these hold the lock.
    void start_worker(Call call);
    void hand(Number number, Worker& worker, Call call);
    void rest(Number number, Worker& worker);
    void end(Worker& worker, std::string_view kind, std::string message);
    void hand_out_waiting();
    void expect_heartbeat(Number number, Worker& worker);
    void clear_timers(Worker& worker);
    template <typename Change>
    reactor::TimerId after(Nanos delay, Number number, Change change);

    void hear(Number number, std::string_view line);
    void note_end(Number number, const reactor::Outcome& outcome);

    const Services services_;
    const std::string name_;
    const Function function_;
    const Environment environment_;
    mutable std::mutex mutex_;
    bool has_stopped_ = false;
    Workers workers_;
    std::vector<Number> idle_; ///< The one that was busy last is last.
    std::deque<Call> waiting_; ///< Short: the dispatcher holds calls to the maximum.
    Number last_worker_ = 0;
    std::uint64_t last_call_ = 0;
};

} // namespace sluice::connector::process
