#pragma once

#include <memory>
#include <vector>

#include "trigger/action.h"

/// The factories of the built-in actions: docs/reference/triggers.md says what each takes.
namespace sluice::trigger::actions {

using Made = std::shared_ptr<const Action>;
using Problems = std::vector<Problem>;

// Work: action_invoke.cc
Made make_invoke(const Value& params, const ActionSite& site, Problems& problems);
Made make_start(const Value& params, const ActionSite& site, Problems& problems);
// Events: action_emit.cc
Made make_emit(const Value& params, const ActionSite& site, Problems& problems);
Made make_reply(const Value& params, const ActionSite& site, Problems& problems);
// Triggers and contexts: action_change.cc
Made make_set(const Value& params, const ActionSite& site, Problems& problems);
Made make_enable(const Value& params, const ActionSite& site, Problems& problems);
Made make_disable(const Value& params, const ActionSite& site, Problems& problems);
Made make_add(const Value& params, const ActionSite& site, Problems& problems);
Made make_remove(const Value& params, const ActionSite& site, Problems& problems);
Made make_modify(const Value& params, const ActionSite& site, Problems& problems);
// Places among the runs of a definition: action_admit.cc
Made make_admit(const Value& params, const ActionSite& site, Problems& problems);
// Time, scopes and the run: action_run.cc
Made make_finish(const Value& params, const ActionSite& site, Problems& problems);
Made make_continue(const Value& params, const ActionSite& site, Problems& problems);
Made make_schedule(const Value& params, const ActionSite& site, Problems& problems);
Made make_cancel(const Value& params, const ActionSite& site, Problems& problems);
Made make_open(const Value& params, const ActionSite& site, Problems& problems);
Made make_close(const Value& params, const ActionSite& site, Problems& problems);
Made make_hold(const Value& params, const ActionSite& site, Problems& problems);
Made make_release(const Value& params, const ActionSite& site, Problems& problems);

} // namespace sluice::trigger::actions
