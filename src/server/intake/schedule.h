#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "engine/engine.h"
#include "event/event.h"
#include "schedule/timetable.h"
#include "value/value.h"

namespace sluice::server::intake {

/// What a run for this time gets: a map has `time`, and `schedule` where it belongs to one, beside
/// what was given; anything else is as given.
Value scheduled_input(const Value& given, std::string_view schedule, Time due);

/// Starts a run or sends an event whenever its timetable says so.
struct Schedule {
    /// What becomes of times that nobody was there for.
    enum class Missed : std::uint8_t { Skip, RunOnce, RunAll };
    /// What to do while the run of the last time is still running.
    enum class Overlap : std::uint8_t { Allow, Skip };

    std::string space;
    std::string name;
    schedule::Timetable timetable;
    Value start; ///< `{definition, input, labels}`, or null.
    Value send;  ///< `{type, subject, data, run}`, or null.
    Missed missed = Missed::RunOnce;
    std::size_t missed_max = 100; ///< Of RunAll: the last ones.
    Overlap overlap = Overlap::Allow;
    bool is_paused = false;

    /// Fails with InvalidInput, saying what to write instead.
    static Result<Schedule> parse(std::string_view space, std::string_view name, const Value& form);
    /// Whether two forms are due at the same times.
    static bool is_same_timetable(const Value& left, const Value& right);

    /// For a time that was due. The same time makes the same run and the same event, so that doing
    /// it again changes nothing.
    engine::StartRequest start_request(Time due) const;
    Result<event::Event> event_of(Time due) const;
};

} // namespace sluice::server::intake
