#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trigger/history.h"
#include "trigger/spec.h"

namespace sluice::trigger::testing {

/// An event as the model sees it: data is one number under `k`, or nothing.
struct ModelEvent {
    std::string source;
    std::string id;
    std::string type;
    std::string subject;
    std::string scope;
    std::optional<std::int64_t> key;
};

/// What one entry of a run's history must say.
struct Outcome {
    std::uint64_t number = 0;
    Fate fate = Fate::Late;
    std::vector<std::string> fired; ///< Trigger ids, in order.

    bool operator==(const Outcome&) const = default;
};

struct ModelLimits {
    std::uint64_t own_events_per_turn_max = 10'000;
    std::uint64_t own_events_max = 1'000'000;
};

/// What a run must do with its events, said a second time: slow, in lists, and without a line of
/// the decider's.
///
/// It knows patterns, the conditions that count, lifetimes, switches, kept events, duplicates,
/// events to the own run, interceptors, scopes and the changes of triggers at run time. Filters,
/// tasks, timers and holds it does not know.
class NaiveModel {
public:
    NaiveModel(SetSpec spec, ModelLimits limits);

    void start();
    void take(const ModelEvent& event);
    /// Goes on with what the run emitted to itself.
    void take_turn();

    const std::vector<Outcome>& outcomes() const { return outcomes_; }
    bool has_ended() const { return has_ended_; }

private:
    using Scope = std::uint64_t; ///< One opening of a scope; the root is 0.

    struct Memory {
        bool is_gone = false;
        std::optional<bool> switched;
        std::uint64_t count = 0;
        std::vector<std::int64_t> seen;
        std::set<std::size_t> met;
        std::optional<Value> context;
    };
    struct Trigger {
        TriggerSpec spec;
        bool is_removed = false;
        std::map<Scope, Memory> memory;
    };
    struct Kept {
        std::uint64_t number = 0;
        ModelEvent event;
        Scope scope = 0;
        bool has_failed = false;
    };
    struct Own {
        ModelEvent event;
        Scope scope = 0;
    };
    enum class Answer : std::uint8_t { Wait, Fire, Fault };

    void open_entry();
    void close_entry(Fate fate);
    void settle();
    bool deliver_oldest_kept();
    bool deliver_own();
    bool would_take(const Kept& kept) const;

    Fate deliver(Scope scope, const ModelEvent& event);
    Fate keep(Scope scope, const ModelEvent& event, Fate fate);
    void activate(std::size_t at, Scope scope, const std::vector<std::size_t>& patterns,
                  const ModelEvent& event);
    Answer ask(Trigger& trigger, Memory& memory, const std::vector<std::size_t>& patterns,
               const ModelEvent& event);
    Answer ask_sequence(const Trigger& trigger, Memory& memory,
                        const std::vector<std::size_t>& patterns);
    Answer ask_count(const Trigger& trigger, Memory& memory, const ModelEvent& event);
    void fire(std::size_t at, Scope scope, const ModelEvent& event);
    std::vector<std::size_t> interceptors_of(const TriggerSpec& target) const;
    bool intercept(const std::vector<std::size_t>& interceptors, InterceptWhen when, Scope scope,
                   const ModelEvent& event);
    void fault(const TriggerSpec& spec, const ModelEvent& event);

    /// False: a fault.
    bool perform(std::size_t at, Scope scope, const std::string& path, const ModelEvent& event);
    bool act(std::size_t at, const Term& term, Scope scope, const std::string& path,
             const ModelEvent& event);
    bool set(std::size_t at, const Value& params, Scope scope, const ModelEvent& event);
    bool emit(const Value& params, Scope scope, const std::string& path);
    bool add(const Value& form);
    void recheck(std::size_t at, Scope scope, const ModelEvent& event);

    bool is_enabled(const Trigger& trigger, Scope scope) const;
    bool is_gone(const Trigger& trigger, Scope scope) const;
    bool is_open(Scope scope) const;
    std::optional<Scope> scope_at(const std::string& path) const;
    std::optional<std::size_t> find(std::string_view id) const;
    std::vector<std::size_t> patterns_met(const Trigger& trigger, const ModelEvent& event) const;
    Value context_of(const Trigger& trigger, Scope scope) const;
    std::optional<Scope> open(const std::string& path);

    SetSpec spec_;
    ModelLimits limits_;
    std::deque<Trigger> triggers_;             ///< In order of creation; removed ones stay.
    std::map<std::string, Scope> open_scopes_; ///< By path.
    Scope last_scope_ = 0;
    std::vector<Kept> kept_;
    std::deque<Own> own_;
    std::set<std::pair<std::string, std::string>> seen_;
    bool has_ended_ = false;
    std::uint64_t events_ = 0;
    std::uint64_t own_events_ = 0;
    std::uint64_t turn_events_ = 0;
    std::vector<Outcome> outcomes_;

    // Of the entry being decided:
    std::uint64_t number_ = 0; ///< A kept event has that of its arrival.
    std::vector<std::string> fired_;
    bool is_outside_ = false;
    bool has_failed_ = false;
    int depth_ = 0;
};

} // namespace sluice::trigger::testing
