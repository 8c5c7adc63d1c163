#include <utility>

#include "trigger/arrival.h"
#include "workflow/asl/internal/run/walk.h"

// An execution that ended without success and goes on.
namespace sluice::workflow::asl::internal::run {

Step Walk::give_up(const Visit& visit, Failure failure) {
    if (visit.frame.outer == nullptr) {
        failed_at_ = Value::object({{"state", as_value(visit.number)}, {"input", visit.input}});
    }
    return Step::failed(std::move(failure), visit.number);
}

std::optional<std::pair<StateNumber, Value>> Walk::place_left() {
    const auto& memory = memory_of(trigger::root_scope, program_.machine_trigger());
    const auto* failed = memory.find("failed");
    if (failed != nullptr) {
        return std::pair{static_cast<StateNumber>(count_at(*failed, "state")),
                         *failed->find("input")};
    }
    // It was stopped, or its time was over: the state that waited then still remembers.
    auto& frame = load_frame(trigger::root_scope, 0);
    for (auto number = StateNumber{0}; number < machine().states.size(); ++number) {
        const auto& waiting = memory_of(trigger::root_scope, trigger::TriggerNumber{number});
        if (machine().states[number].flow == 0 && waiting.is_map()) {
            auto visit = Visit{machine(), number, frame};
            visit.restore(waiting);
            auto input = visit.input;
            forget(visit);
            return std::pair{number, std::move(input)};
        }
    }
    return std::nullopt;
}

void Walk::redrive() {
    auto& frame = load_frame(trigger::root_scope, 0);
    auto place = place_left();
    auto data = firing_.event().data();
    const auto* status = data.find("status");
    if (status != nullptr && *status != Value{to_string(trigger::Status::Failed)}) {
        auto is_timeout = *status == Value{to_string(trigger::Status::TimedOut)};
        tell(*frame.tally, "Execution", is_timeout ? "TimedOut" : "Aborted", 0,
             [] { return Value{}; });
    }
    frame.last = tell(*frame.tally, "Execution", "Redriven", frame.tally->events, [&] {
        return Value::object({{"redriveCount", as_value(state().info.generation - 1)}});
    });
    auto next =
        place ? std::move(*place) : std::pair{machine().flows.front().start, state().info.input};
    conclude(&frame, go(frame, next.first, std::move(next.second)));
    finish();
}

} // namespace sluice::workflow::asl::internal::run
