#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "event/sink.h"
#include "reactor/command.h"

namespace sluice::connector::process {

/// What a command's outcome means for the call of a function.
///
/// Its standard output is the result, one JSON value, null when there is none. Errors have the
/// kinds `spawn`, `timeout`, `cancelled`, `limit`, `exit` and `bad_output`; their detail has what
/// the command wrote.
event::Answer answer_of(const reactor::Outcome& outcome, std::string_view program, Nanos timeout);

/// What the end of a worker means for the call that it had: what it was ended for, or that it died.
event::Answer answer_of_worker(const reactor::Outcome& outcome, std::string_view program,
                               std::optional<event::Answer> verdict);

} // namespace sluice::connector::process
