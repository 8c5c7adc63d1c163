#pragma once

#include "engine/keys.h"
#include "observe/diagnostics.h"
#include "store/objects/objects.h"
#include "store/store.h"

namespace sluice::engine {

/// What a run put aside goes with the run that owns it. Whether there was any.
bool remove_objects(store::Objects& objects, const RunName& run, observe::Diagnostics& diagnostics);

/// Removes those of runs that are gone: a crash came before it. For a store that nobody writes to.
void sweep_objects(store::Objects& objects, const store::Store& store,
                   observe::Diagnostics& diagnostics);

} // namespace sluice::engine
