#pragma once

#include <string_view>

#include "workflow/asl/resource_names.h"

/// The words that the triggers of states agree on.
namespace sluice::workflow::asl::words {

/// A state that cannot be gone into directly, since its trigger is disabled or intercepted.
inline constexpr std::string_view entered = "sluice.state.entered";

inline constexpr std::string_view state_term = "asl.state";
inline constexpr std::string_view machine_term = "asl.machine";
inline constexpr std::string_view answer_term = answer_action;
inline constexpr std::string_view heartbeat_term = heartbeat_action;
inline constexpr std::string_view begin_term = begin_action;
inline constexpr std::string_view map_run_term = map_run_action;
inline constexpr std::string_view stop_child_term = stop_child_action;

// Statuses of a state that waits.
inline constexpr std::string_view running = "running";
inline constexpr std::string_view waiting = "waiting";   ///< For a time, or a task token.
inline constexpr std::string_view retrying = "retrying"; ///< For its next attempt.
inline constexpr std::string_view ready = "ready";       ///< To be gone into in another slice.
inline constexpr std::string_view failed = "failed";     ///< For a redrive: it ended the execution.

// What a timer is for.
inline constexpr std::string_view wait = "wait";
inline constexpr std::string_view timeout = "timeout";
inline constexpr std::string_view heartbeat = "heartbeat";
inline constexpr std::string_view retry = "retry";
inline constexpr std::string_view resume = "resume";

} // namespace sluice::workflow::asl::words

/// Errors that the language itself names.
namespace sluice::workflow::asl::errors {

inline constexpr std::string_view timeout = "States.Timeout";
inline constexpr std::string_view task_failed = "States.TaskFailed";
inline constexpr std::string_view runtime = "States.Runtime";
inline constexpr std::string_view data_limit = "States.DataLimitExceeded";
inline constexpr std::string_view item_reader = "States.ItemReaderFailed";
inline constexpr std::string_view result_writer = "States.ResultWriterFailed";
inline constexpr std::string_view tolerance = "States.ExceedToleratedFailureThreshold";

} // namespace sluice::workflow::asl::errors
