#pragma once

#include <string>

#include "value/value.h"
#include "workflow/asl/machine.h"
#include "workflow/asl/test_state.h"

namespace sluice::workflow::asl::internal {

/// What is wrong with a mocked result, held to what the task's API answers; empty: nothing, or
/// nothing is known of the API.
std::string mock_fault(const TaskState& task, const Value& result, TestMock::Validation validation);

} // namespace sluice::workflow::asl::internal
