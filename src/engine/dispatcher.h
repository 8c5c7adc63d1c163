#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
};

/// Hands calls to functions, within their concurrency, and brings the answers back.
///
/// May be used from any thread. A call that has to wait for its turn waits here, in order.
class Dispatcher {
public:
    using Answered = std::function<void(AnswerInput)>;

    /// `answered` is called from any thread, possibly before `dispatch` returns. It must outlive
    /// every call.
    Dispatcher(std::map<std::string, Function> functions, std::uint64_t seed, const Secret& secret,
               Answered answered);

    void dispatch(std::vector<Call> calls);
    /// Nobody waits for it any more: forgets it if it has not begun, stops it if it has.
    void cancel(const RunName& run, const trigger::TaskKey& key);
    /// When an attempt that failed by another way than its sink is to be followed by the next.
    std::optional<Nanos> delay_after(const AttemptId& attempt, const event::Answer& answer);
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
    struct Slot {
        Function function;
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
        Value policy;
        bool is_settled = false; ///< Its answer came by another way.
    };
    using ActiveKey =
        std::tuple<trigger::TaskKey, std::uint32_t, Time>; ///< Attempt, start of the run.

    void begin(const Function& function, Call call);
    void finish(Call call, event::Answer answer);
    Active* find_active(const AttemptId& attempt);
    bool has_room(const Slot& slot) const;
    void note_active(Slot& slot, const Call& call);
    /// Whether its answer still counts.
    bool forget_active(const Call& call);
    /// Where it waits, which is given up; nothing: it does not.
    std::optional<Place> take_place(const RunName& run, const trigger::TaskKey& key);
    std::optional<Nanos> delay_after(const Slot& slot, const Value& policy, std::uint32_t attempt,
                                     const event::Answer& answer);
    /// Calls that may begin now.
    std::vector<Call> take_ready(Slot& slot);

    mutable std::mutex mutex_;
    bool has_stopped_ = false;
    std::map<std::string, Slot, std::less<>> slots_;
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
