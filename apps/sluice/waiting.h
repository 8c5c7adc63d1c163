#pragma once

#include <string>
#include <vector>

#include "engine/inspector.h"

namespace sluice::app {

/// A trigger that would take an event: what for, and how far it is.
struct WaitingTrigger {
    std::string id;
    std::string scope;    ///< Empty: the root.
    std::string patterns; ///< `item`, `sluice.task.succeeded of resize`; several with a comma.
    std::string condition; ///< As its author wrote it; empty: always.
    std::uint64_t progress = 0;
    std::uint64_t fired = 0;
};

/// Those of the root, and those of other scopes that have begun to wait. Interceptors wait for no events.
Result<std::vector<WaitingTrigger>> waiting_triggers(engine::Inspector& inspector,
                                                     const engine::RunName& run);

/// `join waits for item: count 2000, 3 so far`
std::string to_text(const WaitingTrigger& trigger);
Value to_value(const WaitingTrigger& trigger);

} // namespace sluice::app
