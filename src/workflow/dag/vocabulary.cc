#include "workflow/dag/vocabulary.h"

#include <memory>
#include <utility>

#include "workflow/dag/internal/begin_action.h"
#include "workflow/dag/internal/commands.h"
#include "workflow/dag/internal/end_action.h"
#include "workflow/dag/internal/operators.h"
#include "workflow/dag/internal/own_function.h"
#include "workflow/dag/internal/task_action.h"
#include "workflow/dag/internal/words.h"

namespace sluice::workflow::dag {

namespace {

std::vector<Value> patterns_of_wait(const Value& task, const std::string& id) {
    const auto* event = task.find("wait")->find("event");
    if (event == nullptr || event->find("type") == nullptr) {
        return {Value::object({{"type", "sluice.timer.fired"}, {"subject", id}})};
    }
    auto pattern = Value::object({{"type", *event->find("type")}});
    if (const auto* subject = event->find("subject")) {
        pattern = pattern.with("subject", *subject);
    }
    return {pattern};
}

std::vector<Value> patterns_of_call(const Value& task, const std::string& id) {
    if (task.find("expand") == nullptr) {
        return {};
    }
    return {Value::object({{"type", words::body_ended}, {"subject", id}})};
}

std::vector<Value> patterns_of_map(const Value& task, const std::string& id) {
    const auto* map = task.find("map");
    auto patterns = std::vector<Value>{};
    if (map->find("tasks") != nullptr) {
        patterns.push_back(Value::object({{"type", words::body_ended}, {"subject", id}}));
        patterns.push_back(Value::object({{"type", "sluice.timer.fired"}, {"subject", id}}));
    }
    return patterns;
}

std::vector<Value> patterns_of_run(const Value& /*task*/, const std::string& id) {
    return {Value::object({{"type", "sluice.run.*"}, {"subject", id}})};
}

} // namespace

Operators built_in_operators() {
    return {
        {"approve", {.make = internal::make_approve, .members = {}, .patterns = {}}},
        {"branch", {.make = internal::make_branch, .members = {}, .patterns = {}}},
        {"call",
         {.make = internal::make_call,
          .members = {"input", "retry", "timeout", "priority", "pool", "slots", "expand"},
          .patterns = patterns_of_call}},
        {"emit", {.make = internal::make_emit, .members = {}, .patterns = {}}},
        {"http",
         {.make = internal::make_http,
          .members = {"retry", "timeout", "priority", "pool", "slots"},
          .patterns = {}}},
        {"map", {.make = internal::make_map, .members = {}, .patterns = patterns_of_map}},
        {"script",
         {.make = internal::make_script,
          .members = {"input", "retry", "timeout", "priority", "pool", "slots"},
          .patterns = {}}},
        {"subworkflow",
         {.make = internal::make_subworkflow,
          .members = {"input", "id"},
          .patterns = patterns_of_run}},
        {"wait", {.make = internal::make_wait, .members = {}, .patterns = patterns_of_wait}},
    };
}

void add_vocabulary(trigger::Vocabulary& vocabulary, const Operators& operators) {
    vocabulary.conditions[std::string{words::task_term}] = internal::make_task_condition;
    vocabulary.actions[std::string{words::task_term}] =
        [operators = std::make_shared<const Operators>(operators)](
            const Value& params, const trigger::ActionSite& /*site*/,
            Problems& problems) -> std::shared_ptr<const trigger::Action> {
        auto settings = internal::read_settings(params, operators, problems);
        return settings.work ? std::make_shared<internal::TaskAction>(std::move(settings))
                             : nullptr;
    };
    vocabulary.actions[std::string{words::end_term}] =
        [](const Value& params, const trigger::ActionSite& /*site*/, Problems& problems) {
            return internal::make_end(params, problems);
        };
    vocabulary.actions[std::string{words::begin_term}] =
        [](const Value& params, const trigger::ActionSite& /*site*/, Problems& problems) {
            return internal::make_begin(params, problems);
        };
    internal::add_commands(vocabulary);
}

} // namespace sluice::workflow::dag
