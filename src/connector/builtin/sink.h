#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "event/sink.h"
#include "reactor/scheduler.h"

namespace sluice::connector::builtin {

struct Options {
    std::uint64_t seed = 0;             ///< Which calls of `flaky` fail.
    std::optional<double> time_scale{}; ///< Given: functions of any name are simulated.
};

/// Functions that need nothing but this program, for trying things out.
///
/// All but `sleep` answer before `deliver` returns. Members may be called from any thread.
class Sink final : public event::Sink {
public:
    /// The scheduler must outlive it.
    explicit Sink(reactor::Scheduler& scheduler, Options options = {});
    /// Answers what still sleeps with the kind `cancelled`. An answer that the scheduler is giving
    /// right now may come later.
    ~Sink() override;

    bool is_answered_from_outside() const override { return false; }
    void deliver(event::Delivery delivery, Done done) override;
    void cancel(std::string_view token) override;

private:
    class Sleepers;

    const Options options_;
    // Shared with the scheduler's tasks: one may run while this is destroyed.
    std::shared_ptr<Sleepers> sleepers_;
};

} // namespace sluice::connector::builtin
