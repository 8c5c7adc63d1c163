#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/inspector.h"
#include "server/inspect/narrator.h"
#include "server/inspect/waiting.h"

namespace sluice::server::inspect {

/// One time an event was decided: it comes back when it was kept, or sent again.
struct Step {
    trigger::Entry entry;
    EventHeading heading;
    std::string origin;
    std::string fate;
    std::vector<std::string> consequences;
};
Value to_value(const Step& step);

/// What happened to an event, by its id, or by `#` and its number. Of a source, if one is given.
/// Fails with NotFound.
Result<std::vector<Step>> explain_event(engine::Inspector& inspector, const engine::RunName& run,
                                        const std::string& event, const std::string& source = "");

/// Why a run stands where it stands.
struct RunExplanation {
    std::unique_ptr<trigger::RunState> state;
    std::vector<std::string> waits; ///< What it waits for; of a running one.
    std::optional<Step> last;       ///< The event that ended it, or its last generation.
};
Result<RunExplanation> explain_run(engine::Inspector& inspector, const engine::RunName& run);
Value to_value(const RunExplanation& explanation);

/// Why a trigger has fired, or has not. Fails with NotFound.
struct TriggerExplanation {
    std::string id;
    std::vector<WaitingTrigger> rows; ///< One for each scope that it has begun in.
    bool has_ended = false;           ///< The run has.
    std::uint64_t activations = 0;
    std::vector<Step> steps; ///< The last times it fired or failed, the latest last.
};
Result<TriggerExplanation> explain_trigger(engine::Inspector& inspector, const engine::RunName& run,
                                           const std::string& id);
Value to_value(const TriggerExplanation& explanation);

} // namespace sluice::server::inspect
