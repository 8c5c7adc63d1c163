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
                       Answered answered)
    : random_(seed), answered_(std::move(answered)) {
    for (auto& [name, function] : functions) {
        slots_[name].function = std::move(function);
    }
}

std::string Dispatcher::key_of(const RunName& run, const trigger::TaskKey& key) {
    return fmt::format("{}/{}/{}", run.id, key.fire.raw(), key.index);
}

std::string Dispatcher::token_of(const RunName& run, const trigger::TaskKey& key,
                                 std::uint32_t attempt) {
    return fmt::format("{}#{}", key_of(run, key), attempt);
}

void Dispatcher::forget_active(const Call& call) {
    auto of_run = active_.find(call.run);
    of_run->second.erase(call.key);
    --active_count_;
    if (of_run->second.empty()) {
        active_.erase(of_run);
    }
}

bool Dispatcher::has_room(const Slot& slot) const {
    auto limit = slot.function.concurrency;
    return !has_stopped_ && (limit == 0 || slot.active < limit);
}

void Dispatcher::note_active(Slot& slot, const Call& call) {
    ++slot.active;
    active_[call.run][call.key] = call.attempt;
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

std::vector<Call> Dispatcher::take_ready(Slot& slot) {
    auto ready = std::vector<Call>{};
    while (!slot.waiting.empty() && has_room(slot)) {
        auto next = slot.waiting.extract(slot.waiting.begin());
        take_place(next.mapped().run, next.mapped().key);
        note_active(slot, next.mapped());
        ready.push_back(std::move(next.mapped()));
    }
    return ready;
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
            if (slot->second.waiting.empty() && has_room(slot->second)) {
                note_active(slot->second, call);
                ready.push_back(std::move(call));
            } else {
                waiting_[call.run][call.key] = {.slot = &slot->second, .ticket = ++tickets_};
                slot->second.waiting.emplace(tickets_, std::move(call));
            }
        }
    }
    for (auto& call : unknown) {
        auto message = fmt::format("there is no function \"{}\"", call.task.target);
        answered_({.run = call.run,
                   .key = call.key,
                   .attempt = call.attempt,
                   .answer = {.is_success = false,
                              .error_kind = "unknown_function",
                              .error_message = std::move(message)}});
    }
    for (auto& call : ready) {
        const auto& function = slots_.find(call.task.target)->second.function;
        begin(function, std::move(call));
    }
}

void Dispatcher::begin(const Function& function, Call call) {
    auto settings = function;
    apply_policy(call.task.policy, settings);
    auto key = key_of(call.run, call.key);
    auto delivery = event::Delivery{.key = key,
                                    .token = token_of(call.run, call.key, call.attempt),
                                    .target = call.task.target,
                                    .attempt = call.attempt,
                                    .payload = call.task.input,
                                    .timeout = settings.timeout};
    function.sink->deliver(std::move(delivery),
                           [this, call = std::move(call)](event::Answer answer) mutable {
                               finish(std::move(call), std::move(answer));
                           });
}

void Dispatcher::finish(Call call, event::Answer answer) {
    auto ready = std::vector<Call>{};
    auto retry_after = std::optional<Nanos>{};
    const Function* function = nullptr;
    {
        auto lock = std::lock_guard{mutex_};
        auto& slot = slots_.find(call.task.target)->second;
        function = &slot.function;
        --slot.active;
        forget_active(call);
        ready = take_ready(slot);
        if (!answer.is_success) {
            auto settings = slot.function;
            apply_policy(call.task.policy, settings);
            retry_after =
                settings.retry.delay_after(call.attempt, answer.error_kind, random_.unit());
        }
    }
    answered_({.run = call.run,
               .key = call.key,
               .attempt = call.attempt,
               .answer = std::move(answer),
               .retry_after = retry_after});
    for (auto& next : ready) {
        begin(*function, std::move(next));
    }
}

void Dispatcher::cancel(const RunName& run, const trigger::TaskKey& key) {
    auto token = std::string{};
    auto targets = std::vector<event::Sink*>{};
    {
        auto lock = std::lock_guard{mutex_};
        if (auto place = take_place(run, key)) {
            place->slot->waiting.erase(place->ticket);
            return;
        }
        auto of_run = active_.find(run);
        if (of_run == active_.end() || !of_run->second.contains(key)) {
            return;
        }
        token = token_of(run, key, of_run->second.at(key));
        for (auto& [name, slot] : slots_) {
            targets.push_back(slot.function.sink);
        }
    }
    std::ranges::sort(targets);
    auto repeated = std::ranges::unique(targets);
    targets.erase(repeated.begin(), repeated.end());
    for (auto* sink : targets) {
        sink->cancel(token);
    }
}

void Dispatcher::stop() {
    auto lock = std::lock_guard{mutex_};
    has_stopped_ = true;
}

std::size_t Dispatcher::pending() const {
    auto lock = std::lock_guard{mutex_};
    auto count = active_count_;
    for (const auto& [name, slot] : slots_) {
        count += slot.waiting.size();
    }
    return count;
}

} // namespace sluice::engine
