#pragma once

#include <string>
#include <string_view>

namespace sluice::workflow::asl {

/// The function that stands for an activity: its tasks wait there for workers. A function of the
/// activity's own name is another.
inline std::string activity_function(std::string_view activity) {
    return "activity:" + std::string{activity};
}

/// The run that an execution is: an execution's name is one among those of its machine, a run's id
/// among all of its namespace.
inline std::string execution_run(std::string_view machine, std::string_view execution) {
    return std::string{machine} + ":" + std::string{execution};
}
/// The name of the execution that a run is. Those that were started otherwise have their id.
inline std::string execution_name(std::string_view machine, std::string_view run) {
    auto is_of_machine = run.starts_with(machine) && run.substr(machine.size()).starts_with(':');
    return std::string{is_of_machine ? run.substr(machine.size() + 1) : run};
}

/// What tells a run of a task that a `token` names, or that is its `task` of this key: commands
/// with these actions.
inline constexpr auto answer_action = std::string_view{"asl.answer"};
inline constexpr auto heartbeat_action = std::string_view{"asl.heartbeat"};
inline constexpr auto begin_action = std::string_view{"asl.begin"};
/// What changes the limits of a map run that goes on: `{started, concurrency?, tolerated?,
/// tolerated_share?}`, by the event that it began with.
inline constexpr auto map_run_action = std::string_view{"asl.map_run"};
/// What stops one of its children: `{started, index, error?, cause?}`.
inline constexpr auto stop_child_action = std::string_view{"asl.stop_child"};

} // namespace sluice::workflow::asl
