#include "workflow/asl/internal/test/mock_rules.h"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/test/given_context.h"
#include "workflow/asl/internal/test/mock_shapes.h"

namespace sluice::workflow::asl::internal {

namespace {

using MaybeProblem = std::optional<StateTestProblem>;

constexpr std::string_view kind_names[] = {"Pass", "Choice", "Wait",     "Succeed",
                                           "Fail", "Task",   "Parallel", "Map"};

StateTestProblem invalid(std::string message) {
    return {"ValidationException", std::move(message)};
}

MaybeProblem missing_mock(const State& state) {
    if (state.kind == Kind::Map || state.kind == Kind::Parallel) {
        return StateTestProblem{"InvalidDefinition",
                                "TestState API does not support Map or Parallel states. Supported "
                                "state types include: [Task, Wait, Pass, Succeed, Fail, Choice]"};
    }
    const auto* task = std::get_if<TaskState>(&state.details);
    if (task != nullptr &&
        (task->service == "activity" || task->pattern != Pattern::RequestResponse)) {
        return StateTestProblem{"InvalidDefinition",
                                "TestState API does not support activities, '.sync' and "
                                "'.waitForTaskToken' integrations without a mock"};
    }
    return std::nullopt;
}

MaybeProblem wrong_result(const StateTest& test, const State& state, const Value& result) {
    if (const auto* task = std::get_if<TaskState>(&state.details)) {
        auto fault = mock_fault(*task, result, test.mock->validation);
        return fault.empty() ? MaybeProblem{} : invalid(std::move(fault));
    }
    const auto* map = std::get_if<MapState>(&state.details);
    if (map != nullptr && map->writer) {
        return result.is_map() ? MaybeProblem{} : invalid("Mocked result must be a JSON object.");
    }
    if (!result.is_list()) {
        return invalid("Mocked result must be an array.");
    }
    const auto* parallel = std::get_if<ParallelState>(&state.details);
    if (parallel != nullptr && result.size() != parallel->branches.size()) {
        return invalid(
            "Mocked result must contain the same number of items as number of Parallel branches.");
    }
    return std::nullopt;
}

/// Whether a state lies within another, however deep.
bool is_inside(const Machine& machine, const State& inner, const State& outer) {
    for (auto owner = machine.flows[inner.flow].owner; owner;
         owner = machine.flows[machine.states[*owner].flow].owner) {
        if (&machine.states[*owner] == &outer) {
            return true;
        }
    }
    return false;
}

MaybeProblem wrong_settings(const StateTest& test, const Machine& machine, const State& state) {
    if (!test.failing_state.empty()) {
        auto named = machine.by_name.find(test.failing_state);
        if (named == machine.by_name.end() ||
            !is_inside(machine, machine.states[named->second], state)) {
            return invalid(fmt::format("State '{}' is not inside the state that is tested",
                                       test.failing_state));
        }
    }
    if (test.failed_iterations && state.kind != Kind::Map) {
        return invalid("Map iteration failure count is only supported for Map states");
    }
    return std::nullopt;
}

} // namespace

MaybeProblem mock_problem(const StateTest& test, const Machine& machine, const State& state) {
    if (!test.mock) {
        if (auto problem = missing_mock(state)) {
            return problem;
        }
    } else if (state.kind != Kind::Task && state.kind != Kind::Map &&
               state.kind != Kind::Parallel) {
        return invalid(fmt::format("State type '{}' is not supported when a mock is specified",
                                   kind_names[static_cast<std::size_t>(state.kind)]));
    }
    if (test.context) {
        if (auto fault = context_fault(*test.context, state); !fault.empty()) {
            return invalid(std::move(fault));
        }
    }
    if (auto problem = wrong_settings(test, machine, state)) {
        return problem;
    }
    const auto* result = test.mock ? std::get_if<Value>(&test.mock->outcome) : nullptr;
    return result == nullptr ? std::nullopt : wrong_result(test, state, *result);
}

} // namespace sluice::workflow::asl::internal
