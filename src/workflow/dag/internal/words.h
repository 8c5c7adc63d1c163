#pragma once

#include <string_view>

/// The words that triggers of tasks agree on: types of events, statuses, names of parts.
namespace sluice::workflow::dag::words {

// How a task ended, told to those behind it. The subject is the task's id.
inline constexpr std::string_view done_prefix = "sluice.done.";
inline constexpr std::string_view done_pattern = "sluice.done.*";
inline constexpr std::string_view done_succeeded = "sluice.done.succeeded";
inline constexpr std::string_view done_failed = "sluice.done.failed";
inline constexpr std::string_view done_skipped = "sluice.done.skipped";

// The tasks of a body begin, and have ended. The subject is the task that they belong to.
inline constexpr std::string_view body_opened = "sluice.body.opened";
inline constexpr std::string_view body_ended = "sluice.body.ended";

// A group of the tasks that wait for nothing begins. The subject is its number.
inline constexpr std::string_view tasks_begun = "sluice.tasks.begun";

inline constexpr std::string_view running = "running";
inline constexpr std::string_view waiting = "waiting"; ///< For a person, an event or a time.
inline constexpr std::string_view halted = "halted";
inline constexpr std::string_view succeeded = "succeeded";
inline constexpr std::string_view failed = "failed";
inline constexpr std::string_view caught = "caught"; ///< Failed, and a handler takes care of it.
inline constexpr std::string_view skipped = "skipped";
inline constexpr std::string_view upstream_failed = "upstream_failed";
inline constexpr std::string_view undone = "undone"; ///< Succeeded, but the run failed later.
inline constexpr std::string_view pending = "pending";

inline constexpr std::string_view end = "(end)";     ///< The trigger that waits for the last tasks.
inline constexpr std::string_view begin = "(begin)"; ///< The one that begins tasks by groups.

inline constexpr std::string_view task_term = "dag.task";
inline constexpr std::string_view end_term = "dag.end";
inline constexpr std::string_view begin_term = "dag.begin";

} // namespace sluice::workflow::dag::words
