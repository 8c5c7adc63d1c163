#include "schedule/zone.h"

#include <exception>
#include <string>

#include <date/tz.h>

namespace sluice::schedule {

namespace {

using namespace std::chrono_literals;

/// Behind it a time in nanoseconds has no room left.
constexpr auto latest = SystemTime{std::chrono::sys_days{std::chrono::year{2261} / 1 / 1}};

/// What a clock shows that is ahead of UTC by this much.
LocalTime shown(SystemTime time, std::chrono::seconds offset) {
    return LocalTime{time.time_since_epoch() + offset};
}

SystemTime meant(LocalTime time, std::chrono::seconds offset) {
    return SystemTime{time.time_since_epoch() - offset};
}

date::local_seconds to_date(LocalTime time) {
    return date::local_seconds{time.time_since_epoch()};
}

} // namespace

Result<Zone> Zone::find(std::string_view name) {
    try {
        return Zone{date::locate_zone(std::string{name})};
    } catch (const std::exception&) {
        return fail(Errc::InvalidInput,
                    "there is no time zone \"{}\": expected a name such as Europe/Berlin or UTC",
                    name);
    }
}

std::optional<SystemTime> Zone::next(const Cron& cron, SystemTime after) const {
    auto found = after >= latest        ? std::nullopt
                 : cron.is_every_hour() ? next_by_hours(cron, after)
                                        : next_by_clock(cron, after);
    return found && *found < latest ? found : std::nullopt;
}

SystemTime Zone::first(LocalTime shown_time) const {
    auto info = zone_->get_info(to_date(shown_time));
    return info.result == date::local_info::nonexistent ? info.second.begin
                                                        : meant(shown_time, info.first.offset);
}

std::optional<SystemTime> Zone::next_by_clock(const Cron& cron, SystemTime after) const {
    auto local = shown(after, zone_->get_info(after).offset);
    while (auto due = cron.next(local)) {
        auto time = first(*due);
        // In the second of two like hours: what they show was due in the first.
        if (time > after) {
            return time;
        }
        local = *due;
    }
    return std::nullopt;
}

std::optional<SystemTime> Zone::next_by_hours(const Cron& cron, SystemTime after) const {
    while (after < latest) {
        auto info = zone_->get_info(after + 1s);
        auto due = cron.next(shown(after, info.offset));
        if (!due) {
            return std::nullopt;
        }
        auto time = meant(*due, info.offset);
        if (time < info.end) {
            return time;
        }
        after = info.end - 1s;
    }
    return std::nullopt;
}

} // namespace sluice::schedule
