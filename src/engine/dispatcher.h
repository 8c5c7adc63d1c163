#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "engine/outbox.h"
#include "engine/token.h"
#include "event/sink.h"

namespace sluice::engine {

/// When a failed attempt is followed by another.
struct RetryPolicy {
    std::uint32_t attempts = 1;
    Nanos interval = std::chrono::seconds{1};
    double backoff = 2.0;
    Nanos max_delay = std::chrono::minutes{5};
    double jitter = 0.1;         ///< Share of the delay that is random.
    std::vector<std::string> on; ///< Error kinds; empty: all but those of `is_final`.

    /// Kinds that another attempt would only meet again: `invalid_input`, `unknown_function`,
    /// `rejected`, `forbidden_address`.
    static bool is_final(std::string_view error_kind);

    /// The delay before attempt + 1, or nothing when this was the last.
    std::optional<Nanos> delay_after(std::uint32_t attempt, std::string_view error_kind,
                                     double unit) const;
};

struct Function {
    event::Sink* sink = nullptr;
    std::shared_ptr<event::Sink> owner{}; ///< Keeps the sink as long as calls use it; may be null.
    Nanos timeout{0};
    std::uint32_t concurrency = 0; ///< Zero: no limit.
    RetryPolicy retry;
};

/// Functions by name: for every namespace, and those that one namespace has of its own, which go
/// before.
struct FunctionTable {
    std::map<std::string, Function> shared;
    std::map<std::string, std::map<std::string, Function>> by_space;
};

/// Hands calls to functions, within their concurrency, and brings the answers back.
///
/// May be used from any thread. A call that has to wait for its turn waits here, in order.
class Dispatcher {
public:
    using Answered = std::function<void(AnswerInput)>;

    /// `answered` is called from any thread, possibly before `dispatch` returns. It must outlive
    /// every call.
    Dispatcher(FunctionTable functions, std::uint64_t seed, const Secret& secret,
               Answered answered);

    /// Adds it or puts it in another's place: calls that have begun end as they began, those that
    /// wait go to the new one. An empty namespace stands for all.
    void set_function(const std::string& space, const std::string& name, Function function);
    /// Calls that have begun go on; those that wait fail with `unknown_function`.
    void remove_function(std::string_view space, std::string_view name);

    void dispatch(std::vector<Call> calls);
    /// Nobody waits for it any more: forgets it if it has not begun, stops it if it has.
    void cancel(const RunName& run, const trigger::TaskKey& key);
    /// When an attempt that failed by another way than its sink is to be followed by the next.
    std::optional<Nanos> delay_after(const AttemptId& attempt, const event::Answer& answer);
    /// Whether the attempt is under way and its sink takes note that somebody works on it.
    bool heartbeat(const AttemptId& attempt, std::uint64_t lease);
    /// Its answer came by another way and counts: what its sink still says does not.
    void settle(const AttemptId& attempt);
    /// Begins nothing more: the sinks may be destroyed after this.
    void stop();
    /// Calls that have begun and those that wait.
    std::size_t pending() const;

    /// `run/fire/index`, behind a namespace that is not `default`: the same over retries.
    static std::string key_of(const RunName& run, const trigger::TaskKey& key);
    const Tokens& tokens() const { return tokens_; }

private:
    /// Replaced as a whole, so that a call keeps the one it began with.
    using FunctionRef = std::shared_ptr<const Function>;

    struct Slot {
        FunctionRef function; ///< Null: removed, and here until its calls have ended.
        std::uint32_t active = 0;
        std::map<std::uint64_t, Call> waiting; ///< By ticket.
    };
    struct Place {
        Slot* slot = nullptr;
        std::uint64_t ticket = 0;
    };

    /// A call that has begun.
    struct Active {
        AttemptId id;
        Slot* slot = nullptr;
        FunctionRef function;
        Value policy;
        bool is_settled = false; ///< Its answer came by another way.
    };
    using ActiveKey =
        std::tuple<trigger::TaskKey, std::uint32_t, Time>; ///< Attempt, start of the run.

    /// A call that may begin.
    struct Ready {
        FunctionRef function;
        Call call;
    };

    Slot* find_slot(std::string_view space, std::string_view name);
    void begin(Ready ready);
    void begin_all(std::vector<Ready> ready);
    void refuse(std::vector<Call> calls);
    void forget_removed(const Slot& slot, const Call& call);
    void finish(Call call, event::Answer answer);
    Active* find_active(const AttemptId& attempt);
    bool has_room(const Slot& slot) const;
    Ready activate(Slot& slot, Call call);
    Active take_active(const Call& call);
    /// Where it waits, which is given up; nothing: it does not.
    std::optional<Place> take_place(const RunName& run, const trigger::TaskKey& key);
    std::optional<Nanos> delay_after(const Active& active, const event::Answer& answer);
    /// Calls that may begin now.
    std::vector<Ready> take_ready(Slot& slot);

    mutable std::mutex mutex_;
    bool has_stopped_ = false;
    /// By name and namespace, whose empty name stands for all.
    std::map<std::string, std::map<std::string, Slot, std::less<>>, std::less<>> slots_;
    /// Calls that wait: one is called off without looking at the others.
    std::map<RunName, std::map<trigger::TaskKey, Place>> waiting_;
    std::uint64_t tickets_ = 0;
    std::map<RunName, std::map<ActiveKey, Active>> active_;
    std::size_t active_count_ = 0;
    Random random_;
    Tokens tokens_;
    Answered answered_;
};

/// Reads `timeout` and `retry` as an action or a function's definition gives them, over what stands
/// there already.
void apply_policy(const Value& policy, Function& function);

} // namespace sluice::engine
