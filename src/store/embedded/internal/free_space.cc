#include "store/embedded/internal/free_space.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <sys/statvfs.h>

namespace sluice::store::embedded {
namespace {

using namespace std::chrono_literals;

constexpr auto look_every = Nanos{100ms};
constexpr auto look_every_bytes = std::uint64_t{16} << 20U;
constexpr auto reserve_bytes_max = std::uint64_t{256} << 20U;

} // namespace

FreeSpace::FreeSpace(Measure measure, std::uint64_t reserve_bytes, const Clock& clock)
    : measure_(std::move(measure)), reserve_bytes_(reserve_bytes), clock_(clock) {
    is_enough_ = measure_() > reserve_bytes_;
    look_again_at_ = (clock_.steady() + look_every).count();
}

bool FreeSpace::is_enough() {
    auto now = clock_.steady();
    if (now.count() >= look_again_at_ || written_bytes_ >= look_every_bytes) {
        look_again_at_ = (now + look_every).count();
        written_bytes_ = 0;
        is_enough_ = measure_() > reserve_bytes_;
    }
    return is_enough_;
}

void FreeSpace::note_written(std::uint64_t bytes) {
    written_bytes_ += bytes;
}

std::uint64_t free_bytes_at(const std::filesystem::path& path) {
    struct statvfs disk{};
    if (statvfs(path.c_str(), &disk) != 0) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

std::uint64_t default_reserve_at(const std::filesystem::path& path) {
    struct statvfs disk{};
    if (statvfs(path.c_str(), &disk) != 0) {
        return reserve_bytes_max;
    }
    return std::min(reserve_bytes_max, std::uint64_t{disk.f_blocks} * disk.f_frsize / 20);
}

} // namespace sluice::store::embedded
