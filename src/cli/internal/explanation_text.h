#pragma once

#include "value/value.h"

namespace sluice::cli {

/// What `GET /v1/runs/{run}/why` answers, in sentences: of an event, a trigger or the run itself.
void print_explanation(const Value& explanation);

} // namespace sluice::cli
