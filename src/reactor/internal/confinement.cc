#include "reactor/internal/confinement.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

namespace sluice::reactor::internal {

namespace {

namespace fs = std::filesystem;

constexpr auto cpu_period_micros = 100'000;
/// How long the killed may take to leave their group.
constexpr auto leave_rounds_max = 50;
constexpr auto leave_pause = std::chrono::milliseconds{1};

bool write_control(const fs::path& file, std::string_view text) {
    auto out = std::ofstream{file};
    out << text << std::flush;
    return out.good();
}

std::int64_t cpu_quota_micros(const ResourceLimits& limits) {
    return static_cast<std::int64_t>(limits.cpu * cpu_period_micros);
}

bool limit_unified(const fs::path& group, const ResourceLimits& limits) {
    if (limits.memory_bytes > 0) {
        if (!write_control(group / "memory.max", std::to_string(limits.memory_bytes))) {
            return false;
        }
        // Neither has every kernel, and the limit holds without.
        write_control(group / "memory.swap.max", "0");
        write_control(group / "memory.oom.group", "1");
    }
    return limits.cpu <= 0 ||
           write_control(group / "cpu.max",
                         fmt::format("{} {}", cpu_quota_micros(limits), cpu_period_micros));
}

bool limit_memory(const fs::path& group, const ResourceLimits& limits) {
    auto bytes = std::to_string(limits.memory_bytes);
    auto is_limited = write_control(group / "memory.limit_in_bytes", bytes);
    // With swap; not every kernel counts it, and the limit holds without.
    write_control(group / "memory.memsw.limit_in_bytes", bytes);
    return is_limited;
}

bool limit_cpu(const fs::path& group, const ResourceLimits& limits) {
    return write_control(group / "cpu.cfs_period_us", std::to_string(cpu_period_micros)) &&
           write_control(group / "cpu.cfs_quota_us", std::to_string(cpu_quota_micros(limits)));
}

bool enter_group(const fs::path& group, pid_t child, const ResourceLimits& limits,
                 bool (*limit)(const fs::path&, const ResourceLimits&)) {
    auto made = std::error_code{};
    fs::create_directory(group, made);
    return !made && limit(group, limits) &&
           write_control(group / "cgroup.procs", std::to_string(child));
}

/// Version 1 cannot kill a group, and none of them can be removed before all have left.
void kill_members(const fs::path& group) {
    for (auto round = 0; round < leave_rounds_max; ++round) {
        auto members = std::ifstream{group / "cgroup.procs"};
        auto member = pid_t{0};
        auto is_empty = true;
        while (members >> member) {
            is_empty = false;
            ::kill(member, SIGKILL);
        }
        if (is_empty) {
            return;
        }
        std::this_thread::sleep_for(leave_pause);
    }
}

void set_rlimit(pid_t child, __rlimit_resource resource, rlim_t soft, rlim_t hard) {
    auto limit = rlimit{.rlim_cur = soft, .rlim_max = hard};
    ::prlimit(child, resource, &limit, nullptr);
}

} // namespace

Confinement Confinement::of(pid_t child, const ResourceLimits& limits, const ControlGroup& parent) {
    auto confinement = Confinement{};
    confinement.version_ = parent.version;
    auto name = fmt::format("command-{}", child);
    auto enter = [&](const fs::path& folder, auto limit) {
        confinement.groups_.push_back(folder / name);
        return enter_group(confinement.groups_.back(), child, limits, limit);
    };
    auto is_held = parent.version != ControlGroup::Version::None;
    if (parent.version == ControlGroup::Version::Two) {
        is_held = enter(parent.memory, limit_unified);
    } else if (parent.version == ControlGroup::Version::One) {
        is_held = (limits.memory_bytes == 0 || enter(parent.memory, limit_memory)) &&
                  (limits.cpu <= 0 || enter(parent.cpu, limit_cpu));
    }
    if (!is_held && limits.memory_bytes > 0) {
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
    if (groups_.empty()) {
        return false;
    }
    const auto* file =
        version_ == ControlGroup::Version::Two ? "memory.events" : "memory.oom_control";
    auto events = std::ifstream{groups_.front() / file};
    auto name = std::string{};
    auto count = std::uint64_t{0};
    while (events >> name >> count) {
        if (name == "oom_kill" && count > 0) {
            return true;
        }
    }
    return false;
}

Confinement::Confinement(Confinement&& other) noexcept
    : groups_(std::exchange(other.groups_, {})), version_(other.version_) {}

Confinement& Confinement::operator=(Confinement&& other) noexcept {
    std::swap(groups_, other.groups_);
    std::swap(version_, other.version_);
    return *this;
}

Confinement::~Confinement() {
    for (const auto& group : groups_) {
        if (version_ == ControlGroup::Version::Two) {
            write_control(group / "cgroup.kill", "1");
        } else {
            kill_members(group);
        }
        auto ignored = std::error_code{};
        fs::remove(group, ignored);
    }
}

} // namespace sluice::reactor::internal
