#include "workflow/dag/internal/task_bindings.h"

#include <algorithm>
#include <charconv>

#include "workflow/dag/internal/words.h"

namespace sluice::workflow::dag::internal {

namespace {

/// The value under a path: members of maps, indices of lists.
std::optional<Value> walk(Value at, std::span<const std::string_view> path) {
    for (auto part : path) {
        if (at.is_map()) {
            const auto* member = at.find(part);
            if (member == nullptr) {
                return std::nullopt;
            }
            at = Value{*member};
            continue;
        }
        auto index = std::size_t{0};
        auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
        auto is_index = error == std::errc{} && end == part.data() + part.size();
        if (!at.is_list() || !is_index || index >= at.size()) {
            return std::nullopt;
        }
        at = Value{at.as_list()[index]};
    }
    return at;
}

Value shown(const Value& memory) {
    auto members = std::vector<value::Member>{{"status", status_of(memory)}};
    for (const auto* name : {"result", "error", "failures"}) {
        if (const auto* member = memory.find(name)) {
            members.push_back({name, *member});
        }
    }
    // Nothing is a result too.
    if (status_of(memory) == words::succeeded && memory.find("result") == nullptr) {
        members.push_back({"result", Value{}});
    }
    return Value::map(std::move(members));
}

} // namespace

const Value& memory_of(const trigger::RunState& state, trigger::Incarnation scope,
                       trigger::TriggerNumber task) {
    static const auto nothing = Value{};
    const auto* remembered = state.find_trigger(scope, task);
    return remembered != nullptr && remembered->memory ? *remembered->memory : nothing;
}

std::string_view status_of(const Value& memory) {
    const auto* status = memory.find("status");
    return status == nullptr ? words::pending : status->as_string();
}

std::string_view outer_path(std::string_view path, int parts) {
    for (; parts > 0 && !path.empty(); --parts) {
        auto slash = path.rfind('/');
        path = slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
    }
    return path;
}

void TaskBindings::bind(std::string name, Value value) {
    for (auto& [known, bound] : bound_) {
        if (known == name) {
            bound = std::move(value);
            return;
        }
    }
    bound_.emplace_back(std::move(name), std::move(value));
}

std::optional<Value> TaskBindings::resolve(std::span<const std::string_view> path) const {
    auto root = path.front();
    auto rest = path.subspan(1);
    for (const auto& [name, value] : bound_) {
        if (name == root) {
            return walk(value, rest);
        }
    }
    if (root == "input") {
        return walk(state_.info.input, rest);
    }
    if (root == "tasks") {
        return resolve_tasks(rest);
    }
    if (root == "context") {
        return walk(state_.context, rest);
    }
    if (root == "run") {
        return resolve_run(rest);
    }
    if (root == "now") {
        return rest.empty() ? std::optional{Value{moment_.time}} : std::nullopt;
    }
    return resolve_variable(path);
}

std::optional<Value> TaskBindings::resolve_run(std::span<const std::string_view> path) const {
    return walk(Value::object({{"id", state_.id},
                               {"definition", state_.info.definition},
                               {"started", state_.info.started},
                               {"labels", state_.info.labels},
                               {"generation", static_cast<std::int64_t>(state_.info.generation)}}),
                path);
}

/// A task beside this one, or else beside a body that it is in.
std::optional<Value> TaskBindings::resolve_tasks(std::span<const std::string_view> path) const {
    const auto* own = state_.path_of(scope_);
    if (own == nullptr) {
        return std::nullopt;
    }
    if (path.empty()) {
        return all_tasks();
    }
    auto at = std::string_view{*own};
    for (auto level = prefixes_.size() + 1; level-- > 0;) {
        auto id = (level == 0 ? std::string{} : prefixes_[level - 1]) + std::string{path.front()};
        auto number = triggers_.find(id);
        auto scope = number ? state_.scope_at(at) : std::nullopt;
        if (scope) {
            return walk(shown(memory_of(state_, *scope, *number)), path.subspan(1));
        }
        at = outer_path(at, 2);
    }
    return std::nullopt;
}

/// Where a task is named by what is only known now.
Value TaskBindings::all_tasks() const {
    auto members = std::vector<value::Member>{};
    const auto* states = state_.triggers_in(scope_);
    if (states == nullptr) {
        return Value::map({});
    }
    auto prefix = prefixes_.empty() ? std::string_view{} : std::string_view{prefixes_.back()};
    for (auto [raw, remembered] : *states) {
        const auto* task = triggers_.get(trigger::TriggerNumber{raw});
        if (task != nullptr && remembered->memory && task->spec.id.starts_with(prefix)) {
            members.push_back({task->spec.id.substr(prefix.size()), shown(*remembered->memory)});
        }
    }
    std::ranges::sort(members, {}, &value::Member::key);
    return Value::map(std::move(members));
}

std::optional<Value> TaskBindings::resolve_variable(std::span<const std::string_view> path) const {
    const auto* own = state_.path_of(scope_);
    auto at = own == nullptr ? std::string_view{} : std::string_view{*own};
    for (; !at.empty(); at = outer_path(at, 1)) {
        auto scope = state_.scopes.find(at);
        if (scope != state_.scopes.end() && scope->second.variables.find(path.front()) != nullptr) {
            return walk(scope->second.variables, path);
        }
    }
    return std::nullopt;
}

} // namespace sluice::workflow::dag::internal
