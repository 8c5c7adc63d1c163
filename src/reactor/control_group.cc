#include "reactor/control_group.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
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

/// Version 2 has the line `0::/path`.
Result<fs::path> own_group(const fs::path& mount, const fs::path& membership) {
    constexpr auto unified = std::string_view{"0::/"};
    for (const auto& line : words_in(membership)) {
        if (line.starts_with(unified) && fs::exists(mount / "cgroup.controllers")) {
            return mount / line.substr(unified.size());
        }
    }
    return fail(Errc::Unsupported, "there are no control groups of version 2 at {}",
                mount.string());
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

Result<fs::path> find_control_group(const fs::path& mount, const fs::path& membership) {
    auto group = TRY(own_group(mount, membership));
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
    return group;
}

} // namespace sluice::reactor
