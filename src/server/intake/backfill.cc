#include "server/intake/backfill.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/fingerprint.h"
#include "schedule/timetable.h"
#include "schedule/zone.h"
#include "server/event_route.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::server::intake {

namespace {

constexpr auto backfill_members = std::array<std::string_view, 9>{
    "definition", "schedule", "from", "to", "every", "zone", "limit", "input", "id"};

Result<std::string> text_in(const Value& form, std::string_view name) {
    const auto* value = form.find(name);
    if (value == nullptr || value->is_null()) {
        return "";
    }
    if (!value->is_string()) {
        return fail(Errc::InvalidInput, "{}: expected a text", name);
    }
    return std::string{value->as_string()};
}

/// `2026-11-15`
std::optional<std::chrono::year_month_day> read_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
        return std::nullopt;
    }
    auto number = [&](std::size_t at, std::size_t size) {
        auto value = 0;
        auto [end, error] = std::from_chars(text.data() + at, text.data() + at + size, value);
        return error == std::errc{} && end == text.data() + at + size ? value : -1;
    };
    auto date = std::chrono::year_month_day{std::chrono::year{number(0, 4)},
                                            std::chrono::month{static_cast<unsigned>(number(5, 2))},
                                            std::chrono::day{static_cast<unsigned>(number(8, 2))}};
    return date.ok() ? std::optional{date} : std::nullopt;
}

enum class Edge : std::uint8_t { Begin, End };

/// A date is all of its day, by the clocks of the zone.
Result<Time> read_edge(const Value& form, std::string_view name, const schedule::Zone& zone,
                       Edge edge) {
    auto text = TRY(text_in(form, name));
    if (auto date = read_date(text)) {
        auto day = std::chrono::local_days{*date} + std::chrono::days{edge == Edge::End ? 1 : 0};
        auto begin = Time{zone.first(schedule::LocalTime{day})};
        return edge == Edge::End ? begin - Nanos{1} : begin;
    }
    auto time = value::parse_time(text);
    if (!time) {
        return fail(Errc::InvalidInput,
                    "{} \"{}\": expected a date such as 2026-11-15, or a time such as "
                    "2026-11-15T09:00:00Z",
                    name, text);
    }
    return *time;
}

std::string definition_of(const Value& schedule) {
    const auto* start = schedule.find("start");
    const auto* definition = start == nullptr ? nullptr : start->find("definition");
    return definition == nullptr ? "" : std::string{definition->as_string()};
}

/// The schedule that is meant, by its name or as the only one of the definition; null: none.
Result<Value> find_schedule(const std::string& name, const std::string& definition,
                            const std::vector<Value>& schedules) {
    auto found = Value{};
    for (const auto& each : schedules) {
        auto own = std::string{each.find("schedule")->as_string()};
        if (name.empty() ? definition_of(each) != definition : own != name) {
            continue;
        }
        if (!found.is_null()) {
            return fail(Errc::InvalidInput,
                        "several schedules start \"{}\": write which, as in schedule: {}",
                        definition, own);
        }
        found = each;
    }
    if (!name.empty() && (found.is_null() || definition_of(found).empty())) {
        return fail(Errc::InvalidInput, "there is no schedule \"{}\" that starts runs", name);
    }
    return found;
}

/// `every` as the caller wrote it, a duration or a cron expression, or else the schedule's own.
Result<Value> timetable_form(const std::string& every, const std::string& zone,
                             const std::string& definition, const Value& schedule) {
    if (!every.empty()) {
        if (value::parse_duration(every)) {
            return Value::object({{"every", every}});
        }
        return Value::object({{"cron", every}, {"zone", zone.empty() ? "UTC" : zone}});
    }
    if (schedule.is_null()) {
        return fail(Errc::InvalidInput,
                    "no schedule starts \"{}\": write when its runs are due, as in every: "
                    "\"@daily\" or every: \"6h\"",
                    definition);
    }
    return schedule;
}

Result<std::vector<Time>> times_in(const schedule::Timetable& timetable, Time from, Time to) {
    auto times = std::vector<Time>{};
    for (auto time = timetable.next(from - Nanos{1}); time && *time <= to;
         time = timetable.next(*time)) {
        if (times.size() == Backfill::times_max) {
            return fail(Errc::InvalidInput,
                        "more than {} times lie from {} to {}: expected a shorter range",
                        Backfill::times_max, value::format_time(from), value::format_time(to));
        }
        times.push_back(*time);
    }
    if (times.empty()) {
        return fail(Errc::InvalidInput, "no run is due from {} to {}", value::format_time(from),
                    value::format_time(to));
    }
    return times;
}

Result<void> check_form(const Value& form) {
    if (!form.is_map()) {
        return fail(Errc::InvalidInput, "expected a map with definition, from and to");
    }
    for (const auto& [name, value] : form.as_map()) {
        if (std::ranges::find(backfill_members, name) == backfill_members.end()) {
            return fail(Errc::InvalidInput, "{}: expected one of {}", name,
                        fmt::join(backfill_members, ", "));
        }
    }
    return {};
}

Result<std::int64_t> read_limit_in(const Value& form) {
    const auto* limit = form.find("limit");
    if (limit == nullptr) {
        return 1;
    }
    if (!limit->is_int() || limit->as_int() < 1 || limit->as_int() > Backfill::limit_max) {
        return fail(Errc::InvalidInput, "limit: expected an integer from 1 to {}",
                    Backfill::limit_max);
    }
    return limit->as_int();
}

} // namespace

Result<Backfill> Backfill::parse(const Value& form, const std::vector<Value>& schedules) {
    TRY(check_form(form));
    auto made = Backfill{.definition = TRY(text_in(form, "definition"))};
    auto name = TRY(text_in(form, "schedule"));
    auto schedule = TRY(find_schedule(name, made.definition, schedules));
    if (!schedule.is_null()) {
        made.schedule = std::string{schedule.find("schedule")->as_string()};
        made.definition = made.definition.empty() ? definition_of(schedule) : made.definition;
    }
    if (made.definition.empty()) {
        return fail(Errc::InvalidInput, "definition: expected the name of a definition");
    }
    auto every = TRY(text_in(form, "every"));
    auto zone = TRY(text_in(form, "zone"));
    auto when = TRY(timetable_form(every, zone, made.definition, schedule));
    if (zone.empty()) {
        zone = TRY(text_in(when, "zone"));
    }
    auto clocks = TRY(schedule::Zone::find(zone.empty() ? "UTC" : zone));
    auto timetable = TRY(schedule::Timetable::parse(when));
    auto from = TRY(read_edge(form, "from", clocks, Edge::Begin));
    auto to = TRY(read_edge(form, "to", clocks, Edge::End));
    made.times = TRY(times_in(timetable, from, to));
    made.limit = TRY(read_limit_in(form));
    if (const auto* input = form.find("input")) {
        made.input = *input;
    } else if (!schedule.is_null() && schedule.find("start")->find("input") != nullptr) {
        made.input = *schedule.find("start")->find("input");
    }
    made.id = TRY(text_in(form, "id"));
    if (made.id.empty()) {
        auto print = fingerprint(made.definition, value::to_json(made.run_input()));
        made.id = run_id_of(fmt::format("backfill-{}-{:012x}", made.definition, print.high >> 16U));
    }
    return made;
}

std::string Backfill::run_of(Time time) const {
    return run_id_of(
        fmt::format("{}-{}", schedule.empty() ? definition : schedule, value::format_time(time)));
}

std::string Backfill::definition_text() const {
    constexpr auto text = R"(name: sluice.backfill
tasks:
  {0}:
    map:
      over: ${{input.times}}
      as: time
      concurrency: {1}
      tolerate: {2}
      tasks:
        run: {{subworkflow: "${{input.definition}}", id: "${{time.run}}", input: "${{time.input}}"}}
      result: {{run: "${{time.run}}"}}
  all:
    after: {0}
    when: tasks.{0}.result.exists(each, each == null)
    call: fail
    input:
      kind: incomplete
      message: >-
        ${{string(size(tasks.{0}.result.filter(each, each == null)))}} of
        ${{string(size(input.times))}} runs have failed: the same backfill again tries those again
result: {{runs: "${{size(input.times)}}"}}
)";
    return fmt::format(text, task, limit, times_max);
}

Value Backfill::run_input() const {
    auto items = std::vector<Value>{};
    for (auto time : times) {
        items.push_back(Value::object({{"time", time},
                                       {"run", run_of(time)},
                                       {"input", scheduled_input(input, schedule, time)}}));
    }
    return Value::object({{"definition", definition}, {"times", Value::list(std::move(items))}});
}

} // namespace sluice::server::intake
