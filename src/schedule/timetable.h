#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "schedule/cron.h"
#include "schedule/zone.h"
#include "value/value.h"

namespace sluice::schedule {

/// When a schedule is due: at the times of a cron expression, every so often, or once.
class Timetable {
public:
    /// One of `cron` (with `zone`, which is UTC without), `every` (a duration, counted from the
    /// time `from`) and `at` (a time) of a map; its other members are not looked at. Fails with
    /// InvalidInput.
    static Result<Timetable> parse(const Value& form);

    /// The first time after this one; nothing when there is none.
    std::optional<Time> next(Time after) const;
    /// The last times of those after the one and up to the other, in order; at most so many. Costs
    /// what it gives, however many there are.
    std::vector<Time> latest(std::size_t count, Time after, Time until) const;

private:
    struct ByCron {
        Cron cron;
        Zone zone;
    };
    struct Every {
        Nanos period;
        Time from;
    };
    struct At {
        Time time;
    };
    using Rule = std::variant<ByCron, Every, At>;

    explicit Timetable(Rule rule) : rule_(std::move(rule)) {}

    Rule rule_;
};

} // namespace sluice::schedule
