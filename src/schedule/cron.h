#pragma once

#include <bitset>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::schedule {

/// What a clock on the wall shows, in whichever zone it hangs.
using LocalTime = std::chrono::local_seconds;

/// A cron expression: 5 fields, or 6 with the seconds first.
///
/// Fields take `*`, numbers, names, ranges, steps and lists. The day of the month also takes `L`
/// (the last), `L-3`, `15W` (the weekday nearest to the 15th) and `LW`; the day of the week `5L`
/// (the last Friday) and `5#3` (the third). Where both days are limited, either will do.
class Cron {
public:
    /// Also `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly`. Fails with InvalidInput for
    /// what is none, and for what never comes, such as the 30th of February.
    static Result<Cron> parse(std::string_view text);

    /// The first time after this one; nothing when there is none in 120 years.
    std::optional<LocalTime> next(LocalTime after) const;
    /// Whether it goes by the hours that pass rather than by the hour on the clock: `*` for hours.
    bool is_every_hour() const { return is_every_hour_; }

private:
    struct DayRule {
        enum class Kind : std::uint8_t {
            Last,           ///< `L`, `L-3`: so many days before the last.
            NearestWeekday, ///< `15W`
            LastWeekday,    ///< `LW`
            LastOf,         ///< `5L`: the last such day of the week.
            NthOf,          ///< `5#3`
        };
        Kind kind;
        unsigned day = 0;    ///< Of the month or the week, or how far from the last.
        unsigned number = 0; ///< `3` of `5#3`
    };
    struct Field;
    class Reader;

    /// The days of a month that it takes: bit 1 is the first.
    std::uint32_t days_of(std::chrono::year_month month) const;
    std::optional<std::chrono::seconds> next_in_day(std::chrono::seconds from) const;

    std::bitset<60> seconds_;
    std::bitset<60> minutes_;
    std::bitset<24> hours_;
    std::bitset<32> days_;
    std::bitset<13> months_;
    std::bitset<7> weekdays_;
    std::vector<DayRule> day_rules_;     ///< Of the field for days of the month.
    std::vector<DayRule> weekday_rules_; ///< Of the field for days of the week.
    bool is_any_day_ = false;
    bool is_any_weekday_ = false;
    bool is_every_hour_ = false;
};

} // namespace sluice::schedule
