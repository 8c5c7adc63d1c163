#pragma once

#include <string>
#include <vector>

#include "trigger/action.h"
#include "trigger/firing.h"
#include "workflow/dag/operator.h"
#include "workflow/dag/step.h"

namespace sluice::workflow::dag::internal {

/// What is done when the last tasks of a flow have ended: its run ends, or the item that it is the
/// body of. Before it fails, what its tasks did is undone.
class EndAction final : public trigger::Action {
public:
    std::uint32_t upstream = 0;
    std::uint32_t last = 0; ///< The first of them give the result.
    std::vector<std::string> prefixes;
    std::string owner;     ///< Id of the task whose body this is; empty: the run itself.
    bool is_hasty = false; ///< The first failure ends it.
    bool undoes = false;   ///< What tasks did before they failed together.
    bool has_result = false;
    Template result;

    trigger::Attempt<void> perform(trigger::Firing& firing) const override;
    /// In the scope of the flow, whichever trigger has fired.
    trigger::Attempt<void> finish(trigger::Firing& firing, trigger::TriggerNumber number,
                                  trigger::Incarnation scope) const;

private:
    trigger::Attempt<Value> make_result(trigger::Firing& firing, trigger::TriggerNumber number,
                                        trigger::Incarnation scope) const;
    trigger::Attempt<void> tell_owner(trigger::Firing& firing, trigger::Incarnation scope,
                                      Value outcome) const;
    trigger::Attempt<void> undo_next(trigger::Firing& firing, trigger::TriggerNumber number,
                                     trigger::Incarnation scope, Value memory) const;
    trigger::Attempt<void> fail(trigger::Firing& firing, trigger::Incarnation scope,
                                const Value& memory) const;
};

std::shared_ptr<const trigger::Action> make_end(const Value& params, Problems& problems);

/// The end of the flow that a task is in.
struct FlowEnd {
    const EndAction* action = nullptr;
    trigger::TriggerNumber number;
};
FlowEnd end_of(Step& step);

} // namespace sluice::workflow::dag::internal
