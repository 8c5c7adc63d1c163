#include "sluice/functions.h"

#include <algorithm>
#include <utility>

#include "reactor/control_group.h"

namespace sluice::app {

namespace {

using workflow::raw::FunctionForm;
using workflow::raw::FunctionKind;

/// Calls a function under the name its sink knows it by.
class RenamedSink final : public event::Sink {
public:
    RenamedSink(event::Sink& sink, std::string name) : sink_(sink), name_(std::move(name)) {}

    void deliver(event::Delivery delivery, Done done) override {
        delivery.target = name_;
        sink_.deliver(std::move(delivery), std::move(done));
    }
    void cancel(std::string_view token) override { sink_.cancel(token); }

private:
    event::Sink& sink_;
    const std::string name_;
};

connector::process::Function command_of(const FunctionForm& form) {
    auto function =
        connector::process::Function{.argv = form.argv,
                                     .environment = form.environment,
                                     .directory = form.directory,
                                     .resources = {.memory_bytes = form.resources.memory_bytes,
                                                   .cpu = form.resources.cpu,
                                                   .cpu_time = form.resources.cpu_time}};
    if (form.pool) {
        function.pool = connector::process::Pool{.max = form.pool->max,
                                                 .idle = form.pool->idle,
                                                 .calls = form.pool->calls,
                                                 .heartbeat = form.pool->heartbeat};
    }
    return function;
}

/// Control groups are only looked for, and ours moved into one, where a function has a use for
/// them.
reactor::CommandLimits command_limits(const std::vector<FunctionForm>& forms,
                                      observe::Diagnostics& diagnostics) {
    auto limits = reactor::CommandLimits{};
    if (std::ranges::none_of(forms, [](const FunctionForm& form) {
            return form.resources.memory_bytes > 0 || form.resources.cpu > 0;
        })) {
        return limits;
    }
    if (auto group = reactor::find_control_group()) {
        limits.control_group = *std::move(group);
        diagnostics.info("limits of functions are held by control groups",
                         {{"group", limits.control_group.string()}});
    } else {
        diagnostics.warn(
            "limits of functions are held by rlimits: memory counts as address "
            "space, cpu is not held",
            {{"why", group.error().message}});
    }
    return limits;
}

connector::process::Functions commands_of(const std::vector<FunctionForm>& forms) {
    auto commands = connector::process::Functions{};
    for (const auto& form : forms) {
        if (form.kind == FunctionKind::Process) {
            commands.try_emplace(form.name, command_of(form));
        }
    }
    return commands;
}

} // namespace

Result<std::unique_ptr<Functions>> Functions::create(const std::vector<FunctionForm>& forms,
                                                     observe::Diagnostics& diagnostics) {
    auto runner = TRY(reactor::ProcessRunner::create(command_limits(forms, diagnostics)));
    auto functions = std::unique_ptr<Functions>{new Functions{std::move(runner)}};
    functions->process_ = std::make_unique<connector::process::Sink>(
        connector::process::Services{*functions->runner_, functions->timers_, diagnostics},
        commands_of(forms));
    for (const auto& form : forms) {
        functions->add(form);
    }
    for (const auto* name : {"echo", "fail", "flaky", "noop", "sleep"}) {
        functions->table_.try_emplace(name, engine::Function{.sink = &functions->builtin_});
    }
    return functions;
}

void Functions::add(const FunctionForm& form) {
    auto function = engine::Function{.sink = process_.get(), .concurrency = form.concurrency};
    if (form.kind == FunctionKind::Builtin) {
        renamed_.push_back(std::make_unique<RenamedSink>(builtin_, form.builtin));
        function.sink = renamed_.back().get();
    }
    if (form.pool) {
        // Beyond it calls would wait in the pool, where neither priority nor turns hold.
        auto most = form.pool->max;
        function.concurrency = form.concurrency == 0 ? most : std::min(form.concurrency, most);
    }
    engine::apply_policy(form.policy, function);
    table_.try_emplace(form.name, std::move(function));
}

} // namespace sluice::app
