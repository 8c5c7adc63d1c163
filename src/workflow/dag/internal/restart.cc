#include "workflow/dag/internal/restart.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "workflow/dag/internal/end_action.h"
#include "workflow/dag/internal/settings.h"
#include "workflow/dag/internal/task_action.h"
#include "workflow/dag/internal/task_bindings.h"
#include "workflow/dag/internal/words.h"

namespace sluice::workflow::dag::internal {

namespace {

using trigger::Attempt;
using trigger::TriggerNumber;

/// How many of a trigger's patterns are the ends of tasks; nothing when it is no part of a flow.
std::optional<std::uint32_t> upstream_of(const trigger::CompiledTrigger& trigger) {
    if (const auto* settings = settings_of(trigger)) {
        return settings->upstream;
    }
    const auto* end = trigger.actions.size() == 1
                          ? dynamic_cast<const EndAction*>(trigger.actions.front().get())
                          : nullptr;
    return end == nullptr ? std::nullopt : std::optional{end->upstream};
}

/// All that wait, at any remove, for one of these; those of them too that wait for another.
std::set<TriggerNumber> behind(trigger::Firing& firing, std::vector<TriggerNumber> todo) {
    const auto& triggers = firing.decider().triggers();
    auto found = std::set<TriggerNumber>{};
    auto matches = trigger::Matches{};
    while (!todo.empty()) {
        auto at = todo.back();
        todo.pop_back();
        triggers.match(words::done_succeeded, triggers.get(at)->spec.id, matches);
        for (const auto& match : matches) {
            auto upstream = upstream_of(*triggers.get(match.trigger));
            if (upstream && match.pattern < *upstream && found.insert(match.trigger).second) {
                todo.push_back(match.trigger);
            }
        }
    }
    return found;
}

std::optional<Step> step_of(trigger::Firing& firing, trigger::Incarnation scope,
                            TriggerNumber number) {
    const auto* settings = settings_of(*firing.decider().triggers().get(number));
    return settings == nullptr ? std::nullopt
                               : std::optional{Step{firing, *settings, number, scope}};
}

/// What of the flow's failures is left, since some of the failed begin again.
void recount_failures(trigger::Firing& firing, trigger::Incarnation scope, TriggerNumber end) {
    auto failed = std::vector<TriggerNumber>{};
    for (auto [raw, remembered] : *firing.state().triggers_in(scope)) {
        if (remembered->memory && status_of(*remembered->memory) == words::failed) {
            failed.emplace_back(raw);
        }
    }
    auto memory = memory_of(firing.state(), scope, end).without("status").without("undo_error");
    if (failed.empty()) {
        memory = memory.without("failed").without("first");
    } else {
        // Not the one that is met first: states lie in no order, and replay must say the same.
        auto step = *step_of(firing, scope, std::ranges::min(failed));
        auto first =
            Value::object({{"task", step.own_path()}, {"error", *step.memory().find("error")}});
        memory =
            memory.with("failed", static_cast<std::int64_t>(failed.size())).with("first", first);
    }
    firing.record(trigger::Remembered{.scope = scope, .trigger = end, .memory = std::move(memory)});
}

} // namespace

void restart(trigger::Firing& firing, trigger::Incarnation scope, std::vector<TriggerNumber> tasks,
             std::optional<Value> input) {
    auto& decider = firing.decider();
    auto later = behind(firing, tasks);
    std::erase_if(tasks, [&](TriggerNumber number) { return later.contains(number); });
    auto forget = [&](TriggerNumber number) {
        if (auto step = step_of(firing, scope, number); step && step->status() != words::pending) {
            step->forget();
        }
    };
    std::ranges::for_each(tasks, forget);
    std::ranges::for_each(later, forget);
    for (auto number : later) {
        auto upstream = *upstream_of(*decider.triggers().get(number));
        auto ends = count_ends(firing, number, scope, upstream);
        firing.record(
            trigger::Activated{.scope = scope, .trigger = number, .progress = ends.packed()});
        if (!step_of(firing, scope, number)) {
            recount_failures(firing, scope, number);
        }
    }
    for (auto number : tasks) {
        step_of(firing, scope, number)->start(std::exchange(input, std::nullopt));
    }
    // One that needs only some of those before it may have enough of them still.
    for (auto number : later) {
        decider.recheck(number, scope, firing.event());
    }
}

Attempt<void> restart_failed(trigger::Firing& firing) {
    auto data = firing.event().data();
    if (const auto* place = data.find("task"); place != nullptr && place->is_string()) {
        auto step = TRY(task_at(firing, place->as_string()));
        const auto* input = data.find("input");
        restart(firing, step.scope(), {step.task()},
                input == nullptr ? std::nullopt : std::optional{*input});
        return {};
    }
    auto tasks = std::vector<TriggerNumber>{};
    for (auto [raw, remembered] : firing.state().root_triggers) {
        auto status = remembered->memory ? status_of(*remembered->memory) : words::pending;
        const auto* task = firing.decider().triggers().get(TriggerNumber{raw});
        if (task != nullptr && settings_of(*task) != nullptr &&
            (status == words::failed || status == words::running || status == words::waiting ||
             status == words::undone)) {
            tasks.push_back(TriggerNumber{raw});
        }
    }
    std::ranges::sort(tasks);
    restart(firing, trigger::root_scope, std::move(tasks));
    return {};
}

Attempt<Step> task_at(trigger::Firing& firing, std::string_view place) {
    auto id = std::string{};
    auto rest = place;
    for (auto is_name = true; !rest.empty(); is_name = !is_name) {
        auto part = rest.substr(0, rest.find('/'));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        if (is_name) {
            id += id.empty() ? "" : ".";
            id += part;
        }
    }
    auto slash = place.rfind('/');
    auto path = slash == std::string_view::npos ? std::string_view{} : place.substr(0, slash);
    auto scope = firing.state().scope_at(path);
    auto step = scope ? Step::find(firing, id, *scope) : std::nullopt;
    if (!step) {
        return std::unexpected(expr::Fault{
            .code = "no_such_task",
            .message =
                fmt::format("there is no task \"{}\": expected the name of a task, or such as "
                            "tiles/17/load in an item of a map",
                            place)});
    }
    return *std::move(step);
}

} // namespace sluice::workflow::dag::internal
