#pragma once

#include "engine/inspector.h"

namespace sluice::server::inspect {

/// The triggers of a run as Inspector::triggers shows them, but with `states` also of scopes that
/// are closed by now, and of a run that has ended: as they last were, by its history, as far as
/// that is kept. Of these there is `scope`, `fired` and, of a task, `status` and `error` in its
/// `memory`.
Result<Value> last_triggers(engine::Inspector& inspector, const engine::RunName& run);

} // namespace sluice::server::inspect
