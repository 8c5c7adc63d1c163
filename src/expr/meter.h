#pragma once

#include <cstddef>
#include <cstdint>

#include "expr/program.h"

namespace sluice::expr {

/// Values that an expression looks through or makes are no deeper.
inline constexpr std::size_t value_depth_max = 512;

/// What is left of a budget. Once it is spent it stays spent: no `||` can absorb that.
class Meter {
public:
    explicit Meter(const Budget& budget)
        : steps_left_{budget.steps_max},
          bytes_left_{budget.output_bytes_max},
          text_bytes_max_{budget.output_bytes_max},
          depth_max_{budget.depth_max} {}

    bool spend(std::uint64_t steps) {
        if (steps > steps_left_) {
            exhaust();
            return false;
        }
        steps_left_ -= steps;
        return true;
    }

    /// Texts are read and copied some bytes at a step.
    bool spend_text(std::size_t bytes) { return spend(bytes / text_bytes_per_step); }

    /// Bytes of what the caller gets to see.
    bool spend_output(std::size_t bytes) {
        if (bytes > bytes_left_) {
            exhaust();
            return false;
        }
        bytes_left_ -= bytes;
        return true;
    }

    void exhaust() {
        steps_left_ = 0;
        bytes_left_ = 0;
        is_exhausted_ = true;
    }

    bool is_exhausted() const { return is_exhausted_; }
    std::size_t output_bytes_left() const { return bytes_left_; }
    /// Of any one text that an expression makes on its way.
    std::size_t text_bytes_max() const { return text_bytes_max_; }
    std::size_t depth_max() const { return depth_max_; }

private:
    static constexpr std::size_t text_bytes_per_step = 64;

    std::uint64_t steps_left_;
    std::size_t bytes_left_;
    std::size_t text_bytes_max_;
    std::size_t depth_max_;
    bool is_exhausted_ = false;
};

} // namespace sluice::expr
