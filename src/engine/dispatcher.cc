#include "engine/dispatcher.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "value/time_text.h"

namespace sluice::engine {

namespace {

std::optional<Nanos> duration_in(const Value& map, std::string_view key) {
    const auto* found = map.find(key);
    if (found == nullptr) {
        return std::nullopt;
    }
    if (found->is_int()) {
        return std::chrono::seconds{found->as_int()};
    }
    if (found->is_double()) {
        return Nanos{static_cast<std::int64_t>(found->as_double() * 1e9)};
    }
    if (found->is_string()) {
        if (auto parsed = value::parse_duration(found->as_string())) {
            return *parsed;
        }
    }
    return std::nullopt;
}

double number_in(const Value& map, std::string_view key, double otherwise) {
    const auto* found = map.find(key);
    if (found == nullptr || !found->is_number()) {
        return otherwise;
    }
    return found->is_double() ? found->as_double() : static_cast<double>(found->as_int());
}

} // namespace

void apply_policy(const Value& policy, Function& function) {
    function.timeout = duration_in(policy, "timeout").value_or(function.timeout);
    apply_limits(policy, function.limits);
    const auto* retry = policy.find("retry");
    if (retry == nullptr || !retry->is_map()) {
        return;
    }
    auto& into = function.retry;
    into.attempts = static_cast<std::uint32_t>(number_in(*retry, "attempts", 3));
    into.interval = duration_in(*retry, "interval").value_or(into.interval);
    into.max_delay = duration_in(*retry, "max_delay").value_or(into.max_delay);
    into.backoff = number_in(*retry, "backoff", into.backoff);
    into.jitter = number_in(*retry, "jitter", into.jitter);
    if (const auto* on = retry->find("on"); on != nullptr && on->is_list()) {
        into.on.clear();
        for (const auto& kind : on->as_list()) {
            into.on.emplace_back(kind.is_string() ? kind.as_string() : "");
        }
    }
}

std::optional<Nanos> RetryPolicy::delay_after(std::uint32_t attempt, std::string_view error_kind,
                                              double unit) const {
    auto is_final = error_kind == "invalid_input" || error_kind == "unknown_function";
    auto is_listed = on.empty() ? !is_final : std::ranges::find(on, error_kind) != on.end();
    if (attempt >= attempts || !is_listed) {
        return std::nullopt;
    }
    auto factor = std::pow(backoff, static_cast<double>(attempt - 1));
    auto delay = std::min(static_cast<double>(interval.count()) * factor,
                          static_cast<double>(max_delay.count()));
    delay *= 1.0 - jitter * unit;
    return Nanos{static_cast<std::int64_t>(std::max(0.0, delay))};
}

Dispatcher::Dispatcher(std::map<std::string, Function> functions, std::uint64_t seed,
                       const Secret& secret, DispatcherServices services)
    : random_(seed), tokens_(secret), services_(std::move(services)) {
    for (auto& [name, function] : functions) {
        auto calls = FunctionSlot{function.concurrency, function.limits};
        slots_.emplace(
            name, Slot{.name = name, .function = std::move(function), .calls = std::move(calls)});
    }
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

bool Dispatcher::forget_active(const Call& call, std::vector<Call>& ready) {
    auto of_run = active_.find(call.run);
    auto found = of_run->second.find({call.key, call.attempt, call.started});
    auto& [id, slot, policy, key, is_settled] = found->second;
    auto counts = !is_settled;
    slot->calls.finish(call.run.space, key);
    take_ready(*slot, ready);
    of_run->second.erase(found);
    --active_count_;
    if (of_run->second.empty()) {
        active_.erase(of_run);
    }
    return counts;
}

std::optional<Nanos> Dispatcher::delay_after(const Slot& slot, const Value& policy,
                                             std::uint32_t attempt, const event::Answer& answer) {
    if (answer.is_success) {
        return std::nullopt;
    }
    auto settings = slot.function;
    apply_policy(policy, settings);
    return settings.retry.delay_after(attempt, answer.error_kind, random_.unit());
}

std::optional<Nanos> Dispatcher::delay_after(const AttemptId& attempt,
                                             const event::Answer& answer) {
    auto lock = std::lock_guard{mutex_};
    const auto* active = find_active(attempt);
    return active == nullptr ? std::nullopt
                             : delay_after(*active->slot, active->policy, attempt.attempt, answer);
}

void Dispatcher::settle(const AttemptId& attempt) {
    event::Sink* sink = nullptr;
    {
        auto lock = std::lock_guard{mutex_};
        if (auto place = take_place(attempt.run, attempt.key)) {
            take_from(*place);
        }
        if (auto* active = find_active(attempt)) {
            active->is_settled = true;
            sink = active->slot->function.sink;
        }
    }
    if (sink != nullptr) {
        sink->cancel(tokens_.make(attempt));
    }
}

void Dispatcher::note_active(Slot& slot, const Call& call, std::string key) {
    active_[call.run][{call.key, call.attempt, call.started}] = {
        .id = call.id(), .slot = &slot, .policy = call.task.policy, .key = std::move(key)};
    ++active_count_;
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

void Dispatcher::take_ready(Slot& slot, std::vector<Call>& ready) {
    if (has_stopped_) {
        return;
    }
    auto now = services_.clock.steady();
    for (auto& [call, key] : slot.calls.take_ready(now)) {
        take_place(call.run, call.key);
        note_taken(call.run.space);
        note_active(slot, call, std::move(key));
        ready.push_back(std::move(call));
    }
    set_timer(slot, now);
}

void Dispatcher::set_timer(Slot& slot, Nanos now) {
    auto wake_at = slot.calls.wake_at();
    if (!wake_at || (slot.timer && *slot.timer <= *wake_at)) {
        return; // One that comes too early sets the next.
    }
    slot.timer = wake_at;
    services_.timers.after(*wake_at - now, [this, name = slot.name] { wake(name); });
}

void Dispatcher::wake(const std::string& function) {
    auto ready = std::vector<Call>{};
    {
        auto lock = std::lock_guard{mutex_};
        auto slot = slots_.find(function);
        if (slot != slots_.end()) {
            slot->second.timer.reset();
            take_ready(slot->second, ready);
        }
    }
    begin_all(std::move(ready));
}

void Dispatcher::dispatch(std::vector<Call> calls) {
    auto ready = std::vector<Call>{};
    auto unknown = std::vector<Call>{};
    {
        auto lock = std::lock_guard{mutex_};
        for (auto& call : calls) {
            auto slot = slots_.find(call.task.target);
            if (slot == slots_.end()) {
                unknown.push_back(std::move(call));
                continue;
            }
            if (slot->second.calls.is_free() && !has_stopped_) {
                slot->second.calls.begin_free();
                note_active(slot->second, call);
                ready.push_back(std::move(call));
            } else {
                enqueue(slot->second, std::move(call));
                take_ready(slot->second, ready);
            }
        }
    }
    for (auto& call : unknown) {
        auto message = fmt::format("there is no function \"{}\"", call.task.target);
        services_.answered({.attempt = call.id(),
                            .answer = {.is_success = false,
                                       .error_kind = "unknown_function",
                                       .error_message = std::move(message)}});
    }
    begin_all(std::move(ready));
}

void Dispatcher::begin_all(std::vector<Call> calls) {
    for (auto& call : calls) {
        if (call.has_content) {
            const auto& function = slots_.find(call.task.target)->second.function;
            begin(function, std::move(call));
        } else {
            services_.reload(std::move(call));
        }
    }
}

void Dispatcher::resume(Call call, std::optional<trigger::TaskState> task) {
    auto ready = std::vector<Call>{};
    if (task) {
        call.task = *std::move(task);
        call.has_content = true;
        ready.push_back(std::move(call));
    } else {
        auto lock = std::lock_guard{mutex_};
        forget_active(call, ready);
    }
    begin_all(std::move(ready));
}

void Dispatcher::begin(const Function& function, Call call) {
    auto timeout = duration_in(call.task.policy, "timeout").value_or(function.timeout);
    auto key = key_of(call.run, call.key);
    auto delivery = event::Delivery{.key = key,
                                    .token = tokens_.make(call.id()),
                                    .target = call.task.target,
                                    .attempt = call.attempt,
                                    .payload = call.task.input,
                                    .timeout = timeout};
    function.sink->deliver(std::move(delivery),
                           [this, call = std::move(call)](event::Answer answer) mutable {
                               finish(std::move(call), std::move(answer));
                           });
}

void Dispatcher::finish(Call call, event::Answer answer) {
    auto ready = std::vector<Call>{};
    auto retry_after = std::optional<Nanos>{};
    auto counts = false;
    {
        auto lock = std::lock_guard{mutex_};
        const auto& slot = slots_.find(call.task.target)->second;
        retry_after = delay_after(slot, call.task.policy, call.attempt, answer);
        counts = forget_active(call, ready);
    }
    if (counts) {
        services_.answered(
            {.attempt = call.id(), .answer = std::move(answer), .retry_after = retry_after});
    }
    begin_all(std::move(ready));
}

void Dispatcher::cancel(const RunName& run, const trigger::TaskKey& key) {
    auto begun = std::vector<std::pair<event::Sink*, AttemptId>>{};
    {
        auto lock = std::lock_guard{mutex_};
        if (auto place = take_place(run, key)) {
            take_from(*place);
            return;
        }
        auto of_run = active_.find(run);
        if (of_run == active_.end()) {
            return;
        }
        for (auto at = of_run->second.lower_bound({key, 0, Time::min()});
             at != of_run->second.end() && at->second.id.key == key; ++at) {
            begun.emplace_back(at->second.slot->function.sink, at->second.id);
        }
    }
    for (const auto& [sink, attempt] : begun) {
        sink->cancel(tokens_.make(attempt));
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
