#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "server/intake/schedule.h"
#include "value/value.h"

namespace sluice::server::intake {

/// Runs of a definition for all times of a range that its timetable names.
///
/// It is itself a run, of a definition that `definition` writes: a map over the times. So it goes
/// on after a restart, and is watched, cancelled and retried as any run. The run for a time has the
/// id that a schedule gives it: one that is there already is not started again.
struct Backfill {
    static constexpr auto times_max = std::size_t{10'000};
    static constexpr auto limit_max = std::int64_t{1'000};
    /// Of the map, from where a failed one goes on.
    static constexpr auto task = std::string_view{"times"};

    std::string id; ///< Of its run: the same request is the same run.
    std::string definition;
    std::string schedule; ///< Empty: none.
    std::vector<Time> times;
    Value input;
    std::int64_t limit = 1;

    /// `{definition, schedule, from, to, every, zone, limit, input, id}`, where `schedules` are the
    /// forms of those there are, by name. Fails with InvalidInput, saying what to write instead.
    static Result<Backfill> parse(const Value& form, const std::vector<Value>& schedules);

    /// The run for one of the times.
    std::string run_of(Time time) const;
    /// The definition of its own run, as an author would write it.
    std::string definition_text() const;
    /// What that run is started with.
    Value run_input() const;
};

} // namespace sluice::server::intake
