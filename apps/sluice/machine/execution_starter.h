#pragma once

#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "event/sink.h"

namespace sluice::app {

/// The function that starts an execution of a state machine and does not wait for it. Members may
/// be called from any thread.
class ExecutionStarter final : public event::Sink {
public:
    /// The clock outlives it.
    explicit ExecutionStarter(const Clock& clock) : clock_(clock) {}

    /// Calls wait for this: the engine brings some before it is there. It outlives this.
    void attach(engine::Engine& engine);

    bool is_answered_from_outside() const override { return false; }
    void deliver(event::Delivery delivery, Done done) override;
    void cancel(std::string_view /*token*/) override {}

private:
    void start(const event::Delivery& delivery, Done done);

    const Clock& clock_;
    std::mutex mutex_;
    engine::Engine* engine_ = nullptr;
    std::vector<std::pair<event::Delivery, Done>> waiting_;
};

} // namespace sluice::app
