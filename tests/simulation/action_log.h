#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/fingerprint.h"

namespace sluice::simulation {

/// What happened, line by line. Two runs of one seed have the same hash, or something outside the
/// seed had a say.
class ActionLog {
public:
    explicit ActionLog(bool is_shown) : is_shown_(is_shown) {}

    template <typename... Args>
    void add(Nanos now, fmt::format_string<Args...> text, Args&&... args) {
        line_.clear();
        fmt::format_to(std::back_inserter(line_), "{:>12} ", now.count() / 1000);
        fmt::format_to(std::back_inserter(line_), text, std::forward<Args>(args)...);
        hash_ = hash64(line_) ^ (hash_ * 0x9E3779B97F4A7C15ULL);
        if (is_shown_) {
            fmt::print("{}\n", line_);
        }
    }

    std::uint64_t hash() const { return hash_; }

private:
    bool is_shown_;
    std::string line_;
    std::uint64_t hash_ = 0;
};

} // namespace sluice::simulation
