#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "schedule/cron.h"

namespace date {
class time_zone;
}

namespace sluice::schedule {

using SystemTime = std::chrono::sys_seconds;

/// A time zone of the IANA database, as the system has it.
class Zone {
public:
    /// `Europe/Berlin`, `UTC`. Fails with InvalidInput.
    static Result<Zone> find(std::string_view name);

    /// The next time after this one that the expression names, by the clocks of the zone; nothing
    /// when there is none.
    ///
    /// Where the clocks are changed: an hour that is left out moves what was due in it to its end,
    /// once; of an hour that comes twice the first counts. An expression for every hour goes by the
    /// time that passes: nothing is moved, and both hours count.
    std::optional<SystemTime> next(const Cron& cron, SystemTime after) const;
    /// When its clocks first show this; the end of the hour that is left out where they never do.
    SystemTime first(LocalTime shown_time) const;

private:
    explicit Zone(const date::time_zone* zone) : zone_(zone) {}

    std::optional<SystemTime> next_by_clock(const Cron& cron, SystemTime after) const;
    std::optional<SystemTime> next_by_hours(const Cron& cron, SystemTime after) const;

    const date::time_zone* zone_; ///< Of the database, which stays.
};

} // namespace sluice::schedule
