#include "sluice/functions.h"

#include <utility>

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

connector::process::Functions commands_of(const std::vector<FunctionForm>& forms) {
    auto commands = connector::process::Functions{};
    for (const auto& form : forms) {
        if (form.kind == FunctionKind::Process) {
            commands.try_emplace(form.name,
                                 connector::process::Function{.argv = form.argv,
                                                              .environment = form.environment,
                                                              .directory = form.directory});
        }
    }
    return commands;
}

} // namespace

Result<std::unique_ptr<Functions>> Functions::create(const std::vector<FunctionForm>& forms) {
    auto runner = TRY(reactor::ProcessRunner::create());
    auto functions = std::unique_ptr<Functions>{new Functions{std::move(runner)}};
    functions->process_ =
        std::make_unique<connector::process::Sink>(*functions->runner_, commands_of(forms));
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
    engine::apply_policy(form.policy, function);
    table_.try_emplace(form.name, std::move(function));
}

} // namespace sluice::app
