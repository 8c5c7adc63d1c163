#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

/// Those that the states of each flow assign.
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

/// Where a variable is assigned, as a flow sees it.
enum class Origin : std::uint8_t { Here, Outside, Hidden, Nowhere };

class Scopes {
public:
    explicit Scopes(const Reading& reading) : reading_(reading), names_(names_by_flow(reading)) {}

    Origin origin_of(const std::string& name, FlowNumber flow) const {
        return names_[flow].contains(name) ? Origin::Here : origin_around(name, flow);
    }

    Origin origin_around(const std::string& name, FlowNumber flow) const {
        auto origin = Origin::Outside;
        const auto& machine = reading_.machine;
        while (machine.flows[flow].owner) {
            origin = reading_.forms[flow].sees_outer ? origin : Origin::Hidden;
            flow = machine.states[*machine.flows[flow].owner].flow;
            if (names_[flow].contains(name)) {
                return origin;
            }
        }
        return Origin::Nowhere;
    }

private:
    const Reading& reading_;
    std::vector<VariableNames> names_;
};

void warn_of_read(const VariableRead& read, Origin origin, Report& report) {
    if (origin == Origin::Hidden) {
        report.warn(read.pointer,
                    fmt::format("The variable '{0}' is assigned outside of a distributed Map, "
                                "whose items do not see it; hand it to them by ItemSelector",
                                read.name),
                    code::unknown_variable);
    } else if (origin == Origin::Nowhere) {
        report.warn(read.pointer,
                    fmt::format("No state assigns a variable '{}' that is seen here", read.name),
                    code::unknown_variable);
    }
}

} // namespace

void check_variables(Reading& reading) {
    auto scopes = Scopes{reading};
    const auto& machine = reading.machine;
    for (auto number = std::size_t{0}; number < machine.states.size(); ++number) {
        const auto& state = machine.states[number];
        each_assigned(
            state, reading.places[number], [&](std::string_view name, const std::string& place) {
                if (scopes.origin_around(std::string{name}, state.flow) == Origin::Outside) {
                    reading.report.add(place,
                                       fmt::format("The variable '{}' is assigned outside, where "
                                                   "this is nested: inner states may read it but "
                                                   "not assign it",
                                                   name));
                }
            });
        for (const auto& read : reading.reads[number]) {
            warn_of_read(read, scopes.origin_of(read.name, state.flow), reading.report);
        }
    }
}

} // namespace sluice::workflow::asl::internal
