#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "base/strong.h"
#include "reactor/command.h"

namespace sluice::reactor {

using ProcessId = Strong<struct ProcessTag, std::uint64_t>;

/// Runs commands as child processes, all of them on one thread.
///
/// Each child leads a process group, which does not outlive it: when a command is over, whatever it
/// left running in its group is killed. All members may be called from any thread, also from
/// `Done`.
class ProcessRunner {
public:
    using Done = std::move_only_function<void(Outcome)>;

    /// Fails with Unavailable when there are no descriptors left.
    static Result<std::unique_ptr<ProcessRunner>> create(CommandLimits limits = {});
    /// Kills all children; their outcomes say that they were cancelled.
    ~ProcessRunner();
    ProcessRunner(const ProcessRunner&) = delete;
    ProcessRunner& operator=(const ProcessRunner&) = delete;

    /// `done` is called exactly once, on the runner's thread, perhaps before this returns. It must
    /// be quick.
    ProcessId start(Command command, Done done);
    /// The same, with its standard input left open for `say`; its output goes to the listener, line
    /// by line, and not into the outcome.
    ProcessId converse(Command command, Listener listener, Done done);
    /// Bytes for the standard input of one that is talked to; nothing happens when it is over.
    void say(ProcessId id, std::string bytes);
    /// Closes its standard input: it is to end by itself, and is terminated after the grace.
    void hang_up(ProcessId id);
    /// Terminates it as a timeout would; nothing happens when it is over already.
    void cancel(ProcessId id);

private:
    class Loop;
    explicit ProcessRunner(std::unique_ptr<Loop> loop);

    std::unique_ptr<Loop> loop_;
    std::atomic<std::uint64_t> last_id_{0};
};

} // namespace sluice::reactor
