#include "functions.h"

#include <charconv>
#include <utility>

namespace sluice::simulation {

namespace {

std::uint64_t number_of(std::string_view text) {
    auto number = std::uint64_t{0};
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// The answer's address, from `run/fire/index`.
engine::AnswerInput addressed(const event::Delivery& delivery) {
    auto key = std::string_view{delivery.key};
    auto last = key.rfind('/');
    auto middle = key.rfind('/', last - 1);
    return {.run = {.id = std::string{key.substr(0, middle)}},
            .key = {.fire = trigger::FireNumber{number_of(key.substr(middle + 1))},
                    .index = number_of(key.substr(last + 1))},
            .attempt = delivery.attempt};
}

} // namespace

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
        auto late = addressed(pending.delivery);
        late.answer = std::move(answer);
        zombie_(std::move(late));
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
