#include "engine/dispatcher.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "value/time_text.h"

namespace sluice::engine {

namespace {

/// However long the other side asks to be left alone.
constexpr Nanos asked_delay_max = std::chrono::hours{1};

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

bool RetryPolicy::is_final(std::string_view error_kind) {
    return error_kind == "invalid_input" || error_kind == "unknown_function" ||
           error_kind == "rejected" || error_kind == "forbidden_address";
}

std::optional<Nanos> RetryPolicy::delay_after(std::uint32_t attempt, std::string_view error_kind,
                                              double unit) const {
    auto is_listed =
        on.empty() ? !is_final(error_kind) : std::ranges::find(on, error_kind) != on.end();
    if (attempt >= attempts || !is_listed) {
        return std::nullopt;
    }
    auto factor = std::pow(backoff, static_cast<double>(attempt - 1));
    auto delay = std::min(static_cast<double>(interval.count()) * factor,
                          static_cast<double>(max_delay.count()));
    delay *= 1.0 - jitter * unit;
    return Nanos{static_cast<std::int64_t>(std::max(0.0, delay))};
}

Dispatcher::Dispatcher(FunctionTable functions, std::uint64_t seed, const Secret& secret,
                       Answered answered)
    : random_(seed), tokens_(secret), answered_(std::move(answered)) {
    for (auto& [name, function] : functions.shared) {
        set_function("", name, std::move(function));
    }
    for (auto& [space, table] : functions.by_space) {
        for (auto& [name, function] : table) {
            set_function(space, name, std::move(function));
        }
    }
}

void Dispatcher::set_function(const std::string& space, const std::string& name,
                              Function function) {
    // The one it replaces goes, with its sink, when the lock is open again.
    auto exchanged = FunctionRef{std::make_shared<const Function>(std::move(function))};
    auto ready = std::vector<Ready>{};
    {
        auto lock = std::lock_guard{mutex_};
        auto& slot = slots_[name][space];
        std::swap(slot.function, exchanged);
        ready = take_ready(slot);
    }
    begin_all(std::move(ready));
}

void Dispatcher::remove_function(std::string_view space, std::string_view name) {
    auto removed = FunctionRef{};
    auto waiting = std::vector<Call>{};
    {
        auto lock = std::lock_guard{mutex_};
        auto named = slots_.find(name);
        if (named == slots_.end()) {
            return;
        }
        auto found = named->second.find(space);
        if (found == named->second.end()) {
            return;
        }
        auto& slot = found->second;
        std::swap(slot.function, removed);
        for (auto& [ticket, call] : std::exchange(slot.waiting, {})) {
            take_place(call.run, call.key);
            waiting.push_back(std::move(call));
        }
        if (slot.active == 0) {
            named->second.erase(found);
        }
        if (named->second.empty()) {
            slots_.erase(named);
        }
    }
    refuse(std::move(waiting));
}

Dispatcher::Slot* Dispatcher::find_slot(std::string_view space, std::string_view name) {
    auto named = slots_.find(name);
    if (named == slots_.end()) {
        return nullptr;
    }
    for (auto each : {space, std::string_view{}}) {
        auto found = named->second.find(each);
        if (found != named->second.end() && found->second.function) {
            return &found->second;
        }
    }
    return nullptr;
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

Dispatcher::Active Dispatcher::take_active(const Call& call) {
    auto of_run = active_.find(call.run);
    auto taken = of_run->second.extract({call.key, call.attempt, call.started});
    --active_count_;
    --taken.mapped().slot->active;
    if (of_run->second.empty()) {
        active_.erase(of_run);
    }
    return std::move(taken.mapped());
}

std::optional<Nanos> Dispatcher::delay_after(const Active& active, const event::Answer& answer) {
    if (answer.is_success) {
        return std::nullopt;
    }
    auto settings = *active.function;
    apply_policy(active.policy, settings);
    auto delay = settings.retry.delay_after(active.id.attempt, answer.error_kind, random_.unit());
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
    auto function = FunctionRef{};
    {
        auto lock = std::lock_guard{mutex_};
        if (const auto* active = find_active(attempt)) {
            function = active->function;
        }
    }
    return function && function->sink->heartbeat(tokens_.make(attempt), lease);
}

void Dispatcher::settle(const AttemptId& attempt) {
    auto function = FunctionRef{};
    {
        auto lock = std::lock_guard{mutex_};
        if (auto place = take_place(attempt.run, attempt.key)) {
            place->slot->waiting.erase(place->ticket);
        }
        if (auto* active = find_active(attempt)) {
            active->is_settled = true;
            function = active->function;
        }
    }
    if (function) {
        function->sink->cancel(tokens_.make(attempt));
    }
}

bool Dispatcher::has_room(const Slot& slot) const {
    auto limit = slot.function ? slot.function->concurrency : 0;
    return !has_stopped_ && slot.function && (limit == 0 || slot.active < limit);
}

Dispatcher::Ready Dispatcher::activate(Slot& slot, Call call) {
    ++slot.active;
    ++active_count_;
    active_[call.run][{call.key, call.attempt, call.started}] = {
        .id = call.id(), .slot = &slot, .function = slot.function, .policy = call.task.policy};
    return {.function = slot.function, .call = std::move(call)};
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

std::vector<Dispatcher::Ready> Dispatcher::take_ready(Slot& slot) {
    auto ready = std::vector<Ready>{};
    while (!slot.waiting.empty() && has_room(slot)) {
        auto next = slot.waiting.extract(slot.waiting.begin());
        take_place(next.mapped().run, next.mapped().key);
        ready.push_back(activate(slot, std::move(next.mapped())));
    }
    return ready;
}

void Dispatcher::dispatch(std::vector<Call> calls) {
    auto ready = std::vector<Ready>{};
    auto unknown = std::vector<Call>{};
    {
        auto lock = std::lock_guard{mutex_};
        for (auto& call : calls) {
            auto* slot = find_slot(call.run.space, call.task.target);
            if (slot == nullptr) {
                unknown.push_back(std::move(call));
            } else if (slot->waiting.empty() && has_room(*slot)) {
                ready.push_back(activate(*slot, std::move(call)));
            } else {
                waiting_[call.run][call.key] = {.slot = slot, .ticket = ++tickets_};
                slot->waiting.emplace(tickets_, std::move(call));
            }
        }
    }
    refuse(std::move(unknown));
    begin_all(std::move(ready));
}

void Dispatcher::refuse(std::vector<Call> calls) {
    for (auto& call : calls) {
        auto message = fmt::format("there is no function \"{}\"", call.task.target);
        answered_({.attempt = call.id(),
                   .answer = event::failure("unknown_function", std::move(message))});
    }
}

void Dispatcher::begin_all(std::vector<Ready> ready) {
    for (auto& each : ready) {
        begin(std::move(each));
    }
}

void Dispatcher::begin(Ready ready) {
    auto& call = ready.call;
    auto settings = *ready.function;
    apply_policy(call.task.policy, settings);
    const auto* trace = call.task.policy.find("traceparent");
    auto delivery = event::Delivery{.key = key_of(call.run, call.key),
                                    .token = tokens_.make(call.id()),
                                    .target = call.task.target,
                                    .attempt = call.attempt,
                                    .payload = call.task.input,
                                    .timeout = settings.timeout,
                                    .space = call.run.space,
                                    .run = call.run.id,
                                    .trace = trace != nullptr && trace->is_string()
                                                 ? std::string{trace->as_string()}
                                                 : std::string{}};
    ready.function->sink->deliver(std::move(delivery),
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
        active = take_active(call);
        ready = take_ready(*active.slot);
        retry_after = delay_after(active, answer);
        forget_removed(*active.slot, call);
    }
    if (!active.is_settled) {
        answered_({.attempt = call.id(), .answer = std::move(answer), .retry_after = retry_after});
    }
    begin_all(std::move(ready));
}

/// A function that was removed while its calls were under way goes with the last of them.
void Dispatcher::forget_removed(const Slot& slot, const Call& call) {
    if (slot.function || slot.active > 0) {
        return;
    }
    auto named = slots_.find(call.task.target);
    std::erase_if(named->second, [&](const auto& each) { return &each.second == &slot; });
    if (named->second.empty()) {
        slots_.erase(named);
    }
}

void Dispatcher::cancel(const RunName& run, const trigger::TaskKey& key) {
    auto begun = std::vector<std::pair<FunctionRef, AttemptId>>{};
    {
        auto lock = std::lock_guard{mutex_};
        if (auto place = take_place(run, key)) {
            place->slot->waiting.erase(place->ticket);
            return;
        }
        auto of_run = active_.find(run);
        if (of_run == active_.end()) {
            return;
        }
        for (auto at = of_run->second.lower_bound({key, 0, Time::min()});
             at != of_run->second.end() && at->second.id.key == key; ++at) {
            begun.emplace_back(at->second.function, at->second.id);
        }
    }
    for (const auto& [function, attempt] : begun) {
        function->sink->cancel(tokens_.make(attempt));
    }
}

void Dispatcher::stop() {
    auto lock = std::lock_guard{mutex_};
    has_stopped_ = true;
}

std::size_t Dispatcher::pending() const {
    auto lock = std::lock_guard{mutex_};
    auto count = active_count_;
    for (const auto& [name, slots] : slots_) {
        for (const auto& [space, slot] : slots) {
            count += slot.waiting.size();
        }
    }
    return count;
}

} // namespace sluice::engine
