#include <fmt/format.h>

#include "engine/dispatcher.h"

// What the dispatcher does with pools: one more limit that calls stand under.
namespace sluice::engine {

Dispatcher::SlotRef Dispatcher::pool_of(const Call& call) const {
    auto need = pool_need_of(call.task.policy);
    auto pool = need.pool.empty() ? nullptr : find_slot(call.run.space, need.pool);
    return pool && pool->is_pool() ? pool : nullptr;
}

bool Dispatcher::take_slots(Slot& slot, const WaitingCalls::Turn& turn, TakenSlots& taken) const {
    auto pool = pool_of(turn.call);
    if (!pool) {
        return true;
    }
    auto count = pool->pool.take(Pool<Slot>::order_of(turn.priority, turn.ticket),
                                 pool_need_of(turn.call.task.policy).slots, &slot);
    if (count) {
        taken[turn.ticket] = {.pool = std::move(pool), .count = *count};
    }
    return count.has_value();
}

void Dispatcher::serve(Slot& pool, std::vector<Ready>& ready) {
    while (auto first = pool.pool.first_fitting()) {
        first->function->calls.unblock(first->order.second);
        take_ready(*first->function, ready);
        // One that still stands there has no room in its function, and asks again when it has.
        pool.pool.leave(first->order);
    }
}

void Dispatcher::go_on_without(Slot& slot, const Call& call, std::vector<Ready>& ready) {
    if (auto pool = pool_of(call)) {
        take_ready(slot, ready);
        serve(*pool, ready);
    }
}

bool Dispatcher::resize_pool(const std::string& space, const std::string& name,
                             const Function& function) {
    auto ready = std::vector<Ready>{};
    {
        auto lock = std::lock_guard{mutex_};
        auto& slots = slots_[name];
        auto found = slots.find(space);
        if (found == slots.end() || !found->second->is_pool() || !function.slots) {
            return false;
        }
        found->second->pool.resize(*function.slots);
        serve(*found->second, ready);
    }
    begin_all(std::move(ready));
    return true;
}

std::vector<Call> Dispatcher::take_waiting_for(const Slot& pool) {
    return take_waiting_where([&](const Place& place) {
        return pool_of(place.slot->calls.at(place.ticket)).get() == &pool;
    });
}

void Dispatcher::refuse_without_pool(std::vector<Call> calls) {
    for (auto& call : calls) {
        auto message = fmt::format(
            "there is no pool \"{}\": declare it where functions are, with "
            "the number of its slots",
            pool_need_of(call.task.policy).pool);
        services_.answered(
            {.attempt = call.id(), .answer = event::failure("unknown_pool", std::move(message))});
    }
}

} // namespace sluice::engine
