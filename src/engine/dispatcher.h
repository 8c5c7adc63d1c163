#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "engine/internal/function.h"
#include "engine/internal/function_slot.h"
#include "engine/internal/pool.h"
#include "engine/outbox.h"
#include "engine/references.h"
#include "engine/token.h"
#include "event/sink.h"
#include "observe/metrics.h"
#include "reactor/scheduler.h"

namespace sluice::engine {

/// What a dispatcher stands on. All of it outlives its last call.
struct DispatcherServices {
    const Clock& clock;
    reactor::Scheduler& timers;
    /// Called from any thread, possibly before `dispatch` returns.
    std::function<void(AnswerInput)> answered;
    /// Hands the task of a call that waited without its content to `Dispatcher::resume`.
    std::function<void(Call)> reload;
    std::size_t contents_max = 10'000;   ///< Of waiting calls; those beyond are kept as names.
    observe::Metrics* metrics = nullptr; ///< Where calls are counted; null: nowhere.
    bool has_jitter = true; ///< Otherwise delays between attempts have no random share.
    const References* references = nullptr; ///< Null: every result is handed on as it is.
    std::size_t result_bytes_max =
        256 * 1024; ///< Larger ones are kept by reference, where they may.
    /// Does what blocks on another thread; what is dropped there was not to be done any more.
    std::function<void(std::move_only_function<void()>)> aside{};
};

/// Hands calls to functions, within their limits, and brings the answers back.
///
/// May be used from any thread. A call that has to wait for its turn waits here: see FunctionSlot.
class Dispatcher {
public:
    Dispatcher(FunctionTable functions, std::uint64_t seed, const Secret& secret,
               DispatcherServices services);

    /// Adds it or puts it in another's place: calls that have begun end as they began and do not
    /// count for the new one's limits, those that wait go to it. An empty namespace stands for all.
    void set_function(const std::string& space, const std::string& name, Function function);
    /// Calls that have begun go on; those that wait fail with `unknown_function`.
    void remove_function(const std::string& space, const std::string& name);

    void dispatch(std::vector<Call> calls);
    /// Nobody waits for it any more: forgets it if it has not begun, stops it if it has.
    void cancel(const RunName& run, const trigger::TaskKey& key);
    /// What is to be handed on in place of an attempt's result: a reference, when it is large and
    /// its call allows it.
    void keep_large(const AttemptId& attempt, Value result,
                    std::move_only_function<void(Value)> done);
    /// When an attempt that failed by another way than its sink is to be followed by the next.
    std::optional<Nanos> delay_after(const AttemptId& attempt, const event::Answer& answer);
    /// Whether the attempt is under way and its sink takes note that somebody works on it.
    bool heartbeat(const AttemptId& attempt, std::uint64_t lease);
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
    /// A function; one that replaces it has a slot of its own, and this one goes with its last
    /// call.
    struct Slot : std::enable_shared_from_this<Slot> {
        explicit Slot(Function given)
            : function(std::move(given)),
              calls(function.concurrency, function.limits),
              pool(function.slots.value_or(0)) {}

        bool is_pool() const { return function.slots.has_value(); }

        const Function function;
        FunctionSlot calls;
        Pool<Slot> pool;                     ///< Where it is one.
        observe::Histogram* taken = nullptr; ///< How long calls took; null: nobody asks.
        observe::Counter* failed = nullptr;
        std::optional<Nanos> timer; ///< When it is looked at again.
    };
    using SlotRef = std::shared_ptr<Slot>;

    struct Place {
        Slot* slot = nullptr;
        std::uint64_t ticket = 0;
    };

    /// What a call has of a pool.
    struct Slots {
        SlotRef pool; ///< Null: it needs none.
        std::uint32_t count = 0;
    };
    using TakenSlots = std::map<std::uint64_t, Slots>; ///< By ticket.

    /// A call that may begin.
    struct Ready {
        SlotRef slot;
        Call call;
    };

    /// A call that has begun.
    struct Active {
        AttemptId id;
        SlotRef slot;
        Value policy;
        std::string key; ///< Of the function's limits.
        Slots slots;
        Nanos began{};           ///< By the steady clock.
        bool is_settled = false; ///< Its answer came by another way, or is not wanted.
        bool is_loading = false; ///< Its input is being fetched: its sink does not know it yet.
    };
    using ActiveKey =
        std::tuple<trigger::TaskKey, std::uint32_t, Time>; ///< Attempt, start of the run.

    SlotRef make_slot(const std::string& name, Function function) const;
    SlotRef find_slot(std::string_view space, std::string_view name) const;
    /// Calls that wait there; they do not any more.
    std::vector<Call> take_waiting(const Slot& slot);
    /// The same of those that are meant.
    std::vector<Call> take_waiting_where(const std::function<bool(const Place&)>& is_meant);
    void begin(const Slot& slot, Call call);
    void load_input(const Slot& slot, Call call);
    std::string token_of(const Slot& slot, const AttemptId& attempt) const;
    void deliver(const Slot& slot, Call call, Value input);
    void keep_large(const Value& policy, const RunName& run, Value result,
                    std::move_only_function<void(Value)> done);
    void begin_all(std::vector<Ready> ready);
    void dispatch_together(std::span<Call> calls);
    void refuse(std::vector<Call> calls);
    void refuse_without_pool(std::vector<Call> calls);
    void finish(Call call, event::Answer answer);
    Active* find_active(const AttemptId& attempt);
    Ready activate(Slot& slot, Call call, std::string key, Slots slots);
    // Pools: internal/dispatcher_pools.cc
    /// Null when the call names none that there is.
    SlotRef pool_of(const Call& call) const;
    bool take_slots(Slot& slot, const WaitingCalls::Turn& turn, TakenSlots& taken) const;
    /// Hands free slots to those that stand in line.
    void serve(Slot& pool, std::vector<Ready>& ready);
    /// A call that waited went: others may have their turn.
    void go_on_without(Slot& slot, const Call& call, std::vector<Ready>& ready);
    bool resize_pool(const std::string& space, const std::string& name, const Function& function);
    /// Calls that wait for slots of it; they do not any more.
    std::vector<Call> take_waiting_for(const Slot& pool);
    /// What it made room for is added to `ready`. The slot may go with what is given back: outside
    /// the lock.
    Active take_active(const Call& call, std::vector<Ready>& ready);
    void enqueue(Slot& slot, Call call);
    Call take_from(const Place& place);
    void wake(const std::weak_ptr<Slot>& slot);
    /// Where it waits, which is given up; nothing: it does not.
    std::optional<Place> take_place(const RunName& run, const trigger::TaskKey& key);
    std::optional<Nanos> delay_after(const Active& active, const event::Answer& answer);
    /// Adds calls that may begin now, and sets a timer when others may later.
    void take_ready(Slot& slot, std::vector<Ready>& ready);
    void set_timer(Slot& slot, Nanos now);
    void note_taken(const std::string& space);

    mutable std::mutex mutex_;
    bool has_stopped_ = false;
    /// By name and namespace, whose empty name stands for all.
    std::map<std::string, std::map<std::string, SlotRef, std::less<>>, std::less<>> slots_;
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

} // namespace sluice::engine
