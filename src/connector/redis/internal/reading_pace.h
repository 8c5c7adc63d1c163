#pragma once

#include <algorithm>
#include <cstddef>

#include "base/clock.h"

namespace sluice::connector::redis::internal {

inline Nanos steady_now() {
    return SystemClock{}.steady();
}

/// How many entries of a stream to ask for, so that about as many bytes come as are wanted: the
/// protocol counts entries only. Begins low and learns from what came.
class ReadingPace {
public:
    explicit ReadingPace(std::size_t most) : most_(most) {}

    std::size_t count() const { return count_; }
    /// So many entries came, with so many bytes of events, of so many streams at once.
    void learn(std::size_t entries, std::size_t bytes, std::size_t streams, std::size_t wanted) {
        if (entries == 0) {
            return;
        }
        auto fitting =
            wanted / (bytes / entries + overhead_bytes) / std::max<std::size_t>(streams, 1);
        count_ = std::clamp<std::size_t>(std::min(fitting, count_ * 4), 1, most_);
    }
    /// What came was far too much.
    void slow_down() { count_ = std::max<std::size_t>(count_ / 16, 1); }

private:
    static constexpr std::size_t overhead_bytes = 64; ///< Of an entry: its id, names of fields.

    std::size_t most_;
    std::size_t count_ = 16;
};

} // namespace sluice::connector::redis::internal
