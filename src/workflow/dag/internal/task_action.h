#pragma once

#include <memory>
#include <vector>

#include "trigger/condition.h"
#include "trigger/trigger_set.h"
#include "workflow/dag/internal/settings.h"
#include "workflow/dag/step.h"

namespace sluice::workflow::dag::internal {

/// Fires when enough of the tasks it waits for have ended, and on every event of its own. Its rule
/// then says whether the task begins.
std::shared_ptr<const trigger::Condition> make_task_condition(const Value& params,
                                                              const trigger::ConditionSite& site,
                                                              Problems& problems);

/// All that a task does, whatever event brought it about.
class TaskAction final : public trigger::Action {
public:
    explicit TaskAction(Settings settings) : settings_(std::move(settings)) {}

    trigger::Attempt<void> perform(trigger::Firing& firing) const override;
    const Settings& settings() const { return settings_; }

private:
    Settings settings_;
};

/// Null when the trigger is no task's.
const Settings* settings_of(const trigger::CompiledTrigger& trigger);

/// The flow of this task will fail with this error, once all has ended.
void note_failure(Step& step, const Value& error);
/// Ends the flow at once if its definition says so.
void finish_if_hasty(Step& step);
/// It has succeeded: were the run to fail later, it is to be undone.
void note_undo(Step& step);

} // namespace sluice::workflow::dag::internal
