#include "functions.h"

#include <utility>

namespace sluice::simulation {

std::map<std::string, engine::Function> Functions::declared() {
    auto functions = std::map<std::string, engine::Function>{};
    functions["work"] = {.sink = this, .concurrency = static_cast<std::uint32_t>(random_.below(4))};
    functions["flaky"] = {.sink = this};
    functions["flaky"].retry = {.attempts = 6, .interval = std::chrono::milliseconds{30}};
    return functions;
}

void Functions::deliver(event::Delivery delivery, Done done) {
    auto number = ++count_;
    log_.add(timeline_.now(), "function {} begins {}", delivery.target, delivery.token);
    pending_.emplace(number, Pending{.delivery = std::move(delivery), .done = std::move(done)});
    if (random_.chance(0.1)) {
        finish(number);
        return;
    }
    auto delay = std::chrono::microseconds{random_.below(random_.chance(0.1) ? 2'000'000 : 60'000)};
    timeline_.after(delay, [this, number] { finish(number); });
}

event::Answer Functions::answer_of(const event::Delivery& delivery) {
    auto failures = delivery.target == "flaky" ? hash64(delivery.key) % 4 : 0;
    if (delivery.attempt <= failures) {
        return {.is_success = false, .error_kind = "flaky", .error_message = "not yet"};
    }
    ++effects_[delivery.key];
    return {.result = delivery.payload};
}

void Functions::finish(std::uint64_t number) {
    auto found = pending_.find(number);
    if (found == pending_.end()) {
        return;
    }
    if (!found->second.done && !std::exchange(found->second.is_delayed, true)) {
        timeline_.after(std::chrono::milliseconds{random_.below(3000)},
                        [this, number] { finish(number); });
        return;
    }
    auto pending = std::move(found->second);
    pending_.erase(found);
    // What failed for one caller may succeed for another: an orphan does.
    pending.delivery.attempt += pending.done ? 0 : 100;
    auto answer = answer_of(pending.delivery);
    pending.delivery.attempt -= pending.done ? 0 : 100;
    log_.add(timeline_.now(), "function answers {} {}{}", pending.delivery.token,
             answer.is_success ? "well" : "badly", pending.done ? "" : " to a grave");
    if (pending.done) {
        (*pending.done)(std::move(answer));
    } else if (answer.is_success) {
        auto attempt = engine::Tokens{secret}.read(pending.delivery.token).value();
        zombie_({.attempt = std::move(attempt), .answer = std::move(answer)});
    }
}

void Functions::cancel(std::string_view token) {
    for (auto& [number, pending] : pending_) {
        if (pending.delivery.token == token && pending.done && random_.chance(0.5)) {
            auto cut = std::move(*pending.done);
            pending_.erase(number);
            cut({.is_success = false, .error_kind = "cancelled", .error_message = "as asked"});
            return;
        }
    }
}

void Functions::orphan() {
    for (auto& [number, pending] : pending_) {
        pending.done.reset();
    }
    // Some died with their caller.
    std::erase_if(pending_, [&](const auto& /*each*/) { return random_.chance(0.5); });
}

} // namespace sluice::simulation
