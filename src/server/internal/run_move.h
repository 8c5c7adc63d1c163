#pragma once

#include <string>

#include "engine/inspector.h"
#include "value/value.h"

namespace sluice::server {

/// How a run's triggers become those of its definition as it is now. Ids tell which is which: one
/// that stays keeps what it remembers.
struct RunMove {
    std::string version; ///< The hash of the definition.
    Value action;        ///< For a command; an empty list when there is nothing to do.
    Value changes;       ///< {added, changed, removed}: ids.
};

/// Reads the store. Fails with Conflict when the run may not be moved, saying why.
Result<RunMove> plan_move(engine::Inspector& inspector, const engine::RunName& run);

/// Where an action takes a template, text that is none.
Value as_text(const Value& value);

} // namespace sluice::server
