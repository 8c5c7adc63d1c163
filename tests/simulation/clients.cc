#include "clients.h"

#include <algorithm>
#include <utility>

#include "event/builder.h"
#include "trigger/arrival.h"

namespace sluice::simulation {

Clients::Clients(const std::vector<RunPlan>& plans, std::uint16_t shard_count, Timeline& timeline,
                 Random& random, ActionLog& log, Post post,
                 std::function<void(const RunPlan& plan)> begun)
    : plans_(plans),
      shard_count_(shard_count),
      timeline_(timeline),
      random_(random),
      log_(log),
      post_(std::move(post)),
      begun_(std::move(begun)) {
    for (auto plan = std::size_t{0}; plan < plans.size(); ++plan) {
        requests_.push_back({.kind = Kind::Start, .plan = plan});
        if (plans[plan].after.empty()) {
            send_later(requests_.size() - 1, 100);
        }
        for (auto event = std::size_t{0}; event < plans[plan].events.size(); ++event) {
            if (!plans[plan].events[event].by_bus) {
                requests_.push_back({.kind = Kind::Event, .plan = plan, .event = event});
            }
        }
        if (plans[plan].is_cancelled) {
            requests_.push_back({.kind = Kind::Cancel, .plan = plan});
        }
        if (plans[plan].is_paused) {
            requests_.push_back({.kind = Kind::Pause, .plan = plan});
        }
        if (plans[plan].is_reopened) {
            requests_.push_back({.kind = Kind::Reopen, .plan = plan});
        }
    }
}

void Clients::send_later(std::size_t request, std::uint64_t within_ms) {
    auto delay = std::chrono::microseconds{random_.below(within_ms * 1000)};
    requests_[request].is_begun = true;
    timeline_.after(delay, [this, request] { send(request); });
}

void Clients::send(std::size_t request) {
    const auto& plan = plans_[requests_[request].plan];
    if (requests_[request].kind == Kind::Event) {
        send_events(request);
        return;
    }
    if (requests_[request].kind == Kind::Reopen) {
        reopen(request);
        return;
    }
    if (requests_[request].kind == Kind::Pause) {
        pause(request);
        return;
    }
    auto done = [this, request](Result<Value> answer) {
        answer ? confirm(request) : refused(request, answer.error());
    };
    if (requests_[request].kind == Kind::Cancel) {
        log_.add(timeline_.now(), "client cancels {}", plan.id);
        post_(engine::CommandInput{.run = {.id = plan.id},
                                   .type = std::string{trigger::types::run_cancel},
                                   .data = {},
                                   .done = std::move(done)});
        return;
    }
    log_.add(timeline_.now(), "client starts {} of {}", plan.id, plan.definition);
    auto info = trigger::RunInfo{.definition = plan.definition, .input = plan.input};
    post_(engine::StartInput{
        .run = {.id = plan.id}, .info = std::move(info), .context = {}, .done = std::move(done)});
}

/// Until it has failed, it is refused. When it has succeeded, an answer was lost on its way.
void Clients::reopen(std::size_t request) {
    const auto& id = plans_[requests_[request].plan].id;
    log_.add(timeline_.now(), "client reopens {}", id);
    post_(engine::ReopenInput{.run = {.id = id}, .done = [this, request](Result<Value> answer) {
                                  auto is_done =
                                      answer || answer.error().message.contains("has succeeded");
                                  is_done ? confirm(request) : refused(request, answer.error());
                              }});
}

/// And lets it go on once that is acknowledged; until that is too, both are asked for again.
void Clients::pause(std::size_t request) {
    const auto& id = plans_[requests_[request].plan].id;
    log_.add(timeline_.now(), "client pauses {}", id);
    requests_[request].is_acknowledged = false;
    auto resume = [this, request, id](Result<Value> paused) {
        if (!paused) {
            refused(request, paused.error());
            return;
        }
        timeline_.after(std::chrono::microseconds{random_.below(1'000'000)}, [this, request, id] {
            log_.add(timeline_.now(), "client resumes {}", id);
            post_(engine::CommandInput{.run = {.id = id},
                                       .type = std::string{trigger::types::run_resume},
                                       .data = {},
                                       .done = [this, request](Result<Value> answer) {
                                           answer ? confirm(request)
                                                  : refused(request, answer.error());
                                       }});
        });
    };
    post_(engine::CommandInput{.run = {.id = id},
                               .type = std::string{trigger::types::run_pause},
                               .data = {},
                               .done = std::move(resume)});
}

/// One event, or several of the same run together.
void Clients::send_events(std::size_t first) {
    const auto& plan = plans_[requests_[first].plan];
    auto sent = std::vector<std::size_t>{first};
    for (auto at = first + 1; at < requests_.size() && random_.chance(0.3); ++at) {
        if (requests_[at].plan == requests_[first].plan && requests_[at].kind == Kind::Event) {
            requests_[at].is_begun = true;
            sent.push_back(at);
        }
    }
    auto input = engine::EventsInput{};
    input.space = "default";
    input.shard = engine::shard_of(engine::RunName{.id = plan.id}, shard_count_);
    for (auto request : sent) {
        const auto& event = plan.events[requests_[request].event];
        log_.add(timeline_.now(), "client sends {} {}", plan.id, event.id);
        input.events.push_back(event::Builder{event.id, source_of(plan), event.type}
                                   .run(plan.id)
                                   .data(Value::object({{"k", event.key}}))
                                   .build());
    }
    input.done = [this, sent](Result<engine::Receipt> receipt) {
        for (auto at = std::size_t{0}; at < sent.size(); ++at) {
            if (!receipt) {
                refused(sent[at], receipt.error());
                continue;
            }
            const auto& planned = plans_[requests_[sent[at]].plan];
            acknowledged_.push_back({.run = planned.id,
                                     .source = source_of(planned),
                                     .event = planned.events[requests_[sent[at]].event].id,
                                     .fate = receipt->fates[at]});
            confirm(sent[at]);
        }
    };
    post_(std::move(input));
}

void Clients::confirm(std::size_t request) {
    auto& each = requests_[request];
    log_.add(timeline_.now(), "client hears of request {}", request);
    if (std::exchange(each.is_acknowledged, true)) {
        return;
    }
    if (each.kind == Kind::Start) {
        started(each.plan);
    }
    if (random_.chance(0.1)) {
        send_later(request, 2000); // It sends what was acknowledged once more.
    }
}

void Clients::started(std::size_t plan) {
    begun_(plans_[plan]);
    for (auto at = std::size_t{0}; at < requests_.size(); ++at) {
        const auto& each = requests_[at];
        if (each.plan == plan && each.kind != Kind::Start) {
            send_later(at, 2000);
        }
        if (each.kind == Kind::Start && plans_[each.plan].after == plans_[plan].id) {
            send_later(at, 200);
        }
    }
}

void Clients::refused(std::size_t request, const Error& error) {
    log_.add(timeline_.now(), "client is refused request {}: {}", request, error.message);
    send_later(request, 500);
}

void Clients::ask_again() {
    for (auto at = std::size_t{0}; at < requests_.size(); ++at) {
        if (requests_[at].is_begun && !requests_[at].is_acknowledged) {
            send_later(at, 1000);
        }
    }
}

std::size_t Clients::open_requests() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(requests_, [](const auto& each) { return !each.is_acknowledged; }));
}

} // namespace sluice::simulation
