#include "workflow/dag/step.h"

#include <algorithm>

#include <fmt/format.h>

#include "workflow/dag/internal/settings.h"
#include "workflow/dag/internal/task_action.h"
#include "workflow/dag/internal/task_bindings.h"
#include "workflow/dag/internal/words.h"

namespace sluice::workflow::dag {

using internal::OnError;
using internal::status_of;
using trigger::Attempt;

namespace {

constexpr auto deadline_mark = std::string_view{"deadline"};

Value error_of(std::string_view kind, std::string message) {
    return Value::object({{"kind", kind}, {"message", std::move(message)}});
}

} // namespace

Attempt<void> Operator::go_on(Step& /*step*/) const {
    return {};
}

Attempt<void> Operator::take(Step& /*step*/) const {
    return {};
}

Step::Step(trigger::Firing& firing, const internal::Settings& settings, trigger::TriggerNumber task,
           trigger::Incarnation scope)
    : firing_(firing), settings_(settings), task_(task), scope_(scope) {}

std::optional<Step> Step::find(trigger::Firing& firing, std::string_view id,
                               trigger::Incarnation scope) {
    auto number = firing.decider().triggers().find(id);
    const auto* trigger = number ? firing.decider().triggers().get(*number) : nullptr;
    const auto* settings = trigger == nullptr ? nullptr : internal::settings_of(*trigger);
    return settings == nullptr ? std::nullopt
                               : std::optional{Step{firing, *settings, *number, scope}};
}

const std::string& Step::id() const {
    return firing_.decider().triggers().get(task_)->spec.id;
}

std::string_view Step::name() const {
    auto prefix = settings_.prefixes.empty() ? 0 : settings_.prefixes.back().size();
    return std::string_view{id()}.substr(prefix);
}

std::string Step::path() const {
    const auto* path = state().path_of(scope_);
    return path == nullptr ? std::string{} : *path;
}

std::string Step::own_path() const {
    auto around = path();
    return around.empty() ? std::string{name()} : fmt::format("{}/{}", around, name());
}

const Value& Step::memory() const {
    return internal::memory_of(state(), scope_, task_);
}

std::string_view Step::status() const {
    return status_of(memory());
}

bool Step::is_active() const {
    auto now = status();
    return now == words::running || now == words::waiting || now == words::halted;
}

void Step::remember(Value memory) {
    firing_.record(
        trigger::Remembered{.scope = scope_, .trigger = task_, .memory = std::move(memory)});
}

Attempt<Value> Step::evaluate(const Template& pattern, const Locals& locals,
                              const expr::Budget& budget) const {
    if (const auto* constant = pattern.constant()) {
        return *constant;
    }
    auto bindings = internal::TaskBindings{state(), firing_.decider().triggers(),
                                           firing_.decider().moment(), scope_, settings_.prefixes};
    for (const auto& [name, value] : locals) {
        bindings.bind(name, value);
    }
    auto outcome = pattern.evaluate(bindings, budget);
    if (auto* fault = std::get_if<expr::Fault>(&outcome)) {
        return std::unexpected(std::move(*fault));
    }
    return std::get<Value>(std::move(outcome));
}

Attempt<Value> Step::input(const Template& pattern, const Locals& locals) const {
    return input_ ? Attempt<Value>{*input_} : evaluate(pattern, locals);
}

bool Step::begins_by_rule() const {
    if (settings_.rule == Rule::AllDone) {
        return true;
    }
    // Where all is well, as it mostly is, nobody has to look at a thousand tasks again.
    if (Ends::succeeded_in(firing_.progress()) == settings_.upstream) {
        return settings_.rule != Rule::Caught;
    }
    auto ends = count_ends(firing_, task_, scope_, settings_.upstream);
    switch (settings_.rule) {
        case Rule::AllSuccess: return ends.succeeded == settings_.upstream;
        case Rule::OneSuccess: return ends.succeeded > 0;
        case Rule::NoneFailed: return ends.failed == 0;
        case Rule::KOfN: return ends.succeeded >= settings_.needed;
        default: return false; // A handler is begun by whom it handles.
    }
}

void Step::join() {
    if (begins_by_rule()) {
        start();
        return;
    }
    auto has_failed = settings_.rule != Rule::Caught &&
                      count_ends(firing_, task_, scope_, settings_.upstream).failed > 0;
    if (has_failed) {
        end(words::upstream_failed, Value::map({}), words::done_failed);
    } else {
        skip();
    }
}

void Step::start(std::optional<Value> input) {
    input_ = std::move(input);
    if (settings_.when) {
        auto verdict = evaluate(*settings_.when);
        if (!verdict || !verdict->is_bool()) {
            fail(verdict ? expr::Fault{.code = "not_bool",
                                       .message = "`when` is neither true nor false"}
                         : verdict.error());
            return;
        }
        if (!verdict->as_bool()) {
            skip();
            return;
        }
    }
    static const auto running = Value::object({{"status", words::running}});
    const auto& before = this->memory(); // What came before its time.
    auto memory = before.is_map() ? before.with("status", words::running) : running;
    if (settings_.deadline > Nanos{0}) {
        auto timer = set_timer(settings_.deadline, Value{deadline_mark});
        memory = memory.with("timer", static_cast<std::int64_t>(timer.raw()));
    }
    remember(std::move(memory));
    if (auto done = settings_.work->start(*this); !done) {
        fail(done.error());
    }
}

void Step::start_pending() {
    if (status() == words::pending) {
        start();
    }
}

void Step::take() {
    auto is_timer = firing_.event().type() == trigger::types::timer_fired;
    if (is_timer && firing_.event().data() == Value{deadline_mark}) {
        if (is_active() && status() != words::halted) {
            cancel_work();
            fail(error_of("timeout", fmt::format("task \"{}\" passed its deadline", id())));
        }
        return;
    }
    if (auto done = settings_.work->take(*this); !done) {
        fail(done.error());
    }
}

void Step::go_on() {
    if (auto done = settings_.work->go_on(*this); !done) {
        fail(done.error());
    }
}

void Step::call(Call call) {
    this->call(std::move(call), firing_.next_key(), scope_);
}

void Step::call(Call call, const trigger::TaskKey& key, trigger::Incarnation scope) {
    auto is_run = call.kind == trigger::TaskKind::Run;
    if (const auto& trace = firing_.trace(); !trace.empty()) {
        call.policy =
            (call.policy.is_map() ? call.policy : Value::map({})).with("traceparent", trace);
    }
    auto task = trigger::TaskState{.kind = call.kind,
                                   .target = std::move(call.target),
                                   .subject = id(),
                                   .input = std::move(call.input),
                                   .policy = std::move(call.policy),
                                   .scope = scope,
                                   .trigger = task_};
    if (is_run) {
        task.child = call.child.empty() ? trigger::nested_run_id(state().id, key.fire, key.index,
                                                                 trigger::Placement::Beside)
                                        : std::move(call.child);
    }
    firing_.record(trigger::TaskOpened{.key = key, .task = std::move(task)});
}

void Step::set_timer(trigger::TimerState timer, Value data) {
    timer.name = id();
    timer.scope = scope_;
    timer.trigger = task_;
    timer.subject = id();
    timer.data = std::move(data);
    firing_.decider().set_timer(std::move(timer));
}

trigger::TimerNumber Step::set_timer(Nanos after, Value data) {
    auto timer = trigger::TimerState{};
    timer.due = firing_.decider().moment().steady + after;
    set_timer(std::move(timer), std::move(data));
    return trigger::TimerNumber{state().progress.timers};
}

trigger::TimerNumber Step::set_timer(Time at, Value data) {
    auto timer = trigger::TimerState{.is_absolute = true};
    timer.due = at;
    set_timer(std::move(timer), std::move(data));
    return trigger::TimerNumber{state().progress.timers};
}

void Step::end(std::string_view status, Value memory, std::string_view type) {
    if (const auto* timer = this->memory().find("timer")) {
        firing_.decider().remove_timer(
            trigger::TimerNumber{static_cast<std::uint64_t>(timer->as_int())});
    }
    remember(memory.with("status", status));
    firing_.emit({.type = std::string{type}, .subject = id(), .data = {}, .scope = path()}, scope_);
}

void Step::succeed(Value result) {
    auto memory = Value::map({});
    if (!result.is_null()) {
        memory = memory.with("result", std::move(result));
    }
    if (settings_.undo) {
        internal::note_undo(*this);
    }
    end(words::succeeded, std::move(memory), words::done_succeeded);
}

void Step::skip(Value error) {
    auto memory = Value::map({});
    if (!error.is_null()) {
        memory = memory.with("error", std::move(error));
    }
    end(words::skipped, std::move(memory), words::done_skipped);
}

void Step::fail(const expr::Fault& fault) {
    cancel_work();
    fail(error_of(fault.code, fault.message));
}

/// The first handler whose kinds have this one takes care of it.
bool Step::is_caught(std::string_view kind) {
    auto found = std::ranges::find_if(settings_.catches, [&](const Catch& each) {
        return each.kinds.empty() || std::ranges::find(each.kinds, kind) != each.kinds.end();
    });
    if (found == settings_.catches.end()) {
        return false;
    }
    auto prefix = settings_.prefixes.empty() ? std::string{} : settings_.prefixes.back();
    auto handler = find(firing_, prefix + found->handler, scope_);
    if (handler && handler->status() == words::pending) {
        handler->start();
    }
    return true;
}

void Step::fail(const Value& error) {
    const auto* kind = error.find("kind");
    auto memory = Value::object({{"error", error}});
    // Its error is there before the handler looks for it.
    if (!settings_.catches.empty()) {
        remember(this->memory().with("error", error));
    }
    if (is_caught(kind != nullptr && kind->is_string() ? kind->as_string() : "")) {
        end(words::caught, std::move(memory), words::done_failed);
        return;
    }
    switch (settings_.on_error) {
        case OnError::Skip: skip(error); return;
        case OnError::Halt: remember(memory.with("status", words::halted)); return;
        case OnError::Fail: break;
    }
    internal::note_failure(*this, error);
    end(words::failed, std::move(memory), words::done_failed);
    internal::finish_if_hasty(*this);
}

void Step::cancel_work() {
    auto members = state().members.find(scope_);
    if (members != state().members.end()) {
        auto calls = std::vector<trigger::TaskKey>{};
        std::ranges::copy_if(
            members->second.tasks, std::back_inserter(calls), [&](const auto& key) {
                const auto& task = state().tasks.at(key);
                return task.trigger == task_ && task.kind != trigger::TaskKind::Sink;
            });
        auto timers = std::vector<trigger::TimerNumber>{};
        std::ranges::copy_if(members->second.timers, std::back_inserter(timers), [&](auto number) {
            return state().timers.at(number).trigger == task_;
        });
        for (const auto& key : calls) {
            firing_.decider().cancel_task(key);
        }
        for (auto number : timers) {
            firing_.decider().remove_timer(number);
        }
    }
    if (auto own = own_path(); state().scope_at(own)) {
        firing_.decider().close_scope(own);
    }
}

void Step::forget() {
    cancel_work();
    remember(Value{});
}

Ends count_ends(trigger::Firing& firing, trigger::TriggerNumber trigger, trigger::Incarnation scope,
                std::uint32_t count) {
    auto ends = Ends{};
    const auto& triggers = firing.decider().triggers();
    const auto& patterns = triggers.get(trigger)->spec.on;
    for (auto at = std::uint32_t{0}; at < count; ++at) {
        auto number = triggers.find(patterns[at].subject.text);
        auto status = number ? status_of(internal::memory_of(firing.state(), scope, *number))
                             : words::pending;
        ends.succeeded += status == words::succeeded ? 1 : 0;
        ends.skipped += status == words::skipped ? 1 : 0;
        ends.failed +=
            status == words::failed || status == words::caught || status == words::upstream_failed
                ? 1
                : 0;
    }
    return ends;
}

} // namespace sluice::workflow::dag
