#pragma once

#include <string>

#include "base/result.h"
#include "sluice/session.h"
#include "value/value.h"

namespace sluice::app {

/// How the run of an execution comes to be: started from a definition, or forked from another run.
class Beginning {
public:
    virtual ~Beginning() = default;

    virtual const std::string& id() const = 0;
    virtual store::Durability durability() const = 0;
    /// What the session needs for it beyond the settings of every execution.
    virtual void prepare(SessionOptions& session) const = 0;
    /// A run of this id is there already, with this `set`, `input` and `forked_from`: it must be
    /// the one that is meant.
    virtual Result<void> check_same(const Value& existing) = 0;
    virtual Result<void> begin(engine::Engine& engine) const = 0;
    /// Whether how it ended is printed as the end of an execution of a state machine.
    virtual bool is_machine() const { return false; }
    /// The command that goes on with it, without its events.
    virtual std::string again() const = 0;
};

} // namespace sluice::app
