#include <utility>

#include "expr/cel/template.h"
#include "trigger/firing.h"
#include "trigger/internal/actions.h"
#include "trigger/internal/params.h"
#include "value/time_text.h"

namespace sluice::trigger::actions {

namespace {

std::unexpected<expr::Fault> faulty(std::string_view code, std::string message) {
    return std::unexpected(expr::Fault{.code = std::string{code}, .message = std::move(message)});
}

class Finish final : public Action {
public:
    expr::cel::Template result;
    std::optional<expr::cel::Template> error;

    Attempt<void> perform(Firing& firing) const override {
        if (!error) {
            auto value = TRY(firing.evaluate(result));
            firing.decider().end_run(Status::Succeeded, std::move(value), {});
            return {};
        }
        auto value = TRY(firing.evaluate(*error));
        if (!value.is_map()) {
            value = Value::object({{"kind", "failed"}, {"message", value}});
        }
        firing.decider().end_run(Status::Failed, {}, std::move(value));
        return {};
    }
};

class ContinueAsNew final : public Action {
public:
    std::optional<expr::cel::Template> input;
    expr::cel::Template context;
    std::vector<expr::cel::Template> kept; ///< Names of members of the run's context.

    Attempt<void> perform(Firing& firing) const override {
        const auto& state = firing.state();
        auto next = Renewal{.input = input ? TRY(firing.evaluate(*input)) : state.info.input,
                            .context = firing.decider().triggers().spec().context};
        for (const auto& each : kept) {
            auto name = TRY(firing.evaluate_text(each, "keep"));
            if (const auto* member = state.context.find(name)) {
                next.context = next.context.with(name, *member);
            }
        }
        auto given = TRY(firing.evaluate(context));
        if (!given.is_null() && !given.is_map()) {
            return faulty("wrong_kind",
                          fmt::format("context is a {}: expected a map", to_string(given.kind())));
        }
        if (given.is_map()) {
            for (const auto& [name, member] : given.as_map()) {
                next.context = next.context.with(name, member);
            }
        }
        firing.decider().continue_as_new(std::move(next));
        return {};
    }
};

/// A duration as text or seconds; a time as text or timestamp.
Attempt<Nanos> read_duration(const Value& value, std::string_view what) {
    if (value.is_duration()) {
        return value.as_duration();
    }
    if (value.is_int() && value.as_int() >= 0 && value.as_int() < 1'000'000'000) {
        return std::chrono::seconds{value.as_int()};
    }
    if (value.is_double() && value.as_double() >= 0 && value.as_double() < 1e9) {
        return Nanos{static_cast<std::int64_t>(value.as_double() * 1e9)};
    }
    if (value.is_string()) {
        if (auto parsed = value::parse_duration(value.as_string()); parsed && *parsed >= Nanos{0}) {
            return *parsed;
        }
    }
    return faulty("invalid_duration", fmt::format("{}: expected a duration such as 30s", what));
}

Attempt<Time> read_time(const Value& value) {
    if (value.is_timestamp()) {
        return value.as_timestamp();
    }
    if (value.is_string()) {
        if (auto parsed = value::parse_time(value.as_string())) {
            return *parsed;
        }
    }
    return faulty("invalid_time", "at: expected a time such as 2026-11-15T05:57:30Z");
}

std::optional<TimerNumber> timer_named(const Firing& firing, std::string_view name) {
    auto members = firing.state().members.find(firing.scope());
    if (members == firing.state().members.end()) {
        return std::nullopt;
    }
    for (auto number : members->second.timers) {
        const auto& timer = firing.state().timers.at(number);
        if (timer.purpose == TimerPurpose::Author && timer.name == name) {
            return number;
        }
    }
    return std::nullopt;
}

class Schedule final : public Action {
public:
    enum class Form : std::uint8_t { After, At, Every };

    expr::cel::Template name;
    Form form = Form::After;
    expr::cel::Template when;
    expr::cel::Template type;
    expr::cel::Template subject;
    expr::cel::Template data;

    Attempt<void> perform(Firing& firing) const override {
        TRY(firing.require_scope());
        auto timer = TimerState{.scope = firing.scope(), .trigger = firing.trigger()};
        timer.name = TRY(firing.evaluate_text(name, "timer"));
        TRY(set_due(firing, timer));
        timer.type = TRY(firing.evaluate_text(type, "type"));
        if (timer.type.starts_with(types::reserved_prefix)) {
            return faulty("invalid_type", "types that begin with sluice. are the engine's own");
        }
        timer.subject = TRY(firing.evaluate_text(subject, "subject"));
        if (timer.subject.empty()) {
            timer.subject = timer.name;
        }
        timer.data = TRY(firing.evaluate(data));
        // A timer's name is its own in its scope: setting it again moves it.
        if (auto earlier = timer_named(firing, timer.name)) {
            firing.decider().remove_timer(*earlier);
        }
        firing.decider().set_timer(std::move(timer));
        return {};
    }

private:
    Attempt<void> set_due(Firing& firing, TimerState& timer) const {
        auto value = TRY(firing.evaluate(when));
        if (form == Form::At) {
            timer.is_absolute = true;
            timer.due = TRY(read_time(value));
            return {};
        }
        auto delay = TRY(read_duration(value, form == Form::After ? "after" : "every"));
        timer.due = firing.decider().moment().steady + delay;
        if (form == Form::Every) {
            if (delay < std::chrono::milliseconds{1}) {
                return faulty("invalid_duration", "every: expected at least 1ms");
            }
            timer.period = delay;
        }
        return {};
    }
};

class Cancel final : public Action {
public:
    std::optional<expr::cel::Template> timer;
    std::optional<expr::cel::Template> run;

    Attempt<void> perform(Firing& firing) const override {
        if (timer) {
            auto name = TRY(firing.evaluate_text(*timer, "timer"));
            if (auto number = timer_named(firing, name)) {
                firing.decider().remove_timer(*number);
            }
        }
        if (run) {
            auto target = TRY(firing.evaluate_text(*run, "run"));
            for (const auto& [key, task] : firing.state().tasks) {
                if (task.child == target && firing.state().is_open(task)) {
                    firing.decider().cancel_task(TaskKey{key});
                    return {};
                }
            }
            return faulty("no_such_run", fmt::format("this run did not start \"{}\"", target));
        }
        return {};
    }
};

class Open final : public Action {
public:
    expr::cel::Template scope;
    expr::cel::Template variables;

    Attempt<void> perform(Firing& firing) const override {
        auto path = TRY(firing.evaluate_text(scope, "scope"));
        auto values = TRY(firing.evaluate(variables));
        TRY(firing.open_scope(path, values));
        return {};
    }
};

class Close final : public Action {
public:
    expr::cel::Template scope;

    Attempt<void> perform(Firing& firing) const override {
        auto written = TRY(firing.evaluate_text(scope, "scope"));
        auto path = TRY(firing.scope_path(written));
        if (path.empty()) {
            return faulty("invalid_scope", "the root is closed by finishing the run");
        }
        if (firing.state().scope_at(path)) {
            firing.decider().close_scope(path);
        }
        return {};
    }
};

class HoldScope final : public Action {
public:
    expr::cel::Template scope;
    bool is_held = true;

    Attempt<void> perform(Firing& firing) const override {
        auto written = TRY(firing.evaluate_text(scope, "scope"));
        auto incarnation = TRY(firing.scope_named(written));
        if (is_held) {
            firing.record(HoldSet{.scope = incarnation, .by = firing.trigger()});
        } else {
            firing.decider().release_hold(incarnation);
        }
        return {};
    }
};

template <bool is_held>
Made make_hold_scope(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params, "scope", {"scope"}, site.expressions, problems};
    auto action = std::make_shared<HoldScope>();
    action->scope = reader.text("scope");
    action->is_held = is_held;
    return action;
}

} // namespace

Made make_finish(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params, "", {"result", "error"}, site.expressions, problems};
    auto action = std::make_shared<Finish>();
    action->result = reader.any("result");
    if (reader.has("error")) {
        action->error = reader.any("error");
        if (reader.has("result")) {
            reader.problem("error", "expected either result or error");
        }
    }
    return action;
}

Made make_continue(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params, "", {"input", "context", "keep"}, site.expressions, problems};
    auto action = std::make_shared<ContinueAsNew>();
    if (reader.has("input")) {
        action->input = reader.any("input");
    }
    action->context = reader.any("context");
    if (reader.has("keep")) {
        action->kept = reader.texts("keep");
    }
    return action;
}

Made make_schedule(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params,
                         "",
                         {"timer", "after", "at", "every", "type", "subject", "data"},
                         site.expressions,
                         problems};
    auto action = std::make_shared<Schedule>();
    action->name = reader.required_text("timer");
    auto forms = 0;
    auto take = [&](std::string_view member, Schedule::Form form) {
        if (reader.has(member)) {
            ++forms;
            action->form = form;
            action->when = reader.any(member);
        }
    };
    take("after", Schedule::Form::After);
    take("at", Schedule::Form::At);
    take("every", Schedule::Form::Every);
    if (forms != 1) {
        reader.problem("", "expected exactly one of after, at and every");
    }
    action->type = reader.text("type");
    action->subject = reader.text("subject");
    action->data = reader.any("data");
    return action;
}

Made make_cancel(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params, "timer", {"timer", "run"}, site.expressions, problems};
    auto action = std::make_shared<Cancel>();
    if (reader.has("timer") == reader.has("run")) {
        reader.problem("", "expected either timer or run");
        return action;
    }
    auto name = reader.has("timer") ? std::string_view{"timer"} : std::string_view{"run"};
    (name == "timer" ? action->timer : action->run) = reader.required_text(name);
    return action;
}

Made make_open(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params, "scope", {"scope", "variables"}, site.expressions, problems};
    auto action = std::make_shared<Open>();
    action->scope = reader.required_text("scope");
    action->variables = reader.any("variables");
    return action;
}

Made make_close(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params, "scope", {"scope"}, site.expressions, problems};
    auto action = std::make_shared<Close>();
    action->scope = reader.text("scope");
    return action;
}

Made make_hold(const Value& params, const ActionSite& site, Problems& problems) {
    return make_hold_scope<true>(params, site, problems);
}

Made make_release(const Value& params, const ActionSite& site, Problems& problems) {
    return make_hold_scope<false>(params, site, problems);
}

} // namespace sluice::trigger::actions
