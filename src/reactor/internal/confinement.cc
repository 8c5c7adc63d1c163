#include "reactor/internal/confinement.h"

#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

namespace sluice::reactor::internal {

namespace {

constexpr auto cpu_period_micros = 100'000;

bool write_control(const std::filesystem::path& file, std::string_view text) {
    auto out = std::ofstream{file};
    out << text << std::flush;
    return out.good();
}

bool enter_group(const std::filesystem::path& group, pid_t child, const ResourceLimits& limits) {
    auto made = std::error_code{};
    std::filesystem::create_directory(group, made);
    if (made) {
        return false;
    }
    if (limits.memory_bytes > 0) {
        if (!write_control(group / "memory.max", std::to_string(limits.memory_bytes))) {
            return false;
        }
        // Neither has every kernel, and the limit holds without.
        write_control(group / "memory.swap.max", "0");
        write_control(group / "memory.oom.group", "1");
    }
    if (limits.cpu > 0) {
        auto quota = static_cast<std::int64_t>(limits.cpu * cpu_period_micros);
        if (!write_control(group / "cpu.max", fmt::format("{} {}", quota, cpu_period_micros))) {
            return false;
        }
    }
    return write_control(group / "cgroup.procs", std::to_string(child));
}

void set_rlimit(pid_t child, __rlimit_resource resource, rlim_t soft, rlim_t hard) {
    auto limit = rlimit{.rlim_cur = soft, .rlim_max = hard};
    ::prlimit(child, resource, &limit, nullptr);
}

} // namespace

Confinement Confinement::of(pid_t child, const ResourceLimits& limits,
                            const std::filesystem::path& parent) {
    auto confinement = Confinement{};
    if (!parent.empty()) {
        confinement.group_ = parent / fmt::format("command-{}", child);
        if (!enter_group(confinement.group_, child, limits)) {
            confinement = Confinement{};
        }
    }
    if (confinement.group_.empty() && limits.memory_bytes > 0) {
        set_rlimit(child, RLIMIT_AS, limits.memory_bytes, limits.memory_bytes);
    }
    // Control groups share processors and do not bound their use in all.
    if (limits.cpu_time > Nanos{0}) {
        auto seconds = std::chrono::ceil<std::chrono::seconds>(limits.cpu_time).count();
        set_rlimit(child, RLIMIT_CPU, static_cast<rlim_t>(seconds),
                   static_cast<rlim_t>(seconds) + 1);
    }
    return confinement;
}

bool Confinement::was_memory_full() const {
    auto events = std::ifstream{group_ / "memory.events"};
    auto name = std::string{};
    auto count = std::uint64_t{0};
    while (!group_.empty() && events >> name >> count) {
        if (name == "oom_kill" && count > 0) {
            return true;
        }
    }
    return false;
}

Confinement::Confinement(Confinement&& other) noexcept : group_(std::exchange(other.group_, {})) {}

Confinement& Confinement::operator=(Confinement&& other) noexcept {
    std::swap(group_, other.group_);
    return *this;
}

Confinement::~Confinement() {
    if (!group_.empty()) {
        write_control(group_ / "cgroup.kill", "1");
        auto ignored = std::error_code{};
        std::filesystem::remove(group_, ignored);
    }
}

} // namespace sluice::reactor::internal
