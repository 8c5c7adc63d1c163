#pragma once

#include <string>
#include <vector>

#include "engine/inspector.h"

namespace sluice::server::inspect {

/// A trigger in one scope: what it waits for, and how far it is.
struct WaitingTrigger {
    std::string id;
    std::string scope;     ///< Empty: the root.
    std::string patterns;  ///< `item`, `sluice.task.succeeded of resize`; several with a comma.
    std::string condition; ///< As its author wrote it; empty: always.
    std::uint64_t progress = 0;
    std::uint64_t fired = 0;
    bool is_on = true;
    bool is_gone = false; ///< It was transient and has fired.
    std::string status;   ///< Of a task; empty: it is none, or has not begun.
    std::string told;     ///< What a task says: its error, or what it asks.
};

/// All of a run: those of the root, and those of other scopes that have begun.
Result<std::vector<WaitingTrigger>> trigger_rows(engine::Inspector& inspector,
                                                 const engine::RunName& run);

/// Those of them that would take an event. Interceptors wait for none.
Result<std::vector<WaitingTrigger>> waiting_triggers(engine::Inspector& inspector,
                                                     const engine::RunName& run);

/// `join waits for item: count 2000, 3 so far`
std::string to_text(const WaitingTrigger& trigger);
Value to_value(const WaitingTrigger& trigger);

} // namespace sluice::server::inspect
