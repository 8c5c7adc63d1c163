#include "workflow/asl/test_state.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "workflow/asl/internal/test/mock_rules.h"
#include "workflow/asl/internal/test/state_trial.h"
#include "workflow/asl/read.h"

namespace sluice::workflow::asl {

namespace {

using Problem = StateTestProblem;

/// The machine that the state is in, and which it is.
struct Found {
    std::shared_ptr<const Machine> machine;
    StateNumber state = 0;
};

Problem invalid_definition(const std::vector<Diagnostic>& diagnostics) {
    auto text = std::string{};
    for (const auto& each : diagnostics) {
        text += fmt::format("{}{}: {} at {}", text.empty() ? "" : ", ", each.code, each.message,
                            each.location);
    }
    return {"InvalidDefinition", fmt::format("Invalid State Machine Definition: '{}'", text)};
}

std::expected<Found, Problem> find_state(const StateTest& test) {
    auto machine = read(test.definition, {.is_single_state = test.state.empty()});
    if (!machine) {
        return std::unexpected(invalid_definition(machine.error()));
    }
    if (test.state.empty()) {
        return Found{.machine = *std::move(machine)};
    }
    auto named = (*machine)->by_name.find(test.state);
    if (named == (*machine)->by_name.end()) {
        return std::unexpected(Problem{"ValidationException", "State not found in definition"});
    }
    auto state = named->second;
    return Found{.machine = *std::move(machine), .state = state};
}

} // namespace

std::expected<std::variant<StateTestOutcome, NeededCall>, StateTestProblem> test_state(
    const StateTest& test) {
    auto found = find_state(test);
    if (!found) {
        return std::unexpected(std::move(found.error()));
    }
    const auto& state = found->machine->states[found->state];
    if (auto problem = internal::mock_problem(test, *found->machine, state)) {
        return std::unexpected(*std::move(problem));
    }
    return internal::StateTrial{test, *found->machine, state}.run();
}

} // namespace sluice::workflow::asl
