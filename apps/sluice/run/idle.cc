#include "sluice/run/idle.h"

#include <algorithm>
#include <future>
#include <utility>

namespace sluice::app {

namespace {

constexpr auto depth_max = 32;

/// The nested runs it waits for; null when something of its own is going to happen.
Result<Value> waits_for(const trigger::RunState* state) {
    auto is_busy =
        state == nullptr || state->has_ended() || state->has_work() || !state->timers.empty();
    if (is_busy) {
        return Value{};
    }
    if (state->is_queued()) {
        return Value{state->info.definition};
    }
    auto children = std::vector<Value>{};
    for (const auto& [key, task] : state->tasks) {
        if (task.kind == trigger::TaskKind::Call) {
            return Value{};
        }
        children.emplace_back(task.child);
    }
    return Value::list(std::move(children));
}

/// The runs that have the places it waits for; null while its request is under way.
Result<Value> runs_before(engine::Engine& engine, const engine::RunName& run,
                          std::string_view definition) {
    auto read = [id = run.id](const trigger::RunState* state) -> Result<Value> {
        if (state == nullptr || !state->scope_at("waiting/" + id)) {
            return Value{};
        }
        auto runs = std::vector<Value>{};
        for (const auto& [path, scope] : state->scopes) {
            if (path.starts_with("running/")) {
                runs.push_back(*scope.variables.find("run"));
            }
        }
        return Value::list(std::move(runs));
    };
    auto standing = trigger::standing_run_id("definition", definition);
    return ask(engine, {.space = run.space, .id = std::move(standing)}, read);
}

bool is_idle_within(engine::Engine& engine, const engine::RunName& run, int depth) {
    auto children = ask(engine, run, waits_for);
    if (children && children->is_string()) {
        children = runs_before(engine, run, children->as_string());
    }
    if (!children || !children->is_list() || depth > depth_max) {
        return false;
    }
    return std::ranges::all_of(children->as_list(), [&](const Value& child) {
        return is_idle_within(engine, {.space = run.space, .id = std::string{child.as_string()}},
                              depth + 1);
    });
}

} // namespace

Result<Value> ask(engine::Engine& engine, const engine::RunName& run,
                  std::function<Result<Value>(const trigger::RunState*)> read) {
    auto answered = std::promise<Result<Value>>{};
    engine.query(run, std::move(read),
                 [&](Result<Value> answer) { answered.set_value(std::move(answer)); });
    return answered.get_future().get();
}

bool is_idle(engine::Engine& engine, const engine::RunName& run) {
    return is_idle_within(engine, run, 0);
}

} // namespace sluice::app
