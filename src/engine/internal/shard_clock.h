#pragma once

#include "base/clock.h"
#include "trigger/arrival.h"

namespace sluice::engine {

inline constexpr auto time_format = std::uint8_t{1}; ///< Of a mark's record.

/// A shard's time, which never goes back: docs/explanation/time.md has the rule.
///
/// Civil and steady time both follow the monotonic clock and are drawn towards the wall clock, by a
/// tenth of the time that passes at most. A wall clock that is more than a minute off was set:
/// civil time jumps ahead with it and never back, steady time stays out of it.
class ShardClock {
public:
    /// What the store knows of the shard's time.
    struct Mark {
        Time civil{};
        Time steady{};
        Time wall{}; ///< As the wall clock showed it then.

        template <typename Archive>
        void fields(Archive& archive) {
            archive("civil", civil)("steady", steady)("wall", wall);
        }
    };

    explicit ShardClock(const Clock& clock) : clock_(clock) {}

    /// Once, before the first `now`.
    void start(const Mark& last);
    trigger::Moment now();
    Mark mark() const { return {.civil = last_.time, .steady = last_.steady, .wall = wall_}; }

private:
    const Clock& clock_;
    trigger::Moment last_;
    Time wall_{};
    Nanos ticks_{0};  ///< What the monotonic clock showed last.
    Nanos offset_{0}; ///< From steady time to the wall clock, as that was last set.
};

} // namespace sluice::engine
