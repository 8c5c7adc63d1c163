#pragma once

#include <cstdint>

namespace sluice {

/// Numbers that follow from a seed alone (SplitMix64), the same on every machine: for decisions,
/// jitter and tests. Never for secrets.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        auto mixed = (state_ += 0x9E3779B97F4A7C15ULL);
        mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
        return mixed ^ (mixed >> 31U);
    }

    /// Evenly in [0, bound); 0 when bound is 0.
    std::uint64_t below(std::uint64_t bound) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64U);
    }

    /// Evenly in [0, 1).
    double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

    bool chance(double probability) { return unit() < probability; }

private:
    std::uint64_t state_;
};

} // namespace sluice
