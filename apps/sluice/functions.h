#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "connector/builtin/sink.h"
#include "connector/process/sink.h"
#include "engine/dispatcher.h"
#include "observe/diagnostics.h"
#include "reactor/process_runner.h"
#include "reactor/timer_thread.h"
#include "workflow/raw/function_form.h"

namespace sluice::app {

/// The functions that runs may invoke: the built-in ones, and those that files declare.
///
/// Destroyed, it stops what still runs; the engine must have stopped before and be destroyed after.
class Functions {
public:
    /// Of forms with the same name the first stands. The diagnostics outlive it.
    static Result<std::unique_ptr<Functions>> create(
        const std::vector<workflow::raw::FunctionForm>& forms, observe::Diagnostics& diagnostics);

    /// By name, for the engine. The sinks are ours.
    const std::map<std::string, engine::Function>& table() const { return table_; }

private:
    explicit Functions(std::unique_ptr<reactor::ProcessRunner> runner)
        : runner_(std::move(runner)), builtin_(timers_) {}

    void add(const workflow::raw::FunctionForm& form);

    reactor::TimerThread timers_;
    std::unique_ptr<reactor::ProcessRunner> runner_;
    connector::builtin::Sink builtin_;
    std::unique_ptr<connector::process::Sink> process_;
    std::vector<std::unique_ptr<event::Sink>> renamed_;
    std::map<std::string, engine::Function> table_;
};

} // namespace sluice::app
