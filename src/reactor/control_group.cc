#include "reactor/control_group.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace sluice::reactor {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_in(const fs::path& file) {
    auto in = std::ifstream{file};
    return {std::istream_iterator<std::string>{in}, {}};
}

bool write_text(const fs::path& file, std::string_view text) {
    auto out = std::ofstream{file};
    out << text << std::flush;
    return out.good();
}

/// The folder of version 2, whose line is `0::/path`; empty: there is none.
fs::path unified_group(const fs::path& mount, const std::vector<std::string>& membership) {
    constexpr auto unified = std::string_view{"0::/"};
    for (const auto& line : membership) {
        if (line.starts_with(unified) && fs::exists(mount / "cgroup.controllers")) {
            return mount / line.substr(unified.size());
        }
    }
    return {};
}

/// The folder of a controller of version 1, whose line is `4:cpu,cpuacct:/path`.
Result<fs::path> controller_group(const fs::path& mount, const std::vector<std::string>& membership,
                                  const std::string& controller, std::string_view control) {
    for (const auto& line : membership) {
        auto first = line.find(':');
        auto second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        auto names = line.substr(first + 1, second - first - 1);
        if (("," + names + ",").find("," + controller + ",") == std::string::npos) {
            continue;
        }
        auto hierarchy = fs::exists(mount / names) ? mount / names : mount / controller;
        // In a container the path may be the host's, and what is mounted our own group.
        auto group = hierarchy / line.substr(std::min(second + 2, line.size()));
        group = fs::exists(group) ? group : hierarchy;
        if (!fs::exists(group / control)) {
            break;
        }
        if (::access(group.c_str(), W_OK) != 0) {
            return fail(Errc::Unsupported, "this process may make no control groups in {}",
                        group.string());
        }
        return group;
    }
    return fail(Errc::Unsupported, "there are no control groups for {} at {}", controller,
                mount.string());
}

Result<ControlGroup> find_version_one(const fs::path& mount,
                                      const std::vector<std::string>& membership) {
    auto memory = TRY(controller_group(mount, membership, "memory", "memory.limit_in_bytes"));
    auto cpu = TRY(controller_group(mount, membership, "cpu", "cpu.cfs_period_us"));
    return ControlGroup{
        .version = ControlGroup::Version::One, .memory = std::move(memory), .cpu = std::move(cpu)};
}

Result<void> check_controllers(const fs::path& group) {
    auto controllers = words_in(group / "cgroup.controllers");
    for (const auto* wanted : {"memory", "cpu"}) {
        if (std::ranges::find(controllers, wanted) == controllers.end()) {
            return fail(Errc::Unsupported, "the control group {} has no controller {}",
                        group.string(), wanted);
        }
    }
    return {};
}

} // namespace

Result<ControlGroup> find_control_group(const fs::path& mount, const fs::path& membership) {
    auto lines = words_in(membership);
    auto group = unified_group(mount, lines);
    if (group.empty()) {
        return find_version_one(mount, lines);
    }
    TRY(check_controllers(group));
    auto own = std::to_string(::getpid());
    auto members = words_in(group / "cgroup.procs");
    // Whoever else lives there was not put there by us, and is not ours to move.
    if (members != std::vector{own}) {
        return fail(Errc::Unsupported, "the control group {} has {} processes beside this one",
                    group.string(), members.empty() ? 0 : members.size() - 1);
    }
    auto made = std::error_code{};
    fs::create_directory(group / "server", made);
    if (made || !write_text(group / "server" / "cgroup.procs", own) ||
        !write_text(group / "cgroup.subtree_control", "+memory +cpu")) {
        return fail(Errc::Unsupported, "the control group {} is not delegated to this process",
                    group.string());
    }
    return ControlGroup{.version = ControlGroup::Version::Two, .memory = group, .cpu = group};
}

} // namespace sluice::reactor
