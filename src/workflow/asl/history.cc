#include "workflow/asl/history.h"

#include <string_view>
#include <utility>

#include "value/wording.h"

namespace sluice::workflow::asl {

void History::hear(const trigger::Moment& moment, const Value& told) {
    // What is told of map runs and of their children is no event of the execution.
    if (told.find("id") != nullptr && value::text_at(told, "execution") == child_) {
        events_.push_back(told.without("execution").with("timestamp", Value{moment.time}));
    }
}

bool History::is_of_ended_child() const {
    auto last = events_.empty() ? "" : value::text_at(events_.back(), "type");
    return !child_.empty() && (last == "" || last == "ExecutionSucceeded" ||
                               last == "ExecutionFailed" || last == "ExecutionAborted");
}

void History::close(const trigger::RunProgress& progress) {
    auto is_timeout = progress.status == trigger::Status::TimedOut;
    if ((!is_timeout && progress.status != trigger::Status::Cancelled) || is_of_ended_child()) {
        return;
    }
    is_timeout &= child_.empty();
    auto id = static_cast<std::int64_t>(events_.size()) + 1;
    auto told = Value::object({{"id", id},
                               {"previousEventId", 0},
                               {"type", is_timeout ? "ExecutionTimedOut" : "ExecutionAborted"}});
    auto end = child_.empty() ? execution_end(progress.status, {}, progress.error).without("status")
                              : Value::map({});
    if (end.size() > 0) {
        told = told.with("details", end);
    }
    events_.push_back(progress.ended ? told.with("timestamp", Value{*progress.ended}) : told);
}

std::string_view execution_status(trigger::Status status) {
    switch (status) {
        case trigger::Status::Succeeded: return "SUCCEEDED";
        case trigger::Status::Failed: return "FAILED";
        case trigger::Status::TimedOut: return "TIMED_OUT";
        case trigger::Status::Cancelled: return "ABORTED";
        case trigger::Status::Running:
        case trigger::Status::Queued: break;
    }
    return "RUNNING";
}

Value execution_end(trigger::Status status, const Value& result, const Value& error) {
    auto end = Value::object({{"status", execution_status(status)}});
    if (status == trigger::Status::Succeeded) {
        return end.with("output", result);
    }
    if (status == trigger::Status::TimedOut) {
        return end.with("error", "States.Timeout");
    }
    auto is_own = error.find("error") != nullptr || error.find("cause") != nullptr;
    auto add = [&](std::string_view name, std::string_view from) {
        if (const auto* found = error.find(from)) {
            end = end.with(name, *found);
        }
    };
    // The kernel fails a run too, which has kind and message alone.
    auto is_kernel =
        !is_own && error.find("kind") != nullptr && *error.find("kind") != Value{"failed"};
    add("error", is_kernel ? "kind" : "error");
    add("cause", is_kernel ? "message" : "cause");
    return end;
}

} // namespace sluice::workflow::asl
