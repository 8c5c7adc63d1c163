#include "workflow/dag/internal/end_action.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "trigger/arrival.h"
#include "trigger/form_reader.h"
#include "value/wording.h"
#include "workflow/dag/internal/restart.h"
#include "workflow/dag/internal/settings.h"
#include "workflow/dag/internal/task_action.h"
#include "workflow/dag/internal/task_bindings.h"
#include "workflow/dag/internal/words.h"

namespace sluice::workflow::dag::internal {

namespace {

using trigger::Attempt;

std::int64_t count_in(const Value& memory, std::string_view name) {
    const auto* count = memory.find(name);
    return count == nullptr ? 0 : count->as_int();
}

/// `task "load" failed: timeout: took too long`, and how many more.
Value failure_of(const Value& memory) {
    const auto& first = *memory.find("first");
    const auto& error = *first.find("error");
    auto message = fmt::format("task \"{}\" failed: {}", value::text_at(first, "task"),
                               value::text_at(error, "message"));
    if (auto more = count_in(memory, "failed") - 1; more > 0) {
        message += fmt::format(", and {} more", more);
    }
    auto failure = Value::object({{"kind", "task_failed"},
                                  {"message", message},
                                  {"task", *first.find("task")},
                                  {"cause", error}});
    const auto* undoing = memory.find("undo_error");
    return undoing == nullptr ? failure : failure.with("undo_error", *undoing);
}

} // namespace

FlowEnd end_of(Step& step) {
    auto& triggers = step.firing().decider().triggers();
    const auto& prefixes = step.settings().prefixes;
    auto id = (prefixes.empty() ? std::string{} : prefixes.back()) + std::string{words::end};
    auto number = triggers.find(id);
    const auto* trigger = number ? triggers.get(*number) : nullptr;
    const auto* action = trigger == nullptr || trigger->actions.empty()
                             ? nullptr
                             : dynamic_cast<const EndAction*>(trigger->actions.front().get());
    return action == nullptr ? FlowEnd{} : FlowEnd{.action = action, .number = *number};
}

void note_failure(Step& step, const Value& error) {
    auto end = end_of(step);
    if (end.action == nullptr) {
        return;
    }
    auto memory = memory_of(step.state(), step.scope(), end.number);
    if (memory.find("first") == nullptr) {
        memory = memory.with("first", Value::object({{"task", step.own_path()}, {"error", error}}));
    }
    step.firing().record(
        trigger::Remembered{.scope = step.scope(),
                            .trigger = end.number,
                            .memory = memory.with("failed", count_in(memory, "failed") + 1)});
}

void finish_if_hasty(Step& step) {
    auto end = end_of(step);
    if (end.action == nullptr || !end.action->is_hasty) {
        return;
    }
    auto& firing = step.firing();
    auto tasks = std::vector<trigger::TriggerNumber>{};
    for (auto [raw, remembered] : *step.state().triggers_in(step.scope())) {
        tasks.emplace_back(raw);
    }
    std::ranges::sort(tasks);
    for (auto number : tasks) {
        const auto* settings = settings_of(*firing.decider().triggers().get(number));
        if (settings != nullptr) {
            auto other = Step{firing, *settings, number, step.scope()};
            if (other.is_active()) {
                other.cancel_work();
            }
        }
    }
    // Only a result has expressions that may fail, and there is none.
    static_cast<void>(end.action->finish(firing, end.number, step.scope()));
}

void note_undo(Step& step) {
    auto end = end_of(step);
    if (end.action == nullptr) {
        return;
    }
    auto memory = memory_of(step.state(), step.scope(), end.number);
    auto place = count_in(memory, "undo");
    step.firing().record(trigger::Collected{.scope = step.scope(),
                                            .trigger = end.number,
                                            .index = static_cast<std::uint64_t>(place),
                                            .value = step.id()});
    step.firing().record(trigger::Remembered{
        .scope = step.scope(), .trigger = end.number, .memory = memory.with("undo", place + 1)});
}

Attempt<void> EndAction::perform(trigger::Firing& firing) const {
    auto type = firing.event().type();
    if (type == trigger::types::run_reopened) {
        return restart_failed(firing);
    }
    if (type.starts_with("sluice.task.")) {
        auto memory = memory_of(firing.state(), firing.scope(), firing.trigger());
        if (const auto error = firing.event().data_at(std::array{std::string_view{"error"}});
            error && memory.find("undo_error") == nullptr) {
            memory = memory.with("undo_error", *error);
        }
        return undo_next(firing, firing.trigger(), firing.scope(), std::move(memory));
    }
    return finish(firing, firing.trigger(), firing.scope());
}

Attempt<void> EndAction::finish(trigger::Firing& firing, trigger::TriggerNumber number,
                                trigger::Incarnation scope) const {
    auto memory = memory_of(firing.state(), scope, number);
    if (count_in(memory, "failed") == 0) {
        auto value = TRY(make_result(firing, number, scope));
        if (!owner.empty()) {
            return tell_owner(firing, scope, Value::object({{"result", std::move(value)}}));
        }
        firing.decider().end_run(trigger::Status::Succeeded, std::move(value), {});
        return {};
    }
    if (undoes && count_in(memory, "undo") > 0) {
        return undo_next(firing, number, scope, memory.with("status", "undoing"));
    }
    return fail(firing, scope, memory);
}

Attempt<void> EndAction::fail(trigger::Firing& firing, trigger::Incarnation scope,
                              const Value& memory) const {
    if (!owner.empty()) {
        return tell_owner(firing, scope, Value::object({{"error", failure_of(memory)}}));
    }
    firing.decider().end_run(trigger::Status::Failed, {}, failure_of(memory));
    return {};
}

/// The last that succeeded comes first.
Attempt<void> EndAction::undo_next(trigger::Firing& firing, trigger::TriggerNumber number,
                                   trigger::Incarnation scope, Value memory) const {
    auto done = firing.state().collected_by(scope, number);
    auto left = count_in(memory, "undo");
    while (left > 0) {
        --left;
        auto step = Step::find(firing, done.at(static_cast<std::size_t>(left)).as_string(), scope);
        if (!step || !step->settings().undo || step->status() != words::succeeded) {
            continue; // It was begun again meanwhile.
        }
        const auto& undo = *step->settings().undo;
        const auto* result = step->memory().find("result");
        auto input =
            step->evaluate(undo.input, {{"result", result == nullptr ? Value{} : *result}});
        if (!input) {
            auto error =
                Value::object({{"kind", input.error().code}, {"message", input.error().message}});
            memory =
                memory.find("undo_error") == nullptr ? memory.with("undo_error", error) : memory;
            continue;
        }
        step->remember(step->memory().with("status", words::undone));
        firing.record(trigger::Remembered{
            .scope = scope, .trigger = number, .memory = memory.with("undo", left)});
        const auto& end = firing.decider().triggers().get(number)->spec.id;
        firing.record(trigger::TaskOpened{.key = firing.next_key(),
                                          .task = {.target = undo.function,
                                                   .subject = end,
                                                   .input = *std::move(input),
                                                   .policy = undo.policy,
                                                   .scope = scope,
                                                   .trigger = number}});
        return {};
    }
    return fail(firing, scope, memory);
}

Attempt<Value> EndAction::make_result(trigger::Firing& firing, trigger::TriggerNumber number,
                                      trigger::Incarnation scope) const {
    if (has_result) {
        auto bindings = TaskBindings{firing.state(), firing.decider().triggers(),
                                     firing.decider().moment(), scope, prefixes};
        auto outcome = result.evaluate(bindings, {.output_bytes_max = 64UL << 20U});
        if (auto* fault = std::get_if<expr::Fault>(&outcome)) {
            return std::unexpected(std::move(*fault));
        }
        return std::get<Value>(std::move(outcome));
    }
    auto members = std::vector<value::Member>{};
    auto prefix = prefixes.empty() ? std::size_t{0} : prefixes.back().size();
    const auto& patterns = firing.decider().triggers().get(number)->spec.on;
    for (auto at = std::uint32_t{0}; at < last; ++at) {
        auto step = Step::find(firing, patterns[at].subject.text, scope);
        if (step && step->status() == words::succeeded) {
            const auto* value = step->memory().find("result");
            members.push_back(
                {patterns[at].subject.text.substr(prefix), value == nullptr ? Value{} : *value});
        }
    }
    return Value::map(std::move(members));
}

Attempt<void> EndAction::tell_owner(trigger::Firing& firing, trigger::Incarnation scope,
                                    Value outcome) const {
    auto path = *firing.state().path_of(scope);
    auto around = std::string{outer_path(path, 1)};
    auto index = std::int64_t{0};
    auto digits = std::string_view{path}.substr(around.size() + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), index);
    firing.emit({.type = std::string{words::body_ended},
                 .subject = owner,
                 .data = outcome.with("index", index),
                 .scope = around},
                *firing.state().scope_at(around));
    return {};
}

std::shared_ptr<const trigger::Action> make_end(const Value& params, Problems& problems) {
    auto reader = trigger::FormReader{
        params,
        "",
        problems,
        {"of", "last", "within", "owner", "fail_fast", "undoes", "result", "lang", "names"}};
    auto action = std::make_shared<EndAction>();
    action->upstream = static_cast<std::uint32_t>(reader.count("of", 0, UINT32_MAX).value_or(0));
    action->last = static_cast<std::uint32_t>(reader.count("last", 0, UINT32_MAX).value_or(0));
    action->owner = reader.text("owner").value_or("");
    action->undoes = reader.boolean("undoes").value_or(action->owner.empty());
    action->is_hasty = reader.boolean("fail_fast").value_or(false);
    action->has_result = reader.find("result") != nullptr;
    action->result = read_template(params, "result", "", read_site(params), problems);
    if (const auto* within = reader.find("within")) {
        for (const auto& prefix : within->as_list()) {
            action->prefixes.emplace_back(prefix.as_string());
        }
    }
    return action;
}

} // namespace sluice::workflow::dag::internal
