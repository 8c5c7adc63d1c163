#include <charconv>
#include <utility>

#include "server/intake/intake.h"

namespace sluice::server::intake {

namespace {

constexpr auto next_max = std::size_t{100};

Result<Value> show_schedule(Schedules& schedules, const Incoming& incoming) {
    return schedules.view(incoming.space, incoming.part("schedule"));
}

Result<Value> list_schedules(Schedules& schedules, const Incoming& incoming) {
    return Value::object({{"schedules", Value::list(schedules.list(incoming.space))}});
}

Result<Value> put_schedule(Schedules& schedules, const Incoming& incoming) {
    auto form = TRY(incoming.json());
    TRY(schedules.put(incoming.space, incoming.part("schedule"),
                      form.without("schedule").without("state")));
    return show_schedule(schedules, incoming);
}

Result<Value> remove_schedule(Schedules& schedules, const Incoming& incoming) {
    TRY(schedules.remove(incoming.space, incoming.part("schedule")));
    return Value::object({{"removed", incoming.part("schedule")}});
}

Result<Value> pause_schedule(Schedules& schedules, const Incoming& incoming) {
    TRY(schedules.pause(incoming.space, incoming.part("schedule")));
    return show_schedule(schedules, incoming);
}

Result<Value> resume_schedule(Schedules& schedules, const Incoming& incoming) {
    TRY(schedules.resume(incoming.space, incoming.part("schedule")));
    return show_schedule(schedules, incoming);
}

Result<Value> next_times(Schedules& schedules, const Incoming& incoming) {
    auto count = std::size_t{5};
    if (const auto* text = incoming.query("count")) {
        auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), count);
        if (error != std::errc{} || end != text->data() + text->size() || count == 0 ||
            count > next_max) {
            return fail(Errc::InvalidInput, "count={}: expected 1 to {}", *text, next_max);
        }
    }
    auto times = std::vector<Value>{};
    for (auto time : TRY(schedules.next(incoming.space, incoming.part("schedule"), count))) {
        times.emplace_back(time);
    }
    return Value::object({{"next", Value::list(std::move(times))}});
}

std::string_view purpose_name(trigger::TimerPurpose purpose) {
    switch (purpose) {
        case trigger::TimerPurpose::Author: return "author";
        case trigger::TimerPurpose::Deadline: return "deadline";
        case trigger::TimerPurpose::Retry: return "retry";
        case trigger::TimerPurpose::RunTimeout: return "run timeout";
        case trigger::TimerPurpose::CancelGrace: return "cancel grace";
        case trigger::TimerPurpose::KeptTtl: return "kept events";
    }
    return "author";
}

Value view_of_timer(trigger::TimerNumber number, const trigger::TimerState& timer) {
    auto view = Value::object({{"timer", static_cast<std::int64_t>(number.raw())},
                               {"purpose", purpose_name(timer.purpose)},
                               {"due", timer.due},
                               {"clock", timer.is_absolute ? "civil" : "steady"},
                               {"occurrence", static_cast<std::int64_t>(timer.occurrence)}});
    if (timer.period > Nanos{0}) {
        view = view.with("period", timer.period);
    }
    if (!timer.name.empty()) {
        view = view.with("name", timer.name);
    }
    if (!timer.type.empty()) {
        view = view.with("type", timer.type);
    }
    return timer.subject.empty() ? view : view.with("subject", timer.subject);
}

} // namespace

void add_schedule_routes(RouteTable& routes, const Services& services, Schedules& schedules) {
    using Ask = Result<Value> (*)(Schedules&, const Incoming&);
    auto look = [&](std::string path, Ask handle) {
        routes.add({http::Method::Get,
                    std::move(path),
                    {Role::Reader, true},
                    [&schedules, handle](const Incoming& incoming, const Reply& reply) {
                        answer(reply, handle(schedules, incoming));
                    }});
    };
    auto change = [&](http::Method method, std::string path, Ask handle) {
        routes.add({method,
                    std::move(path),
                    {Role::Operator, true},
                    [&services, &schedules, handle](const Incoming& incoming, const Reply& reply) {
                        answer_from_worker(services, reply, [&schedules, handle, incoming] {
                            return handle(schedules, incoming);
                        });
                    }});
    };
    look("/v1/schedules", list_schedules);
    look("/v1/schedules/{schedule}", show_schedule);
    look("/v1/schedules/{schedule}/next", next_times);
    change(http::Method::Put, "/v1/schedules/{schedule}", put_schedule);
    change(http::Method::Delete, "/v1/schedules/{schedule}", remove_schedule);
    change(http::Method::Post, "/v1/schedules/{schedule}/pause", pause_schedule);
    change(http::Method::Post, "/v1/schedules/{schedule}/resume", resume_schedule);
    routes.add({http::Method::Post,
                "/v1/schedules/{schedule}/trigger",
                {Role::Operator, true},
                [&schedules](const Incoming& incoming, const Reply& reply) {
                    schedules.trigger(incoming.space, incoming.part("schedule"),
                                      [reply](const Result<Value>& done) { answer(reply, done); });
                }});
}

void add_timer_routes(RouteTable& routes, const Services& services) {
    routes.add({http::Method::Get,
                "/v1/runs/{run}/timers",
                {Role::Reader, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    auto read = [id = incoming.part("run")](
                                    const trigger::RunState* state) -> Result<Value> {
                        if (state == nullptr) {
                            return fail(Errc::NotFound, "there is no run \"{}\"", id);
                        }
                        auto timers = std::vector<Value>{};
                        for (const auto& [number, timer] : state->timers) {
                            timers.push_back(view_of_timer(number, timer));
                        }
                        return Value::object({{"timers", Value::list(std::move(timers))}});
                    };
                    services.engine.query(
                        {.space = incoming.space, .id = incoming.part("run")}, read,
                        [reply](const Result<Value>& seen) { answer(reply, seen); });
                }});
}

} // namespace sluice::server::intake
