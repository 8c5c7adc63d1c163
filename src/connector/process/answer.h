#pragma once

#include <string_view>

#include "base/clock.h"
#include "event/sink.h"
#include "reactor/command.h"

namespace sluice::connector::process {

/// What a command's outcome means for the call of a function.
///
/// Its standard output is the result, one JSON value, null when there is none. Errors have the
/// kinds `spawn`, `timeout`, `cancelled`, `exit` and `bad_output`; their detail has what the
/// command wrote.
event::Answer answer_of(const reactor::Outcome& outcome, std::string_view program, Nanos timeout);

} // namespace sluice::connector::process
