#pragma once

#include <cstdint>
#include <memory>

#include "trigger/action.h"
#include "workflow/dag/operator.h"

namespace sluice::workflow::dag::internal {

/// Many tasks that wait for nothing begin in groups, each with a commit of its own, so that the
/// first do not wait until the last is written. A group is twice as large as the one before it.
/// The first begins with the run, the others when `BeginAction` tells them to.
class BeginGroups {
public:
    /// Of the next task that waits for nothing.
    std::uint32_t next();
    /// How many there are so far.
    std::uint32_t count() const { return taken_ == 0 ? 0 : group_ + 1; }

private:
    std::uint32_t group_ = 0;
    std::uint32_t taken_ = 0; ///< Of this group.
};

/// `{groups}`: tells them one after the other, in slices, to begin; where a run ended before all
/// were told and is opened again, the rest.
std::shared_ptr<const trigger::Action> make_begin(const Value& params, Problems& problems);

} // namespace sluice::workflow::dag::internal
