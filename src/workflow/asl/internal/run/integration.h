#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
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
    std::string child{};   ///< Name of the nested execution; empty: one is made.
    std::string machine{}; ///< Of it: the target may name a version or alias too.
};
Work work_of(const Program& program, const State& state, const Value& arguments);

/// What the service would answer, where ours is the bare result of a function. The id is that of
/// the request.
Value as_answer(const Program& program, const TaskState& task, const Value& result, Time now,
                const std::string& id);
/// The same of a message: the id is ours.
Value message_answer(const TaskState& task, const Value& arguments, const std::string& id);

/// An execution that a task has started and waits for.
struct NestedExecution {
    std::string machine;
    std::string name;
    Value input;
    Time started{};

    Value to_memory() const;
    static NestedExecution from_memory(const Value& memory);
    /// What the service says when it was started.
    Value start_view(const Program& program) const;
    /// Its description at its end, as DescribeExecution has it; the end is as `execution_end` gives
    /// it. The output is a text in `.sync`, a value in `.sync:2`.
    Value end_view(const Program& program, Pattern pattern, const Value& end, Time stopped) const;
};

/// `LambdaFunction`, `Activity` or `Task`: how the events of a task begin.
std::string_view event_kind(const TaskState& task);
/// `sendMessage.waitForTaskToken`
std::string resource_text(const TaskState& task);
/// Who a result that is too large is from.
std::string_view who_answers(const TaskState& task);

} // namespace sluice::workflow::asl::internal::run
