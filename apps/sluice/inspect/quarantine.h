#pragma once

#include "base/result.h"
#include "sluice/inspect/show_command.h"
#include "store/store.h"

namespace sluice::app {

/// Events of numbered sources that no run was there for.
Result<void> show_quarantine(const store::Store& store, const ShowOptions& options);

} // namespace sluice::app
