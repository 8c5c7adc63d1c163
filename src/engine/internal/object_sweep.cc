#include "engine/internal/object_sweep.h"

#include "engine/references.h"

namespace sluice::engine {

bool remove_objects(store::Objects& objects, const RunName& run,
                    observe::Diagnostics& diagnostics) {
    auto owner = owner_of(run);
    auto removed = owner.run == run.id ? objects.remove_all(owner) : Result<bool>{false};
    if (!removed) {
        diagnostics.warn("objects of a removed run stay until the next start",
                         {{"run", run.id}, {"why", removed.error().message}});
    }
    return removed.value_or(false);
}

void sweep_objects(store::Objects& objects, const store::Store& store,
                   observe::Diagnostics& diagnostics) {
    auto owners = objects.owners();
    if (!owners) {
        diagnostics.warn("objects of removed runs stay", {{"why", owners.error().message}});
        return;
    }
    for (const auto& owner : *owners) {
        auto run = RunName{.space = owner.space, .id = owner.run};
        auto prefix = keys::run(shard_of(run, store.shard_count()), run);
        auto cursor = store.scan(prefix, keys::end_of(prefix));
        if (!cursor->is_valid() && cursor->status()) {
            remove_objects(objects, run, diagnostics);
        }
    }
    objects.reclaim();
}

} // namespace sluice::engine
