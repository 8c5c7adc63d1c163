#pragma once

#include <string>

#include "value/value.h"

namespace sluice::cli {

/// A run as `GET /v1/runs/{run}/state` has it, for people.
void print_summary(const Value& state);

/// `join waits for item: count 2000, 3 so far`
std::string waiting_text(const Value& trigger);

} // namespace sluice::cli
