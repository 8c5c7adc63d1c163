#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

#include "value/wording.h"
#include "workflow/asl/internal/read/reading.h"

namespace sluice::workflow::asl::internal {

namespace {

void add_target(const Value& form, std::string_view name, std::vector<std::string_view>& targets) {
    const auto* target = form.find(name);
    if (target != nullptr && target->is_string()) {
        targets.push_back(target->as_string());
    }
}

void add_targets_of_rules(const Value& form, std::string_view name,
                          std::vector<std::string_view>& targets) {
    const auto* rules = form.find(name);
    if (rules == nullptr || !rules->is_list()) {
        return;
    }
    for (const auto& rule : rules->as_list()) {
        add_target(rule, "Next", targets);
    }
}

/// Taken from what is written, so that a state with another fault still reaches others.
std::vector<std::string_view> targets_of(const Value& state) {
    auto targets = std::vector<std::string_view>{};
    add_target(state, "Next", targets);
    add_target(state, "Default", targets);
    add_targets_of_rules(state, "Choices", targets);
    add_targets_of_rules(state, "Catch", targets);
    return targets;
}

/// A state that neither goes on nor ends has been reported already.
bool may_end(const Value& state) {
    auto type = value::text_at(state, "Type");
    return type != "Choice" && state.find("Next") == nullptr;
}

} // namespace

void check_transitions(const Object& states, std::string_view start) {
    auto reached = boost::unordered_flat_set<std::string_view>{start};
    auto open = std::vector<std::string_view>{start};
    auto has_end = false;
    while (!open.empty()) {
        const auto* state = states.find(open.back());
        open.pop_back();
        if (state == nullptr) {
            has_end = true; // It might have been what is missing, which has been reported.
            continue;
        }
        has_end = has_end || may_end(*state);
        for (auto target : targets_of(*state)) {
            if (reached.insert(target).second) {
                open.push_back(target);
            }
        }
    }
    for (const auto& [name, form] : states.form().as_map()) {
        if (!reached.contains(name)) {
            states.refuse(name, fmt::format("State \"{}\" is not reachable.", name),
                          code::no_target);
        }
    }
    if (!has_end) {
        states.refuse_all(
            "There is no terminal state: one that can be reached must have 'End', or "
            "be a Succeed or Fail state",
            code::no_end);
    }
}

} // namespace sluice::workflow::asl::internal
