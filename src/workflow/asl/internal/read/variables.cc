#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

#include "workflow/asl/internal/read/reading.h"
#include "workflow/asl/internal/read/variable_name.h"

namespace sluice::workflow::asl::internal {

namespace {

using VariableNames = boost::unordered_flat_set<std::string>;

/// Calls `take(name, pointer)` for every variable that a state assigns.
void each_assigned(const State& state, const std::string& place, const auto& take) {
    auto each_key = [&](const std::optional<Template>& assign, const std::string& owner) {
        if (!assign || !assign->form().is_map()) {
            return;
        }
        for (const auto& [key, value] : assign->form().as_map()) {
            take(variable_of(key, state.language), join(join(owner, "Assign"), key));
        }
    };
    each_key(state.assign, place);
    for (auto index = std::size_t{0}; index < state.catches.size(); ++index) {
        each_key(state.catches[index].assign, join(join(place, "Catch"), index));
    }
    if (const auto* choice = std::get_if<ChoiceState>(&state.details)) {
        for (auto index = std::size_t{0}; index < choice->rules.size(); ++index) {
            each_key(choice->rules[index].assign, join(join(place, "Choices"), index));
        }
    }
}

/// Those of a flow and, before it, of the flows around it that it sees.
std::vector<VariableNames> names_by_flow(const Reading& reading) {
    const auto& machine = reading.machine;
    auto names = std::vector<VariableNames>(machine.flows.size());
    for (auto number = std::size_t{0}; number < machine.states.size(); ++number) {
        const auto& state = machine.states[number];
        each_assigned(
            state, reading.places[number],
            [&](std::string_view name, const std::string&) { names[state.flow].emplace(name); });
    }
    return names;
}

bool is_outer(const Reading& reading, const std::vector<VariableNames>& names, FlowNumber flow,
              std::string_view name) {
    const auto& machine = reading.machine;
    while (machine.flows[flow].owner && reading.forms[flow].sees_outer) {
        flow = machine.states[*machine.flows[flow].owner].flow;
        if (names[flow].contains(std::string{name})) {
            return true;
        }
    }
    return false;
}

} // namespace

void check_variables(Reading& reading) {
    auto names = names_by_flow(reading);
    const auto& machine = reading.machine;
    for (auto number = std::size_t{0}; number < machine.states.size(); ++number) {
        const auto& state = machine.states[number];
        each_assigned(state, reading.places[number],
                      [&](std::string_view name, const std::string& place) {
                          if (is_outer(reading, names, state.flow, name)) {
                              reading.report.add(
                                  place, fmt::format("The variable '{}' is assigned outside, where "
                                                     "this is nested: inner states may read it but "
                                                     "not assign it",
                                                     name));
                          }
                      });
    }
}

} // namespace sluice::workflow::asl::internal
