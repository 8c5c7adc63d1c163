#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/clock.h"

namespace sluice::store::embedded {

/// Whether the disk has more room than the reserve. Asked before every commit, so it looks only now
/// and then.
class FreeSpace {
public:
    using Measure = std::function<std::uint64_t()>;

    FreeSpace(Measure measure, std::uint64_t reserve_bytes, const Clock& clock);

    std::uint64_t reserve_bytes() const { return reserve_bytes_; }
    bool is_enough();
    /// Written bytes bring the next look nearer.
    void note_written(std::uint64_t bytes);

private:
    Measure measure_;
    std::uint64_t reserve_bytes_;
    const Clock& clock_;
    std::atomic<std::int64_t> look_again_at_{0};
    std::atomic<std::uint64_t> written_bytes_{0};
    std::atomic<bool> is_enough_{true};
};

/// What an unprivileged process may still write there; without an answer from the system, no limit.
std::uint64_t free_bytes_at(const std::filesystem::path& path);
/// 5 % of the disk, at most 256 MiB.
std::uint64_t default_reserve_at(const std::filesystem::path& path);

} // namespace sluice::store::embedded
