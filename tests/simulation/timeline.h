#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace sluice::simulation {

/// Virtual time: what an engine's clock shows, and what is to happen later.
///
/// True time goes on across crashes. A process sees its own steady clock, which begins anew when
/// the machine does, and a wall clock that jumps.
class Timeline final : public Clock {
public:
    Nanos now() const { return now_; }
    void advance(Nanos by) { now_ += by; }
    void jump_wall(Nanos by) { wall_offset_ += by; }
    void boot() { booted_ = now_; }

    Time wall() const override { return Time{std::chrono::hours{480'000} + now_ + wall_offset_}; }
    Nanos steady() const override { return now_ - booted_; }

    void after(Nanos delay, std::move_only_function<void()> action) {
        actions_.emplace(std::pair{now_ + delay, ++count_}, std::move(action));
    }

    /// Does the next action that is due; false when none is.
    bool step() {
        if (actions_.empty() || actions_.begin()->first.first > now_) {
            return false;
        }
        auto next = actions_.extract(actions_.begin());
        next.mapped()();
        return true;
    }

    std::optional<Nanos> until_next() const {
        return actions_.empty()
                   ? std::nullopt
                   : std::optional{std::max(Nanos{0}, actions_.begin()->first.first - now_)};
    }

private:
    Nanos now_{0};
    Nanos booted_{0};
    Nanos wall_offset_{0};
    std::uint64_t count_ = 0; ///< Keeps actions of one moment in order.
    std::map<std::pair<Nanos, std::uint64_t>, std::move_only_function<void()>> actions_;
};

} // namespace sluice::simulation
