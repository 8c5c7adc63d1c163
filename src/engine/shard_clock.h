#pragma once

#include "base/clock.h"
#include "trigger/arrival.h"

namespace sluice::engine {

inline constexpr auto time_format = std::uint8_t{1}; ///< Of a mark's record.

/// A shard's time, which never goes back.
///
/// Civil time follows the wall clock and stands still while that lies behind. Steady time follows
/// the monotonic clock, so a wall clock that jumps moves absolute timers only. Across a restart,
/// steady time grows by the wall time that passed.
class ShardClock {
public:
    /// What the store knows of the shard's time.
    struct Mark {
        Time civil{};
        Time steady{};

        template <typename Archive>
        void fields(Archive& archive) {
            archive("civil", civil)("steady", steady);
        }
    };

    explicit ShardClock(const Clock& clock) : clock_(clock) {}

    /// Once, before the first `now`.
    void start(const Mark& last);
    trigger::Moment now();
    Mark mark() const { return {.civil = last_.time, .steady = last_.steady}; }

private:
    const Clock& clock_;
    Nanos offset_{0}; ///< From the monotonic clock to steady time.
    trigger::Moment last_;
};

} // namespace sluice::engine
