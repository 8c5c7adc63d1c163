#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "connector/broker/sink.h"
#include "connector/builtin/sink.h"
#include "connector/http/caller.h"
#include "connector/http/invoke_sink.h"
#include "connector/objects/sink.h"
#include "connector/poll/queues.h"
#include "connector/process/sink.h"
#include "engine/dispatcher.h"
#include "observe/diagnostics.h"
#include "reactor/process_runner.h"
#include "reactor/timer_thread.h"
#include "secret/secrets.h"
#include "sluice/integrations.h"
#include "sluice/machine/execution_starter.h"
#include "workflow/raw/function_form.h"

namespace sluice::app {

/// Nothing is called: a function takes the time that its input says, and answers.
struct Simulation {
    double time_scale = 1;
    std::uint32_t slots = 0; ///< So many calls at a time; zero: any number.
};

/// The functions that runs may invoke: the built-in ones, those that files declare, and those that
/// come later.
///
/// Destroyed, it stops what still runs; the engine must have stopped before and be destroyed after.
class Functions {
public:
    /// Of forms with the same name the first stands. Fails with InvalidInput for a URL that is
    /// none. With a simulation only those forms count that are of a built-in function. The
    /// diagnostics outlive it.
    static Result<std::unique_ptr<Functions>> create(
        const std::vector<workflow::raw::FunctionForm>& forms, observe::Diagnostics& diagnostics,
        const secret::Secrets* secrets, const std::optional<Simulation>& simulation = {});
    ~Functions();

    /// What state machines call that is not declared: S3, HTTP, starting each other. Before the
    /// engine is opened. Fails for a directory or a secret that is not there.
    Result<void> add_integrations(const Integrations& integrations, bool allows_private);
    /// Calls that start executions wait for this. The engine goes after this, stopped.
    void attach(engine::Engine& engine) { starter_.attach(engine); }
    /// Calls over HTTP wait for this: see connector::http::Caller.
    void open(const std::string& callback_base);
    /// A function for the engine, whose sink stands on what is ours. From any thread.
    Result<engine::Function> make(const workflow::raw::FunctionForm& form);
    /// Adds it to a namespace, before the engine is opened.
    Result<void> add(const std::string& space, const workflow::raw::FunctionForm& form);

    /// What calls go to whose function is not there, in every namespace; before the engine is
    /// opened.
    void add_rest(std::shared_ptr<event::Sink> sink) {
        table_.shared.try_emplace(std::string{engine::any_function},
                                  engine::Function{.sink = sink.get(), .owner = sink});
    }

    /// By name, for the engine.
    const engine::FunctionTable& table() const { return table_; }
    connector::poll::Queues& queues() { return *queues_; }

private:
    Functions(std::unique_ptr<reactor::ProcessRunner> runner, observe::Diagnostics& diagnostics,
              const secret::Secrets* secrets, const std::optional<Simulation>& simulation);

    using Caller = std::shared_ptr<connector::http::Caller>;
    const Caller& caller_for(const workflow::raw::FunctionForm& form);
    Result<std::shared_ptr<event::Sink>> make_http(const workflow::raw::FunctionForm& form);
    Result<std::shared_ptr<event::Sink>> make_broker(const workflow::raw::FunctionForm& form);

    observe::Diagnostics& diagnostics_;
    const secret::Secrets* secrets_; ///< Null: there are none.
    SystemClock clock_;
    reactor::TimerThread timers_;
    std::unique_ptr<reactor::ProcessRunner> runner_;
    connector::builtin::Sink builtin_;
    ExecutionStarter starter_{clock_};
    std::unique_ptr<connector::objects::Sink> objects_;   ///< Null: there are no integrations.
    std::unique_ptr<connector::http::InvokeSink> invoke_; ///< The same.
    std::shared_ptr<connector::poll::Queues> queues_;
    connector::broker::Senders senders_{timers_};
    std::mutex mutex_;
    std::optional<std::string> callback_base_; ///< Nothing: not open yet.
    Caller guarded_caller_; ///< To public addresses only; null until it is needed.
    Caller free_caller_;    ///< The same, to all.
    std::vector<std::unique_ptr<connector::process::Sink>> processes_;
    engine::FunctionTable table_;
};

} // namespace sluice::app
