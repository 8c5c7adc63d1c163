#pragma once

#include <string>

#include "value/value.h"

namespace sluice::workflow::asl::internal {

/// What a state does, on one line: "wait 5 s", "lambda:invoke".
std::string describe_state(const Value& state);
/// When a rule of a Choice state holds: "$.total NumericGreaterThan 5".
std::string describe_rule(const Value& rule);

} // namespace sluice::workflow::asl::internal
