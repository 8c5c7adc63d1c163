#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trigger/firing.h"
#include "workflow/dag/operator.h"

namespace sluice::workflow::dag {

namespace internal {
struct Settings;
} // namespace internal

/// A call as a task makes it.
struct Call {
    trigger::TaskKind kind = trigger::TaskKind::Call; ///< Or Run: a nested run.
    std::string target;                               ///< The function, or the definition.
    Value input;
    Value policy;
    std::string child{}; ///< Of a nested run: its id, and one that is there already will do.
};

/// One task in one scope of a run, while an event is decided: what its operator may read, and what
/// it may ask for.
class Step {
public:
    using Locals = std::vector<std::pair<std::string, Value>>;

    /// All of them must outlive it.
    Step(trigger::Firing& firing, const internal::Settings& settings, trigger::TriggerNumber task,
         trigger::Incarnation scope);
    /// The task of this id in a scope; nothing when there is none.
    static std::optional<Step> find(trigger::Firing& firing, std::string_view id,
                                    trigger::Incarnation scope);

    trigger::Firing& firing() { return firing_; }
    const trigger::RunState& state() const { return firing_.state(); }
    const internal::Settings& settings() const { return settings_; }
    trigger::TriggerNumber task() const { return task_; }
    trigger::Incarnation scope() const { return scope_; }
    const std::string& id() const;
    /// The name its author gave it.
    std::string_view name() const;
    /// Of its scope; empty for the root.
    std::string path() const;
    /// Where its items or its body are: a scope of the task's own.
    std::string own_path() const;

    /// `status` and what the operator keeps; null when the task has not begun.
    const Value& memory() const;
    std::string_view status() const;
    /// It has begun and not ended.
    bool is_active() const;
    void remember(Value memory);

    trigger::Attempt<Value> evaluate(const Template& pattern, const Locals& locals = {},
                                     const expr::Budget& budget = {}) const;
    /// Its input: what a person gave when it was begun again, or else what the template says.
    trigger::Attempt<Value> input(const Template& pattern, const Locals& locals = {}) const;

    /// Begins when all it waited for has ended: skipped, or started.
    void join();
    /// Whether `when` says so is asked here. Input given replaces that of the template.
    void start(std::optional<Value> input = std::nullopt);
    /// Nothing where it has begun already.
    void start_pending();
    /// An event of its own.
    void take();
    void go_on();

    void call(Call call);
    /// The same in another scope, under a key of the operator's choice: the answer comes there.
    void call(Call call, const trigger::TaskKey& key, trigger::Incarnation scope);
    /// Fires an event of the task's own later, which has this data.
    trigger::TimerNumber set_timer(Nanos after, Value data);
    trigger::TimerNumber set_timer(Time at, Value data);

    void succeed(Value result);
    /// `error` has kind and message. Handlers, `on_error` and then the end of the run see it.
    void fail(const Value& error);
    void fail(const expr::Fault& fault);
    void skip(Value error = {});
    /// Stops its calls, timers and scopes: what comes from them is late.
    void cancel_work();
    /// As if it had never begun.
    void forget();

private:
    void end(std::string_view status, Value memory, std::string_view type);
    void set_timer(trigger::TimerState timer, Value data);
    bool is_caught(std::string_view kind);
    bool begins_by_rule() const;

    trigger::Firing& firing_;
    const internal::Settings& settings_;
    trigger::TriggerNumber task_;
    trigger::Incarnation scope_;
    std::optional<Value> input_;
};

/// How the tasks that one waits for have ended.
struct Ends {
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t skipped = 0;

    std::uint64_t total() const { return succeeded + failed + skipped; }
    /// As the condition of a task counts them in its progress.
    std::uint64_t packed() const { return total() << total_shift | succeeded; }
    static constexpr auto total_shift = 32U;
    static std::uint64_t succeeded_in(std::uint64_t packed) { return packed & UINT32_MAX; }
};
/// Of the tasks that the first `count` patterns of a trigger name.
Ends count_ends(trigger::Firing& firing, trigger::TriggerNumber trigger, trigger::Incarnation scope,
                std::uint32_t count);

} // namespace sluice::workflow::dag
