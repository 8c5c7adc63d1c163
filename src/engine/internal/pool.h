#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "value/value.h"

namespace sluice::engine {

/// What a call's policy says of pools: which, and how many of its slots.
struct PoolNeed {
    std::string pool; ///< Empty: none.
    std::uint32_t slots = 1;
};

inline PoolNeed pool_need_of(const Value& policy) {
    auto need = PoolNeed{};
    if (const auto* pool = policy.find("pool"); pool != nullptr && pool->is_string()) {
        need.pool = pool->as_string();
    }
    if (const auto* slots = policy.find("slots"); slots != nullptr && slots->is_int()) {
        need.slots = static_cast<std::uint32_t>(slots->as_int());
    }
    return need;
}

/// Slots that calls of several functions share.
///
/// A call whose function has room and that finds too few slots stands in line here. Nobody behind
/// it takes any until it has its own, so one that needs many has its turn. `Function` is whose
/// calls they are.
template <typename Function>
class Pool {
public:
    using Ticket = std::uint64_t;
    /// Higher priorities first, then the oldest.
    using Order = std::pair<std::int64_t, Ticket>;
    static Order order_of(std::int32_t priority, Ticket ticket) {
        return {-std::int64_t{priority}, ticket};
    }

    explicit Pool(std::uint32_t size) : size_(size) {}

    void resize(std::uint32_t size) { size_ = size; }

    /// Takes the slots, or puts the call in line. One that needs more than there are takes all.
    std::optional<std::uint32_t> take(Order order, std::uint32_t slots, Function* function) {
        auto is_next = claims_.empty() || claims_.begin()->first >= order;
        if (!is_next || !fits(slots)) {
            claims_[order] = {.function = function, .slots = slots};
            return std::nullopt;
        }
        claims_.erase(order);
        auto taken = std::min(slots, size_);
        used_ += taken;
        return taken;
    }
    void give_back(std::uint32_t slots) { used_ -= slots; }

    /// Whether it stood in line.
    bool leave(Order order) { return claims_.erase(order) > 0; }

    struct First {
        Order order;
        Function* function = nullptr;
    };
    /// The first in line, if there is room for it now.
    std::optional<First> first_fitting() const {
        if (claims_.empty() || !fits(claims_.begin()->second.slots)) {
            return std::nullopt;
        }
        return First{.order = claims_.begin()->first, .function = claims_.begin()->second.function};
    }

private:
    struct Claim {
        Function* function = nullptr;
        std::uint32_t slots = 1;
    };

    bool fits(std::uint32_t slots) const { return used_ + std::min(slots, size_) <= size_; }

    std::uint32_t size_ = 0;
    std::uint32_t used_ = 0;
    std::map<Order, Claim> claims_;
};

} // namespace sluice::engine
