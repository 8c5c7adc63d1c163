#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/event.h"
#include "expr/program.h"
#include "trigger/spec.h"
#include "trigger/state.h"

namespace sluice::trigger {

/// What a condition may look at. `patterns` are the places in `on` that the event matched, in
/// order.
struct ConditionInput {
    const event::Event& event;
    std::span<const std::uint32_t> patterns;
    const TriggerState& state;
    const Value& memory; ///< The trigger's context in this scope.
    const expr::Bindings& bindings;
};

/// A condition's answer, with what it wants remembered.
struct Verdict {
    enum class Answer : std::uint8_t { Wait, Fire, Fault };

    Answer answer = Answer::Wait;
    std::uint64_t progress = 0;
    std::optional<Fingerprint> seen;          ///< A distinct key met for the first time.
    std::unique_ptr<const expr::Fault> fault; ///< Apart: there is hardly ever one.
};

/// Whether a trigger fires: pure logic over the event and what the trigger remembers. Compiled
/// once, shared by all runs.
class Condition {
public:
    virtual ~Condition() = default;

    virtual Verdict evaluate(const ConditionInput& input) const = 0;
    /// Its context was set from elsewhere: a join may have learned its size. The event is the one
    /// being decided.
    virtual Verdict recheck(const ConditionInput& input) const;
    /// Set: fires at the latest this long after the trigger was enabled (or, in a nested scope,
    /// first activated).
    virtual std::optional<Nanos> deadline() const { return std::nullopt; }
    /// The deadline has passed.
    virtual Verdict expire(const ConditionInput& input) const;
};

/// What a condition may depend on when it is compiled.
struct ConditionSite {
    std::size_t patterns = 0;         ///< How many the trigger has in `on`.
    expr::CompileOptions expressions; ///< The names an expression may use.
};

/// Makes a condition from its parameters, or appends what is wrong with them (paths relative to the
/// parameters).
using ConditionFactory = std::function<std::shared_ptr<const Condition>(
    const Value& params, const ConditionSite& site, std::vector<Problem>& problems)>;

/// always, count, all, sequence, threshold, quorum, expression, by name.
std::map<std::string, ConditionFactory, std::less<>> built_in_conditions();

} // namespace sluice::trigger
