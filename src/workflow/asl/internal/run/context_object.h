#pragma once

#include <optional>

#include "expr/states/sight.h"
#include "trigger/state.h"
#include "workflow/asl/internal/run/visit.h"

namespace sluice::workflow::asl::internal::run {

/// `$$` in a state: made when a field looks at it.
class ContextObject final : public expr::states::Context {
public:
    /// All of them must outlive it. The item is of the flow that the state is in, unless a Map
    /// looks at its own.
    ContextObject(const Program& program, const trigger::RunState& state, const Visit& visit,
                  const Value* item)
        : program_(program), state_(state), visit_(visit), item_(item) {}

    const Value& value() const override;

private:
    Value make() const;

    const Program& program_;
    const trigger::RunState& state_;
    const Visit& visit_;
    const Value* item_;
    mutable std::optional<Value> value_;
};

/// `arn:aws:states:us-east-1:123456789012:execution:orders:run-1`
std::string arn_of(const Program& program, std::string_view kind, std::string_view name);

/// In the form of a UUID, and the same whenever it is decided again.
std::string uuid_of(std::string_view first, std::string_view second);

/// In UTC with milliseconds, as the service writes times.
std::string time_text(Time time);

} // namespace sluice::workflow::asl::internal::run
