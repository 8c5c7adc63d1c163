#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "connector/builtin/sink.h"
#include "event/sink.h"
#include "reactor/virtual_time.h"
#include "trial/stage.h"
#include "workflow/asl/item_pages.h"
#include "workflow/asl/mocks.h"
#include "workflow/asl/objects.h"

namespace sluice::app {

/// Answers the tasks of a state machine that is tried: as mocks say, or as the built-in functions
/// do.
class MachineCast final : public trial::Cast, private event::Sink {
public:
    /// The time outlives it.
    MachineCast(workflow::asl::Mocks mocks, workflow::asl::ObjectsInMemory objects,
                reactor::VirtualTime& time)
        : mocks_(std::move(mocks)), objects_(std::move(objects)), builtin_(time) {}
    ~MachineCast() override = default;

    engine::Function function(const std::string& name) override;
    void note(const engine::Call& /*call*/) override {}

    /// A task that nobody answers for.
    const std::optional<Error>& missing() const { return missing_; }

private:
    void deliver(event::Delivery delivery, Done done) override;
    void cancel(std::string_view token) override { builtin_.cancel(token); }

    workflow::asl::Mocks mocks_;
    workflow::asl::ObjectsInMemory objects_;
    workflow::asl::ItemPages pages_{objects_};
    connector::builtin::Sink builtin_;
    std::optional<Error> missing_;
};

} // namespace sluice::app
