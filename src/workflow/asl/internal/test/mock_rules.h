#pragma once

#include <optional>

#include "workflow/asl/machine.h"
#include "workflow/asl/test_state.h"

namespace sluice::workflow::asl::internal {

/// Why a state cannot be tested with what is given in place of its work.
std::optional<StateTestProblem> mock_problem(const StateTest& test, const Machine& machine,
                                             const State& state);

} // namespace sluice::workflow::asl::internal
