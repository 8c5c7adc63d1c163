#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "workflow/asl/internal/read/object.h"
#include "workflow/asl/internal/read/report.h"
#include "workflow/asl/machine.h"
#include "workflow/asl/read.h"

namespace sluice::workflow::asl::internal {

/// A flow that was met and is still to be read. Flows wait in a list instead of being read where
/// they stand, so that nesting costs no stack.
struct FlowForm {
    const Value* form = nullptr;
    std::string pointer{};
    bool is_express = false; ///< Its executions are express ones.
    /// Its flow sees the variables of the flow around it: not so in a distributed Map.
    bool sees_outer = true;
};

/// A machine while it is read.
struct Reading {
    ReadOptions options;
    Report report{};
    Machine machine{};
    std::vector<FlowForm> forms{};                  ///< By flow number.
    std::vector<std::string> places{};              ///< Pointers, by state number.
    std::vector<std::vector<VariableRead>> reads{}; ///< By state number.
    boost::unordered_flat_map<std::string, std::string> labels{};

    FlowNumber add_flow(FlowForm form, std::optional<StateNumber> owner) {
        forms.push_back(std::move(form));
        machine.flows.push_back({.owner = owner});
        return static_cast<FlowNumber>(machine.flows.size() - 1);
    }
    StateNumber add_state(std::string_view name, std::string place, FlowNumber flow) {
        machine.states.push_back({.name = std::string{name}, .flow = flow});
        places.push_back(std::move(place));
        reads.emplace_back();
        return static_cast<StateNumber>(machine.states.size() - 1);
    }
};

/// The states of a flow, which its transitions may name.
using Targets = boost::unordered_flat_map<std::string, StateNumber>;

/// A state while it is read.
struct StateSite {
    Reading& reading;
    Object object;
    Targets& targets;
    State& state;
    StateNumber number = 0;
    bool is_express = false;
    bool is_alone = false; ///< What it goes to is not there: TestState.

    Language language() const { return state.language; }
};

/// The state that a transition goes to; nothing when none is given or it is not there.
std::optional<StateNumber> read_target(StateSite& site, const Object& from, std::string_view name);

void read_retry(StateSite& site);
void read_catch(StateSite& site);
ChoiceState read_choice(StateSite& site);
WaitState read_wait(StateSite& site);
FailState read_fail(StateSite& site);
TaskState read_task(StateSite& site);
ParallelState read_parallel(StateSite& site);
MapState read_map(StateSite& site);
/// All of a state; its kind stays unread when `Type` is wrong.
void read_state(StateSite& site);
/// All of a flow's states.
void read_flow(Reading& reading, FlowNumber flow);

/// Every state can be reached from the first one, and one that can ends the flow.
void check_transitions(const Object& states, std::string_view start);
/// No flow assigns a variable of a flow around it, and what is read is assigned where it is seen.
void check_variables(Reading& reading);

} // namespace sluice::workflow::asl::internal
