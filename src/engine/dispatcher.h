#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "engine/internal/function_limits.h"
#include "engine/internal/function_slot.h"
#include "engine/outbox.h"
#include "engine/token.h"
#include "event/sink.h"
#include "reactor/scheduler.h"

namespace sluice::engine {

/// When a failed attempt is followed by another.
struct RetryPolicy {
    std::uint32_t attempts = 1;
    Nanos interval = std::chrono::seconds{1};
    double backoff = 2.0;
    Nanos max_delay = std::chrono::minutes{5};
    double jitter = 0.1; ///< Share of the delay that is random.
    std::vector<std::string>
        on; ///< Error kinds; empty: all but `invalid_input` and `unknown_function`.

    /// The delay before attempt + 1, or nothing when this was the last.
    std::optional<Nanos> delay_after(std::uint32_t attempt, std::string_view error_kind,
                                     double unit) const;
};

struct Function {
    event::Sink* sink = nullptr;
    Nanos timeout{0};
    std::uint32_t concurrency = 0; ///< Zero: no limit.
    RetryPolicy retry;
    FunctionLimits limits;
};

/// What a dispatcher stands on. All of it outlives its last call.
struct DispatcherServices {
    const Clock& clock;
    reactor::Scheduler& timers;
    /// Called from any thread, possibly before `dispatch` returns.
    std::function<void(AnswerInput)> answered;
    /// Hands the task of a call that waited without its content to `Dispatcher::resume`.
    std::function<void(Call)> reload;
    std::size_t contents_max = 10'000; ///< Of waiting calls; those beyond are kept as names.
};

/// Hands calls to functions, within their limits, and brings the answers back.
///
/// May be used from any thread. A call that has to wait for its turn waits here: see FunctionSlot.
class Dispatcher {
public:
    Dispatcher(std::map<std::string, Function> functions, std::uint64_t seed, const Secret& secret,
               DispatcherServices services);

    void dispatch(std::vector<Call> calls);
    /// Nobody waits for it any more: forgets it if it has not begun, stops it if it has.
    void cancel(const RunName& run, const trigger::TaskKey& key);
    /// When an attempt that failed by another way than its sink is to be followed by the next.
    std::optional<Nanos> delay_after(const AttemptId& attempt, const event::Answer& answer);
    /// Its answer came by another way and counts: what its sink still says does not.
    void settle(const AttemptId& attempt);
    /// The task of a call that was to be reloaded; nothing: it is not wanted any more.
    void resume(Call call, std::optional<trigger::TaskState> task);
    /// Begins nothing more: the sinks may be destroyed after this.
    void stop();
    /// Calls that have begun and those that wait.
    std::size_t pending() const;
    /// Calls of a namespace that wait.
    std::size_t waiting_in(const std::string& space) const;

    /// `run/fire/index`, behind a namespace that is not `default`: the same over retries.
    static std::string key_of(const RunName& run, const trigger::TaskKey& key);
    const Tokens& tokens() const { return tokens_; }

private:
    struct Slot {
        std::string name;
        Function function;
        FunctionSlot calls;
        std::optional<Nanos> timer; ///< When it is looked at again.
    };
    struct Place {
        Slot* slot = nullptr;
        std::uint64_t ticket = 0;
    };

    /// A call that has begun.
    struct Active {
        AttemptId id;
        Slot* slot = nullptr;
        Value policy;
        std::string key;         ///< Of the function's limits.
        bool is_settled = false; ///< Its answer came by another way.
    };
    using ActiveKey =
        std::tuple<trigger::TaskKey, std::uint32_t, Time>; ///< Attempt, start of the run.

    void begin(const Function& function, Call call);
    void finish(Call call, event::Answer answer);
    Active* find_active(const AttemptId& attempt);
    void note_active(Slot& slot, const Call& call, std::string key = {});
    /// Whether its answer still counts. What it made room for is added to `ready`.
    bool forget_active(const Call& call, std::vector<Call>& ready);
    void enqueue(Slot& slot, Call call);
    Call take_from(const Place& place);
    void wake(const std::string& function);
    void begin_all(std::vector<Call> calls);
    /// Where it waits, which is given up; nothing: it does not.
    std::optional<Place> take_place(const RunName& run, const trigger::TaskKey& key);
    std::optional<Nanos> delay_after(const Slot& slot, const Value& policy, std::uint32_t attempt,
                                     const event::Answer& answer);
    /// Adds calls that may begin now, and sets a timer when others may later.
    void take_ready(Slot& slot, std::vector<Call>& ready);
    void set_timer(Slot& slot, Nanos now);
    void note_taken(const std::string& space);

    mutable std::mutex mutex_;
    bool has_stopped_ = false;
    std::map<std::string, Slot, std::less<>> slots_;
    /// Calls that wait: one is called off without looking at the others.
    std::map<RunName, std::map<trigger::TaskKey, Place>> waiting_;
    std::map<std::string, std::size_t, std::less<>> waiting_by_space_;
    std::size_t waiting_count_ = 0;
    std::uint64_t tickets_ = 0;
    std::map<RunName, std::map<ActiveKey, Active>> active_;
    std::size_t active_count_ = 0;
    Random random_;
    Tokens tokens_;
    DispatcherServices services_;
};

/// Reads `timeout`, `retry` and limits as an action or a function's definition gives them, over
/// what stands there already.
void apply_policy(const Value& policy, Function& function);

} // namespace sluice::engine
