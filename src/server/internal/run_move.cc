#include "server/internal/run_move.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "value/wording.h"

namespace sluice::server {

namespace {

using Forms = std::map<std::string, Value>;

/// What holds for a run as a whole stays as it was when the run began.
Value settings_of(const trigger::TriggerSet& set) {
    return to_form(set.spec()).without("triggers");
}

/// Compiled ones stand apart from what holds for the whole.
std::vector<const trigger::TriggerSpec*> triggers_of(const trigger::TriggerSet& set) {
    auto specs = std::vector<const trigger::TriggerSpec*>{};
    for (auto at = std::uint32_t{0}; at < set.size(); ++at) {
        specs.push_back(&set.at(trigger::TriggerNumber{at}).spec);
    }
    return specs;
}

bool continues_as_new(const trigger::TriggerSet& set) {
    return std::ranges::any_of(triggers_of(set), [](const trigger::TriggerSpec* spec) {
        return std::ranges::find(spec->actions, "continue", &trigger::Term::name) !=
               spec->actions.end();
    });
}

Result<void> check_sets(const trigger::TriggerSet& from, const trigger::TriggerSet& to) {
    if (settings_of(from) != settings_of(to)) {
        return fail(Errc::Conflict,
                    "the new version differs in more than its triggers (context, dedupe, timeout "
                    "and the like): start a new run of it");
    }
    if (continues_as_new(from) || continues_as_new(to)) {
        return fail(Errc::Conflict,
                    "the run continues as new, and its next generation would have the triggers "
                    "that it began with: start a new run");
    }
    return {};
}

Value member_of(const Value& form, std::string_view name) {
    const auto* found = form.find(name);
    return found == nullptr ? Value{} : *found;
}

bool has_begun(const Value& shown) {
    return std::ranges::any_of(shown.find("states")->as_list(), [](const Value& state) {
        return member_of(state, "progress") != Value{0} || member_of(state, "distinct") != Value{0};
    });
}

/// What was counted so far means nothing to another condition.
Result<void> check_change(const Value& shown, const Value& to) {
    const auto& from = *shown.find("trigger");
    auto is_same = member_of(from, "condition") == member_of(to, "condition") &&
                   member_of(from, "on") == member_of(to, "on");
    if (!is_same && has_begun(shown)) {
        return fail(Errc::Conflict,
                    "trigger \"{}\" has begun to count, and the new version waits for something "
                    "else: move the run before it has, or start a new one",
                    value::text_at(from, "id"));
    }
    return {};
}

/// A member that is null is as absent.
Value without_nulls(const Value& form) {
    auto rest = form;
    for (const auto& [name, member] : form.as_map()) {
        rest = member.is_null() ? rest.without(name) : rest;
    }
    return rest;
}

/// Members that the new form lacks are gone with it.
Value replacement(const Value& from, Value to) {
    for (const auto& [name, member] : from.as_map()) {
        if (to.find(name) == nullptr) {
            to = to.with(name, Value{});
        }
    }
    return to;
}

class Planner {
public:
    Planner(const trigger::TriggerSet& from, const trigger::TriggerSet& to) : from_(from) {
        for (const auto* spec : triggers_of(to)) {
            wanted_.emplace(spec->id, to_form(*spec));
        }
    }

    Result<void> take(const Value& shown) {
        const auto& form = *shown.find("trigger");
        auto id = value::text_at(form, "id");
        auto wanted = wanted_.extract(id);
        if (wanted.empty()) {
            if (from_.find(id)) { // Those that were added at run time stay.
                removed_.push_back(as_text(Value{id}));
            }
            return {};
        }
        if (wanted.mapped() != without_nulls(form)) {
            TRY(check_change(shown, wanted.mapped()));
            changed_.emplace_back(id);
            actions_.push_back(Value::object(
                {{"modify",
                  Value::object({{"trigger", as_text(Value{id})},
                                 {"set", replacement(form, std::move(wanted.mapped()))}})}}));
        }
        return {};
    }

    RunMove finish(std::string version) && {
        auto added = std::vector<Value>{};
        auto forms = std::vector<Value>{};
        for (auto& [id, form] : wanted_) {
            added.emplace_back(id);
            forms.push_back(std::move(form));
        }
        if (!removed_.empty()) {
            actions_.insert(actions_.begin(), Value::object({{"remove", Value::list(removed_)}}));
        }
        if (!forms.empty()) {
            actions_.push_back(Value::object({{"add", Value::list(std::move(forms))}}));
        }
        return {.version = std::move(version),
                .action = Value::list(std::move(actions_)),
                .changes = Value::object({{"added", Value::list(std::move(added))},
                                          {"changed", Value::list(std::move(changed_))},
                                          {"removed", Value::list(std::move(removed_))}})};
    }

private:
    const trigger::TriggerSet& from_;
    Forms wanted_; ///< Of the new version, those that the run does not have yet.
    std::vector<Value> actions_;
    std::vector<Value> changed_;
    std::vector<Value> removed_;
};

} // namespace

Value as_text(const Value& value) {
    if (value.is_string()) {
        auto text = std::string{};
        for (auto rest = value.as_string(); !rest.empty(); rest.remove_prefix(1)) {
            text += rest.starts_with("${") ? "$" : "";
            text += rest.front();
        }
        return Value{text};
    }
    if (value.is_list()) {
        auto items = std::vector<Value>{};
        for (const auto& each : value.as_list()) {
            items.push_back(as_text(each));
        }
        return Value::list(std::move(items));
    }
    if (value.is_map()) {
        auto members = std::vector<value::Member>{};
        for (const auto& [name, member] : value.as_map()) {
            members.push_back({name, as_text(member)});
        }
        return Value::map(std::move(members));
    }
    return value;
}

Result<RunMove> plan_move(engine::Inspector& inspector, const engine::RunName& run) {
    auto state = TRY(inspector.run(run));
    if (state->has_ended() || state->info.set.empty()) {
        return fail(Errc::Conflict, "run \"{}\" {}", run.id,
                    state->has_ended() ? "has ended: start a new one"
                                       : "has no definition: change its triggers one by one");
    }
    auto& catalog = inspector.catalog();
    auto version = TRY(catalog.find(run.space, state->info.definition));
    auto from = TRY(catalog.set(state->info.set));
    auto to = TRY(catalog.set(version));
    TRY(check_sets(*from, *to));
    auto planner = Planner{*from, *to};
    auto triggers = TRY(inspector.triggers(run));
    for (const auto& shown : triggers.as_list()) {
        TRY(planner.take(shown));
    }
    return std::move(planner).finish(std::move(version));
}

} // namespace sluice::server
