#include "engine/internal/function_slot.h"

#include <algorithm>

namespace sluice::engine {

namespace {

constexpr auto keys_least = std::size_t{1'024};

} // namespace

FunctionSlot::FunctionSlot(std::uint32_t concurrency, FunctionLimits limits)
    : concurrency_(concurrency),
      limits_(std::move(limits)),
      has_rates_(limits_.rate.is_set() || limits_.key),
      rate_(std::make_unique<RateLimit>(limits_.rate)),
      keys_max_(keys_least) {}

void FunctionSlot::add(WaitingCalls::Ticket ticket, std::string key, Call call) {
    auto priority = priority_of(call.task.policy, limits_);
    waiting_.add(ticket, priority, std::move(key), std::move(call));
}

void FunctionSlot::note_wake(Nanos moment) {
    wake_at_ = wake_at_ ? std::min(*wake_at_, moment) : moment;
}

void FunctionSlot::let_due_go(Nanos now) {
    while (!due_.empty() && due_.begin()->first <= now) {
        waiting_.let_go(due_.begin()->second);
        due_.erase(due_.begin());
    }
}

FunctionSlot::KeyUse& FunctionSlot::use_of(const Key& key, Nanos now) {
    if (keys_.size() >= keys_max_) {
        std::erase_if(keys_, [&](const auto& each) {
            return each.second.active == 0 && each.second.limit.is_full(now);
        });
        keys_max_ = std::max(keys_least, 2 * keys_.size());
    }
    return keys_.try_emplace(key, limits_.key_rate).first->second;
}

/// Whether a call with this key may begin; otherwise its key is held.
bool FunctionSlot::has_room(const Key& key, Nanos now) {
    if (!limits_.key) {
        return true;
    }
    auto& use = use_of(key, now);
    if (limits_.key_concurrency > 0 && use.active >= limits_.key_concurrency) {
        waiting_.hold(key);
        return false;
    }
    if (auto wait = use.limit.wait(now); wait > Nanos{0}) {
        due_.emplace(now + wait, key);
        waiting_.hold(key);
        return false;
    }
    return true;
}

void FunctionSlot::note_begun(const Key& key, Nanos now) {
    rate_->take(now);
    ++active_;
    if (limits_.key) {
        auto& use = use_of(key, now);
        use.limit.take(now);
        ++use.active;
    }
}

std::vector<FunctionSlot::Ready> FunctionSlot::take_ready(Nanos now, const TakeSlots& take_slots) {
    auto ready = std::vector<Ready>{};
    wake_at_.reset();
    let_due_go(now);
    while (concurrency_ == 0 || active_ < concurrency_) {
        auto next = waiting_.next();
        if (!next) {
            break;
        }
        if (auto wait = rate_->wait(now); wait > Nanos{0}) {
            note_wake(now + wait);
            break;
        }
        if (!has_room(next->key, now)) {
            continue;
        }
        if (!take_slots(*next)) {
            waiting_.block();
            continue;
        }
        note_begun(next->key, now);
        auto name = next->key.second; // Taking the last of a line ends its key.
        ready.push_back({.call = waiting_.take(), .key = std::move(name)});
    }
    if (!due_.empty()) {
        note_wake(due_.begin()->first);
    }
    return ready;
}

void FunctionSlot::finish(const std::string& space, const std::string& key) {
    --active_;
    if (!limits_.key) {
        return;
    }
    auto name = Key{space, key};
    auto found = keys_.find(name);
    if (found == keys_.end()) {
        return;
    }
    --found->second.active;
    waiting_.let_go(name); // One that its rate holds is held again, until the same moment.
}

} // namespace sluice::engine
