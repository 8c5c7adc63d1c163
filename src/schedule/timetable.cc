#include "schedule/timetable.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "value/time_text.h"

namespace sluice::schedule {

namespace {

constexpr auto period_min = std::chrono::seconds{1};
constexpr auto times_max = Time::max() - std::chrono::hours{24 * 366};

/// The text of a member; nothing when it is not there.
Result<std::optional<std::string>> text_of(const Value& form, std::string_view name) {
    const auto* value = form.find(name);
    if (value == nullptr || value->is_null()) {
        return std::nullopt;
    }
    if (!value->is_string()) {
        return fail(Errc::InvalidInput, "{}: expected a text", name);
    }
    return std::string{value->as_string()};
}

Result<Time> time_of(std::string_view name, std::string_view text) {
    auto time = value::parse_time(text);
    if (!time || *time > times_max) {
        return fail(Errc::InvalidInput, "{} \"{}\": expected a time such as 2026-11-15T09:00:00Z",
                    name, text);
    }
    return *time;
}

} // namespace

Result<Timetable> Timetable::parse(const Value& form) {
    auto cron = TRY(text_of(form, "cron"));
    auto zone = TRY(text_of(form, "zone"));
    auto every = TRY(text_of(form, "every"));
    auto from = TRY(text_of(form, "from"));
    auto at = TRY(text_of(form, "at"));
    if (int{cron.has_value()} + int{every.has_value()} + int{at.has_value()} != 1) {
        return fail(Errc::InvalidInput,
                    "expected one of cron (\"0 9 * * MON-FRI\"), every (\"5m\") and at "
                    "(\"2026-11-15T09:00:00Z\")");
    }
    if ((zone && !cron) || (from && !every)) {
        return fail(Errc::InvalidInput, "zone belongs to cron, and from to every");
    }
    if (cron) {
        auto parsed = TRY(Cron::parse(*cron));
        auto place = TRY(Zone::find(zone.value_or("UTC")));
        return Timetable{ByCron{std::move(parsed), std::move(place)}};
    }
    if (at) {
        return Timetable{At{TRY(time_of("at", *at))}};
    }
    auto period = value::parse_duration(*every);
    if (!period || *period < period_min) {
        return fail(Errc::InvalidInput,
                    "every \"{}\": expected a duration of at least a second, such as 5m", *every);
    }
    return Timetable{Every{*period, from ? TRY(time_of("from", *from)) : Time{}}};
}

std::optional<Time> Timetable::next(Time after) const {
    if (after >= times_max) {
        return std::nullopt;
    }
    if (const auto* once = std::get_if<At>(&rule_)) {
        return once->time > after ? std::optional{once->time} : std::nullopt;
    }
    if (const auto* every = std::get_if<Every>(&rule_)) {
        if (after < every->from) {
            return every->from;
        }
        auto passed = (after - every->from) / every->period;
        return every->from + (passed + 1) * every->period;
    }
    const auto& [cron, zone] = std::get<ByCron>(rule_);
    return zone.next(cron, std::chrono::floor<std::chrono::seconds>(after));
}

std::vector<Time> Timetable::latest(std::size_t count, Time after, Time until) const {
    // Looks back further and further, until there are enough.
    for (auto window = Nanos{std::chrono::minutes{1}};; window *= 8) {
        auto is_all = until - after <= window || window > std::chrono::hours{24 * 365 * 30};
        auto times = std::vector<Time>{};
        auto from = is_all ? after : until - window;
        for (auto time = next(from); time && *time <= until; time = next(*time)) {
            times.push_back(*time);
        }
        if (is_all || times.size() >= count) {
            times.erase(times.begin(),
                        times.end() - static_cast<std::ptrdiff_t>(std::min(count, times.size())));
            return times;
        }
    }
}

} // namespace sluice::schedule
