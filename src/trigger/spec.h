#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "trigger/pattern.h"
#include "value/value.h"

namespace sluice::trigger {

enum class Lifetime : std::uint8_t { Transient, Persistent };
enum class WhileDisabled : std::uint8_t { Park, Miss };
enum class OnError : std::uint8_t { Fail, Skip, Park };
enum class InterceptWhen : std::uint8_t { Before, After, Instead };

/// A condition or an action: a name that a vocabulary knows, and its parameters.
struct Term {
    std::string name;
    Value params;

    bool operator==(const Term&) const = default;
};

/// Whose firing a trigger intercepts: one trigger, or all with a condition of this name.
struct Intercept {
    std::string trigger;   ///< Id; empty when by condition.
    std::string condition; ///< Name; empty when by trigger.
    InterceptWhen when = InterceptWhen::Before;

    bool operator==(const Intercept&) const = default;
};

/// A trigger as its author wrote it.
struct TriggerSpec {
    Value context; ///< What its memory starts with: a map, or null.
    Lifetime lifetime = Lifetime::Transient;
    bool is_enabled = true;
    WhileDisabled while_disabled = WhileDisabled::Park;
    OnError on_error = OnError::Fail;
    std::string id;
    std::vector<Pattern> on; ///< Empty only for an interceptor.
    std::string filter;      ///< An expression; empty: none.
    Term condition{.name = "always", .params = {}};
    std::vector<Term> actions;
    std::optional<Intercept> intercept;

    bool operator==(const TriggerSpec&) const = default;
};

/// How a run treats events it has seen before.
enum class DedupeMode : std::uint8_t { Run, Window, Sequence, None };
/// What happens when a run's kept events reach their bound.
enum class KeptFull : std::uint8_t { Refuse, BackPressure, Fail };

/// Which runs of a definition may be under way at once, and what becomes of the others.
enum class StrategyKind : std::uint8_t {
    Parallel,   ///< All, or as many as its limit; the others wait in order.
    Sequential, ///< One; the others wait in order.
    FirstOnly,  ///< One; a new one ends at once while it is.
    LastOnly,   ///< One: the newest, which cancels those before it.
    LatestOnly, ///< One, and of those that wait only the newest.
};
struct Strategy {
    StrategyKind kind = StrategyKind::Parallel;
    std::uint32_t limit = 0; ///< Of parallel; zero: none.

    /// Otherwise its runs need not ask.
    bool is_limiting() const { return kind != StrategyKind::Parallel || limit > 0; }
    bool operator==(const Strategy&) const = default;
};
inline constexpr auto strategy_limit_max = std::uint32_t{1'000};

/// A whole definition, as a front end hands it to the kernel: triggers, and what holds for the run.
struct SetSpec {
    std::string name;
    std::vector<TriggerSpec> triggers;
    bool keeps_unmatched = true;
    DedupeMode dedupe = DedupeMode::Run;
    Nanos dedupe_window{0};
    Nanos timeout{0};      ///< The run's time limit; zero: none.
    Nanos cancel_grace{0}; ///< How long a run may handle its cancellation; zero: ends at once.
    Nanos retention{0};    ///< How long an ended run is kept; zero: the operator's default.
    std::uint32_t kept_max = 10'000;
    std::uint64_t kept_bytes_max = 16ULL * 1024 * 1024;
    KeptFull kept_full = KeptFull::Refuse;
    Nanos kept_ttl{0}; ///< Zero: kept as long as the run.
    Value context;     ///< What the run's context starts with.
    Value input;       ///< Of a run that is started without.
    Strategy strategy;
};

/// One thing wrong with a definition: where (`triggers/2/condition/count/n`) and what to write
/// instead.
struct Problem {
    std::string path;
    std::string message;

    bool operator==(const Problem&) const = default;
};

/// A trigger from its map form, as authors write it and `add` and `modify` take it. Every problem
/// found is appended, with `path` in front of its place; the result is usable only if there was
/// none.
TriggerSpec parse_trigger(const Value& form, const std::string& path,
                          std::vector<Problem>& problems);
/// As authors write it: `sequential`, `{parallel: 5}`.
Strategy parse_strategy(const Value& form, const std::string& path, std::vector<Problem>& problems);
/// A whole definition from its map form. Members it does not know are problems, except those in
/// `extra`.
SetSpec parse_set(const Value& form, const std::vector<std::string>& extra,
                  std::vector<Problem>& problems);
/// Back to the map form: what parse_trigger reads again as the same spec.
Value to_form(const TriggerSpec& spec);
Value to_form(const SetSpec& spec);
Value to_form(const Strategy& strategy);

/// The problems as one error: "triggers/2/on: …; …".
Error to_error(const std::vector<Problem>& problems);

} // namespace sluice::trigger
