#pragma once

#include <string>

#include "sluice/exit_code.h"
#include "value/value.h"

namespace sluice::app {

struct TaskOptions {
    std::string data;
    std::string run;
    std::string verb; ///< `retry`, `skip`, `set-result`, `approve`
    std::string task;
    std::string input;  ///< JSON, or `@FILE`; empty: none.
    std::string result; ///< The same.
    std::string form;   ///< The same.
    std::string by;
    std::string reason;
    std::string id; ///< Of the run that goes on in place of one that has succeeded; empty: made.
    bool is_rejected = false;
    bool is_json = false;

    /// What the task is told. Fails with InvalidInput for what is no JSON.
    Result<Value> body() const;
};

/// Tells a task of a run in a data directory; the run goes on when it is continued next.
ExitCode tell_task(const TaskOptions& options);

} // namespace sluice::app
