#include "workflow/dag/internal/keeping.h"

#include <algorithm>
#include <vector>

namespace sluice::workflow::dag::internal {

namespace {

/// It calls functions, and does nothing with what they answer.
bool hands_results_on(const FlowTask& task) {
    if (task.kind == "map") {
        const auto& map = *task.form.find("map");
        return map.find("call") != nullptr && map.find("batch") == nullptr;
    }
    return task.kind == "call" || task.kind == "script" || task.kind == "http";
}

bool expands(const FlowTask& task) {
    const auto* expand = task.form.find("expand");
    return expand != nullptr && *expand == Value{true};
}

/// What undoes it may get the result as a part of its input.
bool is_undone_with_input(const FlowTask& task) {
    const auto* undo = task.form.find("on_failure");
    return undo != nullptr && undo->is_map() && undo->find("input") != nullptr;
}

} // namespace

Keeping::Keeping(const Flow& flow, const Value* result)
    : is_known_(flow.site.language == Language::Cel) {
    read(flow);
    if (result == nullptr) {
        mark_last(flow, InResult);
    } else {
        mark_result(flow, *result, InResult);
    }
}

void Keeping::read(const Flow& flow) {
    for (const auto& task : flow.tasks) {
        for (const auto& name : task.uses.looked_at) {
            mark(flow, name, LookedInto);
        }
        // Tasks that come while it runs may ask for any that is there.
        if (task.uses.looks_at_any || expands(task)) {
            mark_all(flow);
        }
        if (!task.body) {
            continue;
        }
        read(*task.body);
        if (const auto* result = task.form.find("map")->find("result")) {
            mark_result(*task.body, *result, LookedInto);
        } else {
            mark_last(*task.body, LookedInto);
        }
    }
}

void Keeping::mark(const Flow& flow, std::string_view name, Use use) {
    for (const auto* at = &flow; at != nullptr; at = at->outer) {
        if (auto found = at->by_name.find(name); found != at->by_name.end()) {
            uses_[&at->tasks[found->second]] |= use;
        }
    }
}

void Keeping::mark_all(const Flow& flow) {
    for (const auto* at = &flow; at != nullptr; at = at->outer) {
        for (const auto& task : at->tasks) {
            uses_[&task] |= LookedInto;
        }
    }
}

void Keeping::mark_last(const Flow& flow, Use use) {
    auto has_next = std::vector<bool>(flow.tasks.size());
    for (const auto& task : flow.tasks) {
        for (auto before : task.upstream()) {
            has_next[before] = true;
        }
    }
    for (auto at = std::size_t{0}; at < flow.tasks.size(); ++at) {
        if (!has_next[at]) {
            uses_[&flow.tasks[at]] |= use;
        }
    }
}

void Keeping::mark_result(const Flow& flow, const Value& result, Use handed_on) {
    auto used = TaskUses{};
    add_uses(result, flow.site, Handling::LooksInto, used);
    for (const auto& name : used.looked_at) {
        mark(flow, name, handed_on);
    }
    auto uses = TaskUses{};
    add_uses(result, flow.site, Handling::HandsOn, uses);
    for (const auto& name : uses.looked_at) {
        mark(flow, name, LookedInto);
    }
    if (uses.looks_at_any) {
        mark_all(flow);
    }
}

std::string_view Keeping::of(const FlowTask& task) const {
    if (!is_known_ || !hands_results_on(task) || expands(task) || is_undone_with_input(task)) {
        return {};
    }
    auto found = uses_.find(&task);
    auto use = found == uses_.end() ? std::uint8_t{0} : found->second;
    return (use & LookedInto) != 0 ? "" : (use & InResult) != 0 ? "root" : "kept";
}

} // namespace sluice::workflow::dag::internal
