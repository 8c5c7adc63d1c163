#include "sluice/functions.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "connector/broker/form.h"
#include "reactor/control_group.h"
#include "sluice/backend/brokers.h"
#include "workflow/asl/compile.h"

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
                         {{"group", limits.control_group.memory.string()}});
    } else {
        diagnostics.warn(
            "limits of functions are held by rlimits: memory counts as address "
            "space, cpu is not held",
            {{"why", group.error().message}});
    }
    return limits;
}

Result<connector::http::Function> http_function_of(const FunctionForm& form) {
    using connector::http::Format;
    auto url = http::parse_url(form.url);
    if (!url) {
        return fail(Errc::InvalidInput, "function \"{}\": {}", form.name, url.error().message);
    }
    return connector::http::Function{
        .url = *std::move(url),
        .headers = form.headers,
        .format = form.is_plain_json ? Format::Json : Format::CloudEvent,
        .heartbeat = form.heartbeat};
}

bool has_secrets(const FunctionForm& form) {
    return secret::Secrets::has_reference(form.url) ||
           std::ranges::any_of(form.headers, [](const auto& header) {
               return secret::Secrets::has_reference(header.second);
           });
}

/// With its secrets as they are now.
Result<connector::http::Function> http_function_of(FunctionForm form,
                                                   const secret::Secrets& secrets) {
    form.url = TRY(secrets.expand(form.url));
    for (auto& [name, value] : form.headers) {
        value = TRY(secrets.expand(value));
    }
    return http_function_of(form);
}

connector::poll::Function poll_function_of(const FunctionForm& form) {
    auto function = connector::poll::Function{};
    function.lease = form.heartbeat > Nanos{0} ? form.heartbeat : function.lease;
    function.offers_max = form.offers > 0 ? form.offers : function.offers_max;
    return function;
}

/// Puts secrets into a text that refers to them.
Result<void> expand(const secret::Secrets* secrets, std::string& text) {
    if (secrets != nullptr) {
        text = TRY(secrets->expand(text));
    }
    return {};
}

} // namespace

Functions::Functions(std::unique_ptr<reactor::ProcessRunner> runner,
                     observe::Diagnostics& diagnostics, const secret::Secrets* secrets,
                     const std::optional<Simulation>& simulation)
    : diagnostics_(diagnostics),
      secrets_(secrets),
      runner_(std::move(runner)),
      builtin_(timers_,
               {.time_scale = simulation ? std::optional{simulation->time_scale} : std::nullopt}),
      queues_(std::make_shared<connector::poll::Queues>(clock_, timers_)) {}

/// The engine may still hold sinks, which find these stopped.
Functions::~Functions() {
    for (const auto& caller : {guarded_caller_, free_caller_}) {
        if (caller) {
            caller->stop();
        }
    }
    queues_->stop();
    senders_.stop();
}

Result<std::unique_ptr<Functions>> Functions::create(const std::vector<FunctionForm>& forms,
                                                     observe::Diagnostics& diagnostics,
                                                     const secret::Secrets* secrets,
                                                     const std::optional<Simulation>& simulation) {
    auto runner = TRY(reactor::ProcessRunner::create(command_limits(forms, diagnostics)));
    auto functions = std::unique_ptr<Functions>{
        new Functions{std::move(runner), diagnostics, secrets, simulation}};
    auto& shared = functions->table_.shared;
    for (const auto& form : forms) {
        auto is_called = !simulation || form.kind == FunctionKind::Builtin;
        if (is_called && !shared.contains(form.name)) {
            shared.emplace(form.name, TRY(functions->make(form)));
        }
    }
    for (const auto* name : {"echo", "fail", "flaky", "noop", "sleep"}) {
        shared.try_emplace(name, engine::Function{.sink = &functions->builtin_});
    }
    if (simulation) {
        shared.emplace(engine::any_function, engine::Function{.sink = &functions->builtin_,
                                                              .concurrency = simulation->slots});
    }
    return functions;
}

Result<void> Functions::add_integrations(const Integrations& integrations, bool allows_private) {
    auto buckets = TRY(connector::objects::Buckets::open(integrations.buckets, secrets_, clock_));
    auto connections = integrations.connections;
    for (auto& connection : connections) {
        TRY(expand(secrets_, connection.password));
        for (auto* pairs : {&connection.headers, &connection.query}) {
            for (auto& [name, value] : *pairs) {
                TRY(expand(secrets_, value));
            }
        }
    }
    objects_ = std::make_unique<connector::objects::Sink>(std::move(buckets));
    invoke_ = std::make_unique<connector::http::InvokeSink>(std::move(connections), allows_private);
    auto& shared = table_.shared;
    for (auto name : connector::objects::Sink::names()) {
        shared.try_emplace(std::string{name},
                           engine::Function{.sink = objects_.get(),
                                            .concurrency = connector::objects::Sink::concurrency});
    }
    shared.try_emplace(std::string{connector::http::InvokeSink::name},
                       engine::Function{.sink = invoke_.get()});
    shared.try_emplace(std::string{workflow::asl::start_function},
                       engine::Function{.sink = &starter_});
    return {};
}

void Functions::open(const std::string& callback_base) {
    auto lock = std::lock_guard{mutex_};
    callback_base_ = callback_base;
    for (const auto& caller : {guarded_caller_, free_caller_}) {
        if (caller) {
            caller->open(callback_base);
        }
    }
}

const Functions::Caller& Functions::caller_for(const FunctionForm& form) {
    auto& caller = form.is_private ? free_caller_ : guarded_caller_;
    if (!caller) {
        auto options = connector::http::CallerOptions{};
        if (!form.is_private) {
            options.may_reach = http::is_public_address;
        }
        caller = std::make_shared<connector::http::Caller>(clock_, timers_, std::move(options));
        if (callback_base_) {
            caller->open(*callback_base_);
        }
    }
    return caller;
}

Result<std::shared_ptr<event::Sink>> Functions::make_http(const FunctionForm& form) {
    // Whoever writes a task is not to have secrets sent wherever he likes.
    if (secrets_ == nullptr || form.is_of_task || !has_secrets(form)) {
        auto function = TRY(http_function_of(form));
        return std::make_shared<connector::http::Sink>(caller_for(form), std::move(function));
    }
    // One that is missing is said now and not with the first call.
    std::ignore = TRY(http_function_of(form, *secrets_));
    auto source = [form, secrets = secrets_] { return http_function_of(form, *secrets); };
    return std::make_shared<connector::http::Sink>(caller_for(form), std::move(source));
}

Result<std::shared_ptr<event::Sink>> Functions::make_broker(const FunctionForm& form) {
    auto expanded = [form = form.broker, scope = form.secret_scope,
                     secrets = secrets_]() -> Result<Value> {
        return secrets == nullptr ? form : connector::broker::expand(form, *secrets, scope);
    };
    auto now = TRY(expanded());
    auto to = check_broker_sink(now);
    if (!to) {
        return fail(Errc::InvalidInput, "function \"{}\": {}", form.name, to.error().message);
    }
    auto open = [expanded,
                 &diagnostics = diagnostics_]() -> Result<std::unique_ptr<event::Producer>> {
        auto form = TRY(expanded());
        return open_broker_producer(form, diagnostics);
    };
    return senders_.make({.to = *std::move(to), .open = std::move(open)});
}

Result<engine::Function> Functions::make(const FunctionForm& form) {
    auto lock = std::lock_guard{mutex_};
    auto function = engine::Function{.concurrency = form.concurrency};
    switch (form.kind) {
        case FunctionKind::Builtin:
            function.owner = std::make_shared<RenamedSink>(builtin_, form.builtin);
            break;
        case FunctionKind::Process:
            processes_.push_back(std::make_unique<connector::process::Sink>(
                connector::process::Services{*runner_, timers_, diagnostics_, secrets_},
                connector::process::Functions{{form.name, command_of(form)}}));
            function.sink = processes_.back().get();
            break;
        case FunctionKind::Http: function.owner = TRY(make_http(form)); break;
        case FunctionKind::Poll:
            function.owner =
                std::make_shared<connector::poll::Sink>(queues_, poll_function_of(form));
            break;
        case FunctionKind::Pool: function.slots = form.slots; break;
        case FunctionKind::Broker: {
            constexpr auto most = connector::broker::Senders::calls_max;
            function.owner = TRY(make_broker(form));
            function.concurrency = form.concurrency == 0 ? most : std::min(form.concurrency, most);
            break;
        }
    }
    function.sink = function.owner ? function.owner.get() : function.sink;
    if (form.pool) {
        // Beyond it calls would wait in the pool, where neither priority nor turns hold.
        auto most = form.pool->max;
        function.concurrency = form.concurrency == 0 ? most : std::min(form.concurrency, most);
    }
    engine::apply_policy(form.policy, function);
    return function;
}

Result<void> Functions::add(const std::string& space, const FunctionForm& form) {
    table_.by_space[space].insert_or_assign(form.name, TRY(make(form)));
    return {};
}

} // namespace sluice::app
