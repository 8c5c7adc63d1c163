#include <utility>

#include "expr/cel/template.h"
#include "trigger/firing.h"
#include "trigger/internal/actions.h"
#include "trigger/internal/params.h"

namespace sluice::trigger::actions {

namespace {

/// Members of one map put over those of another.
Value merged(Value base, const Value& over) {
    for (const auto& [key, value] : over.as_map()) {
        base = base.with(key, value);
    }
    return base;
}

Attempt<Value> evaluate_map(Firing& firing, const expr::cel::Template& pattern,
                            std::string_view what) {
    auto value = TRY(firing.evaluate(pattern));
    if (!value.is_map()) {
        return std::unexpected(expr::Fault{
            .code = "wrong_kind",
            .message = fmt::format("{} is a {}: expected a map", what, to_string(value.kind()))});
    }
    return value;
}

class Set final : public Action {
public:
    std::optional<expr::cel::Template> context;
    std::optional<expr::cel::Template> run;
    std::optional<expr::cel::Template> scope;
    std::vector<std::pair<std::string, expr::cel::Template>> triggers;

    Attempt<void> perform(Firing& firing) const override {
        if (context) {
            TRY(set_trigger(firing, firing.trigger(), *context));
        }
        if (run) {
            auto over = TRY(evaluate_map(firing, *run, "run"));
            firing.record(ContextSet{.context = merged(firing.state().context, over)});
        }
        if (scope) {
            TRY(set_scope(firing));
        }
        for (const auto& [id, pattern] : triggers) {
            auto number = TRY(firing.trigger_named(id));
            TRY(set_trigger(firing, number, pattern));
            firing.decider().recheck(number, firing.scope(), firing.event());
            if (firing.state().is_over()) {
                break;
            }
        }
        return {};
    }

private:
    static Attempt<void> set_trigger(Firing& firing, TriggerNumber number,
                                     const expr::cel::Template& pattern) {
        TRY(firing.require_scope());
        auto over = TRY(evaluate_map(firing, pattern, "context"));
        const auto* trigger = firing.decider().triggers().get(number);
        if (trigger == nullptr) {
            return std::unexpected(expr::Fault{.code = "no_such_trigger",
                                               .message = "the trigger was removed by now"});
        }
        auto before = memory_of(firing.state(), *trigger, number, firing.scope());
        firing.record(
            Remembered{.scope = firing.scope(), .trigger = number, .memory = merged(before, over)});
        return {};
    }

    Attempt<void> set_scope(Firing& firing) const {
        auto over = TRY(evaluate_map(firing, *scope, "scope"));
        const auto* path = firing.state().path_of(firing.scope());
        if (path == nullptr || path->empty()) {
            return std::unexpected(
                expr::Fault{.code = "no_such_scope",
                            .message = "the root has no variables: set the run's context"});
        }
        auto before = firing.state().scopes.find(*path)->second.variables;
        firing.record(VariablesSet{.path = *path, .variables = merged(before, over)});
        return {};
    }
};

class SwitchTriggers final : public Action {
public:
    Switch enabled = Switch::On;
    std::vector<expr::cel::Template> ids;

    Attempt<void> perform(Firing& firing) const override {
        for (const auto& id : ids) {
            auto name = TRY(firing.evaluate_text(id, "trigger"));
            auto number = TRY(firing.trigger_named(name));
            TRY(firing.require_scope());
            firing.decider().switch_trigger(number, firing.scope(), enabled);
        }
        return {};
    }
};

Attempt<void> override_with(Firing& firing, TriggerNumber number, const Value& form) {
    auto problems = std::vector<Problem>{};
    auto compiled = firing.decider().triggers().check(number, form, problems);
    if (!compiled) {
        return std::unexpected(
            expr::Fault{.code = "invalid_trigger", .message = to_error(problems).message});
    }
    firing.decider().override_trigger(number, form, std::move(compiled));
    return {};
}

class Add final : public Action {
public:
    std::vector<Value> forms;

    Attempt<void> perform(Firing& firing) const override {
        for (const auto& form : forms) {
            auto number = firing.decider().triggers().next_number(firing.state());
            TRY(override_with(firing, number, form));
        }
        return {};
    }
};

class Remove final : public Action {
public:
    std::vector<expr::cel::Template> ids;

    Attempt<void> perform(Firing& firing) const override {
        for (const auto& id : ids) {
            auto name = TRY(firing.evaluate_text(id, "trigger"));
            auto number = TRY(firing.trigger_named(name));
            firing.decider().override_trigger(number, Value{}, nullptr);
        }
        return {};
    }
};

constexpr auto keeps_its_id =
    std::string_view{"a trigger keeps its id: remove it and add another to have one of another id"};

class Modify final : public Action {
public:
    expr::cel::Template id;
    Value over;

    Attempt<void> perform(Firing& firing) const override {
        auto name = TRY(firing.evaluate_text(id, "trigger"));
        auto number = TRY(firing.trigger_named(name));
        if (const auto* renamed = over.find("id"); renamed != nullptr && *renamed != Value{name}) {
            return std::unexpected(
                expr::Fault{.code = "invalid_trigger",
                            .message = fmt::format("trigger \"{}\": {}", name, keeps_its_id)});
        }
        auto form = merged(to_form(firing.decider().triggers().get(number)->spec), over);
        TRY(override_with(firing, number, form));
        firing.decider().recheck(number, firing.scope(), firing.event());
        return {};
    }
};

template <Switch enabled>
Made make_switch(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params, "trigger", {"trigger"}, site.expressions, problems};
    auto action = std::make_shared<SwitchTriggers>();
    action->enabled = enabled;
    action->ids = reader.texts("trigger");
    return action;
}

} // namespace

Made make_set(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader =
        Params{params, "", {"context", "run", "scope", "triggers"}, site.expressions, problems};
    auto action = std::make_shared<Set>();
    auto take = [&](std::string_view member, std::optional<expr::cel::Template>& into) {
        if (reader.has(member)) {
            into = reader.any(member);
        }
    };
    take("context", action->context);
    take("run", action->run);
    take("scope", action->scope);
    auto triggers = reader.get("triggers");
    if (reader.has("triggers") && !triggers.is_map()) {
        reader.problem("triggers", "expected a map from trigger ids to what to set");
    } else if (triggers.is_map()) {
        for (const auto& [id, pattern] : triggers.as_map()) {
            auto compiled = expr::cel::Template::compile(pattern, site.expressions);
            if (compiled) {
                action->triggers.emplace_back(id, *std::move(compiled));
            } else {
                reader.problem("triggers/" + id, expr::describe(compiled.error()));
            }
        }
    }
    return action;
}

Made make_enable(const Value& params, const ActionSite& site, Problems& problems) {
    return make_switch<Switch::On>(params, site, problems);
}

Made make_disable(const Value& params, const ActionSite& site, Problems& problems) {
    return make_switch<Switch::Off>(params, site, problems);
}

Made make_add(const Value& params, const ActionSite& /*site*/, Problems& problems) {
    auto action = std::make_shared<Add>();
    auto form = params;
    if (const auto* nested = params.find("trigger"); nested != nullptr && params.size() == 1) {
        form = *nested;
    }
    auto forms = form.is_list() ? std::vector<Value>(form.as_list().begin(), form.as_list().end())
                                : std::vector<Value>{form};
    for (auto at = std::size_t{0}; at < forms.size(); ++at) {
        parse_trigger(forms[at], form.is_list() ? fmt::format("{}", at) : "trigger", problems);
    }
    action->forms = std::move(forms);
    return action;
}

Made make_remove(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params, "trigger", {"trigger"}, site.expressions, problems};
    auto action = std::make_shared<Remove>();
    action->ids = reader.texts("trigger");
    return action;
}

Made make_modify(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params, "", {"trigger", "set"}, site.expressions, problems};
    auto action = std::make_shared<Modify>();
    action->id = reader.required_text("trigger");
    action->over = reader.get("set");
    if (!action->over.is_map()) {
        reader.problem("set", "expected a map of the trigger's members to replace");
        return action;
    }
    // Of a trigger that is named by a template it is seen when the action is done.
    auto id = reader.get("trigger");
    const auto* renamed = action->over.find("id");
    auto is_known = id.is_string() && !id.as_string().contains("${");
    if (renamed != nullptr && is_known && *renamed != id) {
        reader.problem("set/id", std::string{keeps_its_id});
    }
    return action;
}

} // namespace sluice::trigger::actions
