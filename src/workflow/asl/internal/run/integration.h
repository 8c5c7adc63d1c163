#pragma once

#include <string>
#include <string_view>

#include "trigger/state.h"
#include "value/value.h"
#include "workflow/asl/internal/run/program.h"
#include "workflow/asl/machine.h"

namespace sluice::workflow::asl::internal::run {

/// What a task does here: the call of a function, a nested run, or a message to a sink.
struct Work {
    trigger::TaskKind kind = trigger::TaskKind::Call;
    std::string target{};
    Value input{};
    std::string child{}; ///< Id of a nested run; empty: one is made.
};
Work work_of(const Program& program, const State& state, const Value& arguments);

/// What the service would answer, where ours is the bare result of a function or a run.
Value as_answer(const Program& program, const TaskState& task, const Value& result);

/// `LambdaFunction`, `Activity` or `Task`: how the events of a task begin.
std::string_view event_kind(const TaskState& task);
/// `sendMessage.waitForTaskToken`
std::string resource_text(const TaskState& task);
/// Who a result that is too large is from.
std::string_view who_answers(const TaskState& task);

} // namespace sluice::workflow::asl::internal::run
