#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "reactor/command.h"
#include "reactor/internal/confinement.h"
#include "reactor/internal/spawn.h"

namespace sluice::reactor::internal {

/// A command from its start to its outcome: moves bytes when told that a pipe is ready, and decides
/// what a deadline means. Knows neither thread nor poll.
///
/// The exited child stays a zombie until `finish`, so that its process group cannot become somebody
/// else's.
class Job {
public:
    using Done = std::move_only_function<void(Outcome)>;
    using Moment = std::chrono::steady_clock::time_point;

    Job(Command command, const CommandLimits& limits, Done done);

    /// Before it starts: it is talked to.
    void listen(Listener listener) { listener_ = std::move(listener); }

    Result<void> start(Moment now);
    const Child& child() const { return child_; }
    /// When `expire` is to be called.
    std::optional<Moment> deadline() const { return deadline_; }
    /// Exited, and all of its output read.
    bool is_over() const;

    void say(std::string_view bytes);
    /// No more will be said.
    void hang_up(Moment now);
    void feed_input();
    void read_output();
    void read_errors();
    void note_exit(Moment now);
    /// SIGTERM, then SIGKILL, then no more waiting for its output.
    void expire(Moment now);
    void cancel(Moment now);

    /// Kills what is left of the process group, waits for the child and reports.
    void finish();
    /// Reports that it never began, or ends it when it cannot be watched.
    void fail_with(Error error);
    /// Of a command that was never started.
    void report_cancelled();

private:
    enum class Stage : std::uint8_t { Running, Terminating, Killed, Exited };

    void hear(std::string_view bytes);
    void hear_errors(std::string_view bytes);
    void terminate(Moment now);
    void signal_group(int signal) const;

    Command command_;
    const CommandLimits& limits_;
    Done done_;
    std::optional<Listener> listener_;
    Child child_;
    std::optional<Confinement> confinement_;
    Outcome outcome_;
    std::size_t written_ = 0;
    std::string error_line_; ///< The beginning of the line that is being written.
    bool has_hung_up_ = false;
    Stage stage_ = Stage::Running;
    std::optional<Moment> deadline_;
};

} // namespace sluice::reactor::internal
