#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/catalog.h"
#include "engine/keys.h"
#include "store/store.h"
#include "trigger/change.h"
#include "trigger/trigger_set.h"

namespace sluice::app {

/// The ids of triggers by their numbers, for runs whose history is being followed.
class TriggerNames {
public:
    /// Both must outlive it.
    TriggerNames(engine::Catalog& catalog, const store::Store& store)
        : catalog_(catalog), store_(store) {}

    /// A change of a run's triggers.
    void note(const engine::RunName& run, const trigger::Change& change);
    /// What stands for a trigger that is not known any more is its number: `#7`.
    std::string name(const engine::RunName& run, trigger::TriggerNumber number);
    void forget(const engine::RunName& run) { runs_.erase(run); }

private:
    struct Known {
        std::shared_ptr<const trigger::TriggerSet> set;
        std::map<trigger::TriggerNumber, std::string> added;
    };

    /// A run that began before anybody looked.
    Known load(const engine::RunName& run);

    engine::Catalog& catalog_;
    const store::Store& store_;
    std::map<engine::RunName, Known> runs_;
};

} // namespace sluice::app
