#include "server/intake/schedule.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "event/builder.h"
#include "event/codec.h"
#include "http/url.h"
#include "server/event_route.h"
#include "value/time_text.h"

namespace sluice::server::intake {

namespace {

constexpr auto missed_most = 10'000;
constexpr auto when_members =
    std::array<std::string_view, 5>{"cron", "zone", "every", "from", "at"};

/// The members of a map must be among these.
Result<void> check_members(std::string_view place, const Value& form,
                           std::initializer_list<std::string_view> known) {
    if (!form.is_map()) {
        return fail(Errc::InvalidInput, "{}: expected a map", place);
    }
    for (const auto& [name, value] : form.as_map()) {
        if (std::ranges::find(known, name) == known.end()) {
            return fail(Errc::InvalidInput, "{}.{}: there is no such member", place, name);
        }
    }
    return {};
}

Result<void> check_text(std::string_view place, const Value& form, std::string_view name,
                        bool is_needed) {
    const auto* value = form.find(name);
    if (value == nullptr ? is_needed : !value->is_string() || value->size() == 0) {
        return fail(Errc::InvalidInput, "{}.{}: expected a text", place, name);
    }
    return {};
}

Result<void> read_action(const Value& form, Schedule& schedule) {
    const auto* start = form.find("start");
    const auto* send = form.find("send");
    if ((start == nullptr) == (send == nullptr)) {
        return fail(Errc::InvalidInput,
                    "expected start ({{\"definition\": …}}) or send ({{\"type\": …}})");
    }
    if (start != nullptr) {
        TRY(check_members("start", *start, {"definition", "input", "labels"}));
        TRY(check_text("start", *start, "definition", true));
        schedule.start = *start;
    } else {
        TRY(check_members("send", *send, {"type", "subject", "data", "run"}));
        TRY(check_text("send", *send, "type", true));
        TRY(check_text("send", *send, "subject", false));
        TRY(check_text("send", *send, "run", false));
        schedule.send = *send;
    }
    return {};
}

Result<void> read_policies(const Value& form, Schedule& schedule) {
    if (const auto* missed = form.find("missed")) {
        if (*missed == Value{"skip"}) {
            schedule.missed = Schedule::Missed::Skip;
        } else if (*missed == Value{"run_all"}) {
            schedule.missed = Schedule::Missed::RunAll;
        } else if (*missed != Value{"run_once"}) {
            return fail(Errc::InvalidInput, "missed: expected skip, run_once or run_all");
        }
    }
    if (const auto* most = form.find("missed_max")) {
        if (!most->is_int() || most->as_int() < 1 || most->as_int() > missed_most) {
            return fail(Errc::InvalidInput, "missed_max: expected 1 to {}", missed_most);
        }
        schedule.missed_max = static_cast<std::size_t>(most->as_int());
    }
    if (const auto* overlap = form.find("overlap")) {
        if (*overlap != Value{"allow"} && *overlap != Value{"skip"}) {
            return fail(Errc::InvalidInput, "overlap: expected allow or skip");
        }
        schedule.overlap =
            *overlap == Value{"skip"} ? Schedule::Overlap::Skip : Schedule::Overlap::Allow;
    }
    if (const auto* paused = form.find("paused")) {
        if (!paused->is_bool()) {
            return fail(Errc::InvalidInput, "paused: expected true or false");
        }
        schedule.is_paused = paused->as_bool();
    }
    return {};
}

Value member_of(const Value& form, std::string_view name) {
    const auto* value = form.find(name);
    return value == nullptr ? Value{} : *value;
}

std::string text_member_of(const Value& form, std::string_view name) {
    const auto* value = form.find(name);
    return value == nullptr ? "" : std::string{value->as_string()};
}

} // namespace

Result<Schedule> Schedule::parse(std::string_view space, std::string_view name, const Value& form) {
    TRY(check_members("schedule", form,
                      {"cron", "zone", "every", "from", "at", "start", "send", "missed",
                       "missed_max", "overlap", "paused"}));
    auto schedule = Schedule{.space = std::string{space},
                             .name = std::string{name},
                             .timetable = TRY(schedule::Timetable::parse(form))};
    TRY(read_action(form, schedule));
    TRY(read_policies(form, schedule));
    if (!schedule.send.is_null()) {
        TRY(schedule.event_of(Time{}));
    }
    return schedule;
}

bool Schedule::is_same_timetable(const Value& left, const Value& right) {
    return std::ranges::all_of(
        when_members, [&](auto name) { return member_of(left, name) == member_of(right, name); });
}

Value scheduled_input(const Value& given, std::string_view schedule, Time due) {
    if (!given.is_null() && !given.is_map()) {
        return given;
    }
    auto input = given.is_null() ? Value::map({}) : given;
    if (!schedule.empty() && input.find("schedule") == nullptr) {
        input = input.with("schedule", schedule);
    }
    return input.find("time") == nullptr ? input.with("time", due) : input;
}

engine::StartRequest Schedule::start_request(Time due) const {
    return {.space = space,
            .id = run_id_of(fmt::format("{}-{}", name, value::format_time(due))),
            .definition = text_member_of(start, "definition"),
            .input = scheduled_input(member_of(start, "input"), name, due),
            .labels = member_of(start, "labels")};
}

Result<event::Event> Schedule::event_of(Time due) const {
    const auto* data = send.find("data");
    auto event =
        event::Builder{fmt::format("{}-{}", name, value::format_time(due)),
                       "/schedules/" + http::percent_encode(name), text_member_of(send, "type")}
            .subject(text_member_of(send, "subject"))
            .run(text_member_of(send, "run"))
            .time(due)
            .data(data != nullptr ? *data : Value::object({{"schedule", name}, {"time", due}}))
            .build();
    return event::Codec{}.parse(event.json());
}

} // namespace sluice::server::intake
