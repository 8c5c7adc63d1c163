#include "reactor/internal/spin.h"

#include <algorithm>
#include <thread>

namespace sluice::reactor::internal {
namespace {

constexpr auto misses_max = std::uint32_t{3};
constexpr auto probe_interval = std::uint32_t{16};
// Reading the clock costs about as much as this many looks.
constexpr auto looks_per_clock_read = 16;

void pause_core() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace

Spin::Spin(Nanos spin_max)
    : spin_max_(std::thread::hardware_concurrency() > 1 ? spin_max : Nanos{0}) {}

bool Spin::until(const std::atomic<std::uint8_t>& flag,
                 std::chrono::steady_clock::time_point deadline) {
    if (spin_max_ == Nanos{0}) {
        return false;
    }
    if (misses_ >= misses_max && ++misses_ % probe_interval != 0) {
        return false;
    }
    auto end = std::min(std::chrono::steady_clock::now() + spin_max_, deadline);
    if (!look(flag, end)) {
        misses_++;
        return false;
    }
    misses_ = 0;
    return true;
}

bool Spin::look(const std::atomic<std::uint8_t>& flag,
                std::chrono::steady_clock::time_point end) const {
    while (std::chrono::steady_clock::now() < end) {
        for (auto looks = 0; looks < looks_per_clock_read; looks++) {
            if (flag.load(std::memory_order_acquire) != 0) {
                return true;
            }
            pause_core();
        }
    }
    return false;
}

} // namespace sluice::reactor::internal
