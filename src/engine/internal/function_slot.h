#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rate_limit.h"
#include "engine/internal/function_limits.h"
#include "engine/internal/waiting_calls.h"

namespace sluice::engine {

/// The calls of one function: how many are under way, which wait, and which may begin now.
///
/// Knows neither lock nor timer: whoever holds it asks again when a call is over, and at `wake_at`.
class FunctionSlot {
public:
    FunctionSlot() = default;
    FunctionSlot(std::uint32_t concurrency, FunctionLimits limits);

    const FunctionLimits& limits() const { return limits_; }
    /// Whether a call that comes now begins now, without anything being looked up.
    bool is_free() const {
        return !has_rates_ && waiting_.is_empty() && (concurrency_ == 0 || active_ < concurrency_);
    }
    void begin_free() { ++active_; }

    void add(WaitingCalls::Ticket ticket, std::string key, Call call);
    Call remove(WaitingCalls::Ticket ticket) { return waiting_.remove(ticket); }

    struct Ready {
        Call call;
        std::string key;
    };
    /// Whether a call gets the slots of its pool.
    using TakeSlots = std::function<bool(const WaitingCalls::Turn&)>;
    /// Calls that may begin now, which they do.
    std::vector<Ready> take_ready(Nanos now, const TakeSlots& take_slots);
    const Call& at(WaitingCalls::Ticket ticket) const { return waiting_.at(ticket); }
    void unblock(WaitingCalls::Ticket ticket) { waiting_.unblock(ticket); }
    /// One with this key is over.
    void finish(const std::string& space, const std::string& key);

    std::size_t waiting() const { return waiting_.size(); }
    /// When waiting calls may go on although none has finished.
    std::optional<Nanos> wake_at() const { return wake_at_; }

private:
    struct KeyUse {
        explicit KeyUse(Rate rate) : limit(rate) {}

        std::uint32_t active = 0;
        RateLimit limit;
    };
    using Key = WaitingCalls::Key;

    bool has_room(const Key& key, Nanos now);
    void note_begun(const Key& key, Nanos now);
    KeyUse& use_of(const Key& key, Nanos now);
    void let_due_go(Nanos now);
    void note_wake(Nanos moment);

    std::uint32_t concurrency_ = 0;
    FunctionLimits limits_;
    bool has_rates_ = false; ///< Or limits by key.
    std::unique_ptr<RateLimit> rate_ = std::make_unique<RateLimit>();
    std::uint32_t active_ = 0;
    WaitingCalls waiting_;
    std::map<Key, KeyUse> keys_;
    std::size_t keys_max_ = 0;            ///< Beyond it, keys that nobody uses are forgotten.
    std::set<std::pair<Nanos, Key>> due_; ///< Held keys whose rate has room then.
    std::optional<Nanos> wake_at_;
};

} // namespace sluice::engine
