#include "trigger/internal/bindings.h"

#include <utility>

#include "expr/map_bindings.h"

namespace sluice::trigger {

namespace {

std::optional<Value> walk(const Value& value, std::span<const std::string_view> path) {
    const auto* found = expr::find_at(value, path);
    return found != nullptr ? std::optional{*found} : std::nullopt;
}

std::int64_t signed_of(std::uint64_t number) {
    return static_cast<std::int64_t>(number);
}

} // namespace

const Value& memory_of(const TriggerState* remembered, const CompiledTrigger& trigger) {
    return remembered != nullptr && remembered->memory ? *remembered->memory : trigger.spec.context;
}

const Value& memory_of(const RunState& state, const CompiledTrigger& trigger, TriggerNumber number,
                       Incarnation scope) {
    return memory_of(state.find_trigger(scope, number), trigger);
}

bool is_enabled(const TriggerState* remembered, const CompiledTrigger& trigger) {
    if (remembered == nullptr || remembered->enabled == Switch::AsWritten) {
        return trigger.spec.is_enabled;
    }
    return remembered->enabled == Switch::On;
}

bool is_enabled(const RunState& state, const CompiledTrigger& trigger, TriggerNumber number,
                Incarnation scope) {
    return is_enabled(state.find_trigger(scope, number), trigger);
}

void RunBindings::set_item(std::uint64_t index, Value item) {
    item_ = {.index = index, .value = std::move(item)};
}

std::optional<Value> RunBindings::resolve(std::span<const std::string_view> path) const {
    auto root = path.front();
    auto rest = path.subspan(1);
    if (root == "event" || root == "data") {
        return view_.at(path);
    }
    if (root == "context") {
        const auto* trigger = triggers_.get(trigger_); // Its own actions may have removed it.
        return trigger == nullptr ? std::nullopt
                                  : walk(memory_of(state_, *trigger, trigger_, scope_), rest);
    }
    if (root == "run") {
        return resolve_run(rest);
    }
    if (root == "trigger") {
        return resolve_trigger(trigger_, rest);
    }
    if (root == "triggers" && !rest.empty()) {
        auto number = triggers_.find(rest.front());
        return number ? resolve_trigger(*number, rest.subspan(1)) : std::nullopt;
    }
    if (root == "scope") {
        return resolve_scope(rest);
    }
    if (root == "item" && item_) {
        return walk(item_->value, rest);
    }
    if (root == "index" && item_ && rest.empty()) {
        return Value{signed_of(item_->index)};
    }
    if (root == "now" && rest.empty()) {
        return Value{moment_.time};
    }
    return std::nullopt;
}

std::optional<Value> RunBindings::resolve_run(std::span<const std::string_view> path) const {
    if (path.empty()) {
        return Value::object({{"id", state_.id},
                              {"definition", state_.info.definition},
                              {"input", state_.info.input},
                              {"labels", state_.info.labels},
                              {"context", state_.context},
                              {"started", state_.info.started},
                              {"generation", signed_of(state_.info.generation)}});
    }
    auto rest = path.subspan(1);
    if (path.front() == "id") {
        return walk(Value{state_.id}, rest);
    }
    if (path.front() == "input") {
        return walk(state_.info.input, rest);
    }
    if (path.front() == "context") {
        return walk(state_.context, rest);
    }
    if (path.front() == "labels") {
        return walk(state_.info.labels, rest);
    }
    if (path.front() == "definition") {
        return walk(Value{state_.info.definition}, rest);
    }
    if (path.front() == "started") {
        return walk(Value{state_.info.started}, rest);
    }
    if (path.front() == "generation") {
        return walk(Value{signed_of(state_.info.generation)}, rest);
    }
    if (path.front() == "fires") {
        return walk(Value{signed_of(state_.progress.fires)}, rest);
    }
    return std::nullopt;
}

std::optional<Value> RunBindings::resolve_trigger(TriggerNumber number,
                                                  std::span<const std::string_view> path) const {
    const auto* trigger = triggers_.get(number);
    if (trigger == nullptr) {
        return std::nullopt;
    }
    static const auto untouched = TriggerState{};
    const auto* found = state_.find_trigger(scope_, number);
    const auto& remembered = found == nullptr ? untouched : *found;
    if (!path.empty() && path.front() == "context") {
        return walk(memory_of(state_, *trigger, number, scope_), path.subspan(1));
    }
    return walk(Value::object({{"id", trigger->spec.id},
                               {"count", signed_of(remembered.progress)},
                               {"fired", signed_of(remembered.fired)},
                               {"enabled", is_enabled(state_, *trigger, number, scope_)},
                               {"gone", remembered.is_gone},
                               {"context", memory_of(state_, *trigger, number, scope_)}}),
                path);
}

/// Variables are looked up outwards: the innermost scope that has the name decides.
std::optional<Value> RunBindings::resolve_scope(std::span<const std::string_view> path) const {
    const auto* own = state_.path_of(scope_);
    if (own == nullptr) {
        return std::nullopt;
    }
    if (path.empty() || path.front() == "path") {
        return path.size() <= 1 ? std::optional{Value{*own}} : std::nullopt;
    }
    auto at = std::string_view{*own};
    while (!at.empty()) {
        if (auto scope = state_.scopes.find(at); scope != state_.scopes.end()) {
            if (scope->second.variables.find(path.front()) != nullptr) {
                return walk(scope->second.variables, path);
            }
        }
        auto slash = at.rfind('/');
        at = slash == std::string_view::npos ? std::string_view{} : at.substr(0, slash);
    }
    return std::nullopt;
}

} // namespace sluice::trigger
