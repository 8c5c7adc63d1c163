#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trigger/history.h"
#include "trigger/state.h"
#include "value/value.h"

namespace sluice::workflow::asl {

/// The execution history of a state machine in the service's terms: nothing is stored for it, it is
/// told while the run is decided again. Each event has `id`, `previousEventId`, `type`, `timestamp`
/// and, where there are any, `details`, with payloads as values.
class History final : public trigger::Listener {
public:
    History() = default;
    /// Of a child of a distributed map, by its name.
    explicit History(std::string child) : child_(std::move(child)) {}

    void hear(const trigger::Moment& moment, const Value& told) override;
    bool cares_for(std::string_view part) const override { return part == child_; }
    /// The end of a run that was stopped from outside or took too long, which no state tells of.
    void close(const trigger::RunProgress& progress);

    const std::vector<Value>& events() const { return events_; }

private:
    bool is_of_ended_child() const;

    std::string child_; ///< Empty: the run's own.
    std::vector<Value> events_;
};

/// `SUCCEEDED`, `FAILED`, `TIMED_OUT`, `ABORTED` or `RUNNING`.
std::string_view execution_status(trigger::Status status);

/// How a run ended as an execution: `status`, and `output`, or `error` and `cause` where there are.
Value execution_end(trigger::Status status, const Value& result, const Value& error);

} // namespace sluice::workflow::asl
