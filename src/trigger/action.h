#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "expr/program.h"
#include "trigger/spec.h"
#include "value/value.h"

namespace sluice::trigger {

class Firing;

/// A value, or a fault of the author's.
template <typename T>
using Attempt = std::expected<T, expr::Fault>;

/// What a trigger wants done. Compiled once, shared by all runs; it changes nothing itself but asks
/// the firing to.
class Action {
public:
    virtual ~Action() = default;

    /// Does it, or its next slice. A fault is the author's; what was done before it stands.
    virtual Attempt<void> perform(Firing& firing) const = 0;
};

struct ActionSite {
    expr::CompileOptions expressions; ///< The names a template may use.
};

/// Makes an action from its parameters, or appends what is wrong with them (paths relative to the
/// parameters).
using ActionFactory = std::function<std::shared_ptr<const Action>(
    const Value& params, const ActionSite& site, std::vector<Problem>& problems)>;

/// invoke, emit, set, enable, disable, add, remove, modify, start, finish, continue, schedule,
/// cancel, open, close, hold, release, reply, by name.
std::map<std::string, ActionFactory, std::less<>> built_in_actions();

} // namespace sluice::trigger
