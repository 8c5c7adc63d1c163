#include "engine/dispatcher.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "event/trace.h"

namespace sluice::engine {

namespace {

/// However long the other side asks to be left alone.
constexpr Nanos asked_delay_max = std::chrono::hours{1};

} // namespace

Dispatcher::Dispatcher(FunctionTable functions, std::uint64_t seed, const Secret& secret,
                       DispatcherServices services)
    : random_(seed), tokens_(secret), services_(std::move(services)) {
    for (auto& [name, function] : functions.shared) {
        slots_[name][""] = make_slot(name, std::move(function));
    }
    for (auto& [space, table] : functions.by_space) {
        for (auto& [name, function] : table) {
            slots_[name][space] = make_slot(name, std::move(function));
        }
    }
}

Dispatcher::SlotRef Dispatcher::make_slot(const std::string& name, Function function) const {
    auto slot = std::make_shared<Slot>(std::move(function));
    if (services_.metrics != nullptr) {
        auto labelled = [&](std::string_view metric) {
            return observe::Metrics::labelled(metric, {{"function", name}});
        };
        slot->taken = &services_.metrics->histogram(labelled("function_seconds"));
        slot->failed = &services_.metrics->counter(labelled("function_failures_total"));
    }
    return slot;
}

void Dispatcher::set_function(const std::string& space, const std::string& name,
                              Function function) {
    if (resize_pool(space, name, function)) {
        return;
    }
    auto slot = make_slot(name, std::move(function));
    auto replaced = SlotRef{};
    auto ready = std::vector<Ready>{};
    auto poolless = std::vector<Call>{};
    auto waiting = std::vector<Call>{};
    {
        auto lock = std::lock_guard{mutex_};
        auto& place = slots_[name][space];
        if (place && place->is_pool()) {
            poolless = take_waiting_for(*place);
        }
        replaced = std::exchange(place, slot);
        if (replaced) {
            waiting = take_waiting(*replaced);
        }
        for (auto& call : slot->is_pool() ? std::vector<Call>{} : std::exchange(waiting, {})) {
            enqueue(*slot, std::move(call));
        }
        take_ready(*slot, ready);
    }
    refuse(std::move(waiting));
    refuse_without_pool(std::move(poolless));
    begin_all(std::move(ready));
}

void Dispatcher::remove_function(const std::string& space, const std::string& name) {
    auto removed = SlotRef{};
    auto waiting = std::vector<Call>{};
    auto poolless = std::vector<Call>{};
    {
        auto lock = std::lock_guard{mutex_};
        auto& slots = slots_[name];
        if (auto found = slots.find(space); found != slots.end()) {
            poolless = found->second->is_pool() ? take_waiting_for(*found->second) : poolless;
            removed = std::move(found->second);
            slots.erase(found);
            waiting = take_waiting(*removed);
        }
        if (slots.empty()) {
            slots_.erase(name);
        }
    }
    refuse(std::move(waiting));
    refuse_without_pool(std::move(poolless));
}

std::vector<Call> Dispatcher::take_waiting(const Slot& slot) {
    return take_waiting_where([&](const Place& place) { return place.slot == &slot; });
}

std::vector<Call> Dispatcher::take_waiting_where(
    const std::function<bool(const Place&)>& is_meant) {
    auto places = std::vector<std::pair<std::uint64_t, std::pair<RunName, trigger::TaskKey>>>{};
    for (const auto& [run, tasks] : waiting_) {
        for (const auto& [key, place] : tasks) {
            if (is_meant(place)) {
                places.push_back({place.ticket, {run, key}});
            }
        }
    }
    std::ranges::sort(places, {}, [](const auto& each) { return each.first; });
    auto calls = std::vector<Call>{};
    for (const auto& [ticket, name] : places) {
        calls.push_back(take_from(*take_place(name.first, name.second)));
    }
    return calls;
}

Dispatcher::SlotRef Dispatcher::find_slot(std::string_view space, std::string_view name) const {
    auto named = slots_.find(name);
    named = named == slots_.end() ? slots_.find(any_function) : named;
    if (named == slots_.end()) {
        return nullptr;
    }
    auto found = named->second.find(space);
    found = found == named->second.end() ? named->second.find(std::string_view{}) : found;
    return found == named->second.end() ? nullptr : found->second;
}

std::string Dispatcher::key_of(const RunName& run, const trigger::TaskKey& key) {
    // Other namespaces have a part more, so that no two tasks share a key.
    auto space = run.space == RunName{}.space ? std::string{} : run.space + "/";
    return fmt::format("{}{}/{}/{}", space, run.id, key.fire.raw(), key.index);
}

Dispatcher::Active* Dispatcher::find_active(const AttemptId& attempt) {
    auto of_run = active_.find(attempt.run);
    if (of_run == active_.end()) {
        return nullptr;
    }
    auto found = of_run->second.find({attempt.key, attempt.attempt, attempt.started});
    return found != of_run->second.end() && found->second.id == attempt ? &found->second : nullptr;
}

Dispatcher::Active Dispatcher::take_active(const Call& call, std::vector<Ready>& ready) {
    auto of_run = active_.find(call.run);
    auto taken = of_run->second.extract({call.key, call.attempt, call.started});
    --active_count_;
    if (of_run->second.empty()) {
        active_.erase(of_run);
    }
    auto& active = taken.mapped();
    active.slot->calls.finish(call.run.space, active.key);
    if (active.slots.pool) {
        active.slots.pool->pool.give_back(active.slots.count);
    }
    take_ready(*active.slot, ready);
    if (active.slots.pool) {
        serve(*active.slots.pool, ready);
    }
    return std::move(active);
}

std::optional<Nanos> Dispatcher::delay_after(const Active& active, const event::Answer& answer) {
    if (answer.is_success) {
        return std::nullopt;
    }
    auto settings = active.slot->function;
    apply_policy(active.policy, settings, answer.error_kind);
    auto delay = settings.retry.delay_after(active.id.attempt, answer.error_kind,
                                            services_.has_jitter ? random_.unit() : 0.0);
    return delay ? std::optional{std::max(*delay, std::min(answer.retry_after, asked_delay_max))}
                 : std::nullopt;
}

std::optional<Nanos> Dispatcher::delay_after(const AttemptId& attempt,
                                             const event::Answer& answer) {
    auto lock = std::lock_guard{mutex_};
    const auto* active = find_active(attempt);
    return active == nullptr ? std::nullopt : delay_after(*active, answer);
}

bool Dispatcher::heartbeat(const AttemptId& attempt, std::uint64_t lease) {
    auto slot = SlotRef{};
    {
        auto lock = std::lock_guard{mutex_};
        const auto* active = find_active(attempt);
        slot = active == nullptr ? nullptr : active->slot;
    }
    return slot && slot->function.sink->heartbeat(token_of(*slot, attempt), lease);
}

void Dispatcher::settle(const AttemptId& attempt) {
    auto slot = SlotRef{};
    auto ready = std::vector<Ready>{};
    {
        auto lock = std::lock_guard{mutex_};
        if (auto place = take_place(attempt.run, attempt.key)) {
            go_on_without(*place->slot, take_from(*place), ready);
        }
        if (auto* active = find_active(attempt)) {
            active->is_settled = true;
            slot = active->slot;
        }
    }
    if (slot) {
        slot->function.sink->cancel(token_of(*slot, attempt));
    }
    begin_all(std::move(ready));
}

Dispatcher::Ready Dispatcher::activate(Slot& slot, Call call, std::string key, Slots slots) {
    ++active_count_;
    auto ref = slot.shared_from_this();
    auto& of_run = active_[call.run];
    of_run.insert_or_assign(of_run.end(), ActiveKey{call.key, call.attempt, call.started},
                            Active{.id = call.id(),
                                   .slot = ref,
                                   .policy = call.task.policy,
                                   .key = std::move(key),
                                   .slots = std::move(slots),
                                   .began = services_.clock.steady()});
    return {.slot = std::move(ref), .call = std::move(call)};
}

std::optional<Dispatcher::Place> Dispatcher::take_place(const RunName& run,
                                                        const trigger::TaskKey& key) {
    auto of_run = waiting_.find(run);
    if (of_run == waiting_.end()) {
        return std::nullopt;
    }
    auto taken = of_run->second.extract(key);
    if (of_run->second.empty()) {
        waiting_.erase(of_run);
    }
    return taken.empty() ? std::nullopt : std::optional{taken.mapped()};
}

void Dispatcher::note_taken(const std::string& space) {
    --waiting_count_;
    auto count = waiting_by_space_.find(space);
    if (--count->second == 0) {
        waiting_by_space_.erase(count);
    }
}

Call Dispatcher::take_from(const Place& place) {
    auto call = place.slot->calls.remove(place.ticket);
    note_taken(call.run.space);
    if (auto pool = pool_of(call)) {
        auto priority = priority_of(call.task.policy, place.slot->function.limits);
        pool->pool.leave(Pool<Slot>::order_of(priority, place.ticket));
    }
    return call;
}

void Dispatcher::enqueue(Slot& slot, Call call) {
    waiting_[call.run][call.key] = {.slot = &slot, .ticket = ++tickets_};
    ++waiting_by_space_[call.run.space];
    auto key = limit_key_of(slot.function.limits, call.task.input);
    if (++waiting_count_ > services_.contents_max && services_.reload) {
        call.has_content = false;
        call.task.input = {};
    }
    slot.calls.add(tickets_, std::move(key), std::move(call));
}

void Dispatcher::take_ready(Slot& slot, std::vector<Ready>& ready) {
    if (has_stopped_) {
        return;
    }
    auto now = services_.clock.steady();
    auto slots = TakenSlots{};
    auto take = [&](const WaitingCalls::Turn& turn) { return take_slots(slot, turn, slots); };
    for (auto& [call, key] : slot.calls.take_ready(now, take)) {
        auto ticket = take_place(call.run, call.key)->ticket;
        note_taken(call.run.space);
        auto taken = slots.find(ticket);
        ready.push_back(activate(slot, std::move(call), std::move(key),
                                 taken == slots.end() ? Slots{} : std::move(taken->second)));
    }
    set_timer(slot, now);
}

void Dispatcher::set_timer(Slot& slot, Nanos now) {
    auto wake_at = slot.calls.wake_at();
    if (!wake_at || (slot.timer && *slot.timer <= *wake_at)) {
        return; // One that comes too early sets the next.
    }
    slot.timer = wake_at;
    services_.timers.after(*wake_at - now, [this, weak = slot.weak_from_this()] { wake(weak); });
}

void Dispatcher::wake(const std::weak_ptr<Slot>& weak) {
    auto slot = weak.lock();
    if (!slot) {
        return;
    }
    auto ready = std::vector<Ready>{};
    {
        auto lock = std::lock_guard{mutex_};
        slot->timer.reset();
        take_ready(*slot, ready);
    }
    begin_all(std::move(ready));
}

void Dispatcher::dispatch(std::vector<Call> calls) {
    // The first of many need not wait until the last is noted.
    constexpr auto together = std::size_t{32};
    for (auto from = std::size_t{0}; from < calls.size(); from += together) {
        dispatch_together(std::span{calls}.subspan(from, std::min(together, calls.size() - from)));
    }
}

void Dispatcher::dispatch_together(std::span<Call> calls) {
    auto ready = std::vector<Ready>{};
    auto unknown = std::vector<Call>{};
    auto poolless = std::vector<Call>{};
    ready.reserve(calls.size());
    {
        auto lock = std::lock_guard{mutex_};
        for (auto& call : calls) {
            auto slot = find_slot(call.run.space, call.task.target);
            auto has_pool = call.task.policy.find("pool") != nullptr;
            if (!slot || slot->is_pool()) {
                unknown.push_back(std::move(call));
            } else if (has_pool && !pool_of(call)) {
                poolless.push_back(std::move(call));
            } else if (!has_pool && slot->calls.is_free() && !has_stopped_) {
                slot->calls.begin_free();
                ready.push_back(activate(*slot, std::move(call), {}, {}));
            } else {
                enqueue(*slot, std::move(call));
                take_ready(*slot, ready);
            }
        }
    }
    refuse(std::move(unknown));
    refuse_without_pool(std::move(poolless));
    begin_all(std::move(ready));
}

void Dispatcher::refuse(std::vector<Call> calls) {
    for (auto& call : calls) {
        auto message = fmt::format("there is no function \"{}\"", call.task.target);
        services_.answered({.attempt = call.id(),
                            .answer = event::failure("unknown_function", std::move(message))});
    }
}

void Dispatcher::begin_all(std::vector<Ready> ready) {
    for (auto& [slot, call] : ready) {
        if (call.has_content) {
            begin(*slot, std::move(call));
        } else {
            services_.reload(std::move(call));
        }
    }
}

void Dispatcher::resume(Call call, std::optional<trigger::TaskState> task) {
    auto ready = std::vector<Ready>{};
    auto ended = Active{};
    {
        auto lock = std::lock_guard{mutex_};
        if (task) {
            auto slot = find_active(call.id())->slot;
            call.task = *std::move(task);
            call.has_content = true;
            ready.push_back({.slot = std::move(slot), .call = std::move(call)});
        } else {
            ended = take_active(call, ready);
        }
    }
    begin_all(std::move(ready));
}

void Dispatcher::begin(const Slot& slot, Call call) {
    if (services_.references != nullptr && services_.references->has_any(call.task.input)) {
        load_input(slot, std::move(call));
        return;
    }
    auto input = call.task.input;
    deliver(slot, std::move(call), std::move(input));
}

std::string Dispatcher::token_of(const Slot& slot, const AttemptId& attempt) const {
    return slot.function.sink->is_answered_from_outside()
               ? tokens_.make(attempt)
               : fmt::format("{}/{}/{}", key_of(attempt.run, attempt.key), attempt.attempt,
                             attempt.started.time_since_epoch().count());
}

void Dispatcher::deliver(const Slot& slot, Call call, Value input) {
    const auto* trace = call.task.policy.find("traceparent");
    auto delivery = event::Delivery{
        .key = key_of(call.run, call.key),
        .token = token_of(slot, call.id()),
        .target = call.task.target,
        .attempt = call.attempt,
        .payload = std::move(input),
        .timeout = timeout_of(call.task.policy, slot.function),
        .space = call.run.space,
        .run = call.run.id,
        .trace = trace != nullptr && trace->is_string()
                     ? event::trace_under(trace->as_string(),
                                          fmt::format("{}/{}/{}", call.run.id, call.key.fire.raw(),
                                                      call.key.index))
                     : ""};
    slot.function.sink->deliver(std::move(delivery),
                                [this, call = std::move(call)](event::Answer answer) mutable {
                                    finish(std::move(call), std::move(answer));
                                });
}

void Dispatcher::finish(Call call, event::Answer answer) {
    auto ready = std::vector<Ready>{};
    auto retry_after = std::optional<Nanos>{};
    auto active = Active{};
    {
        auto lock = std::lock_guard{mutex_};
        active = take_active(call, ready);
        retry_after = delay_after(active, answer);
    }
    if (active.slot->taken != nullptr) {
        active.slot->taken->add(services_.clock.steady() - active.began);
        active.slot->failed->add(answer.is_success ? 0 : 1);
    }
    if (!active.is_settled) {
        auto result = std::exchange(answer.result, {});
        keep_large(active.policy, call.run, std::move(result),
                   [this, attempt = call.id(), answer = std::move(answer),
                    retry_after](Value kept) mutable {
                       answer.result = std::move(kept);
                       services_.answered({.attempt = std::move(attempt),
                                           .answer = std::move(answer),
                                           .retry_after = retry_after});
                   });
    }
    begin_all(std::move(ready));
}

void Dispatcher::cancel(const RunName& run, const trigger::TaskKey& key) {
    auto begun = std::vector<std::pair<SlotRef, AttemptId>>{};
    auto ready = std::vector<Ready>{};
    {
        auto lock = std::lock_guard{mutex_};
        auto of_run = active_.find(run);
        if (auto place = take_place(run, key)) {
            go_on_without(*place->slot, take_from(*place), ready);
        } else if (of_run != active_.end()) {
            for (auto at = of_run->second.lower_bound({key, 0, Time::min()});
                 at != of_run->second.end() && at->second.id.key == key; ++at) {
                at->second.is_settled |= at->second.is_loading;
                begun.emplace_back(at->second.slot, at->second.id);
            }
        }
    }
    begin_all(std::move(ready));
    for (const auto& [slot, attempt] : begun) {
        slot->function.sink->cancel(token_of(*slot, attempt));
    }
}

void Dispatcher::stop() {
    auto lock = std::lock_guard{mutex_};
    has_stopped_ = true;
}

std::size_t Dispatcher::pending() const {
    auto lock = std::lock_guard{mutex_};
    return active_count_ + waiting_count_;
}

std::size_t Dispatcher::waiting_in(const std::string& space) const {
    auto lock = std::lock_guard{mutex_};
    auto found = waiting_by_space_.find(space);
    return found == waiting_by_space_.end() ? 0 : found->second;
}

} // namespace sluice::engine
