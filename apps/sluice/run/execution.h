#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "secret/secrets.h"
#include "server/inspect/waiting.h"
#include "sluice/exit_code.h"
#include "sluice/run/beginning.h"
#include "sluice/run/bell.h"
#include "sluice/run/data_directory.h"
#include "sluice/run/event_feed.h"
#include "sluice/run/interrupts.h"
#include "sluice/run/progress.h"
#include "sluice/run/run_command.h"
#include "sluice/session.h"

namespace sluice::app {

/// One run from its start to its end, or to whatever comes first.
class Execution {
public:
    /// All of them must outlive it.
    Execution(const RunOptions& options, Beginning& beginning, const DataDirectory& directory);

    ExitCode run();

private:
    Result<void> begin();
    Result<void> open_session();
    Result<void> check_existing();
    ExitCode follow();
    std::optional<ExitCode> stop_if_over();
    ExitCode stop_interrupted();
    ExitCode stop_waiting();
    std::string how_to_go_on(const std::vector<server::inspect::WaitingTrigger>& triggers) const;
    ExitCode stop_failed(const Error& error) const;
    ExitCode stop_ended(const Value& ending);
    [[noreturn]] void stop_broken(const Error& error);
    /// A line that is told in every style, also when progress is not.
    void notice(const std::string& line, const Value& json) const;
    /// Whether the run can be continued by another process.
    bool is_kept() const;
    /// The execution history of a state machine, once nothing is decided any more.
    Result<std::vector<Value>> machine_history();
    void close();

    const RunOptions& options_;
    Beginning& beginning_;
    const DataDirectory& directory_;
    const engine::RunName name_;
    Bell bell_;
    Interrupts interrupts_{bell_};
    Progress progress_;
    const secret::Secrets secrets_{{}, secret::take_from_environment()};
    std::mutex mutex_;
    std::optional<Result<Value>> ending_; ///< What the engine says of the run's end.
    std::optional<Error> broken_;         ///< Why the engine stopped by itself.
    std::unique_ptr<Session> session_;
    std::unique_ptr<EventFeed> feed_;
};

} // namespace sluice::app
