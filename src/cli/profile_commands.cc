#include <memory>

#include "cli/commands.h"
#include "cli/internal/profiles.h"
#include "cli/output.h"

namespace sluice::cli {

namespace {

struct ProfileOptions {
    std::string name;
    bool is_json = false;
};

ExitCode list_profiles(const Host& host, const ProfileOptions& options) {
    auto profiles = read_profiles(host, profiles_file());
    if (!profiles) {
        return report(profiles.error());
    }
    auto items = std::vector<Value>{};
    auto table = Table{{"", "NAME", "SERVER", "NAMESPACE"}};
    for (const auto& each : profiles->all) {
        auto is_current = each.name == profiles->current;
        table.add({is_current ? "*" : "", each.name, each.server, each.space});
        items.push_back(Value::object({{"name", each.name},
                                       {"server", each.server},
                                       {"namespace", each.space},
                                       {"is_current", is_current}}));
    }
    if (options.is_json) {
        print_json(Value::list(std::move(items)));
    } else if (profiles->all.empty()) {
        say("there are no profiles in {}", profiles->file.string());
    } else {
        table.print();
    }
    return ExitCode::Ok;
}

ExitCode use_named(const Host& host, const ProfileOptions& options) {
    auto profiles = read_profiles(host, profiles_file());
    auto used = profiles ? use_profile(*profiles, options.name)
                         : Result<void>{std::unexpected(profiles.error())};
    if (!used) {
        return report(used.error());
    }
    say("using profile {}", options.name);
    return ExitCode::Ok;
}

} // namespace

std::vector<Command> profile_commands(const Host& host) {
    auto listed = std::make_shared<ProfileOptions>();
    auto used = std::make_shared<ProfileOptions>();
    return {
        {.name = "profile", .help = "Servers that the config file names"},
        {.name = "profile list",
         .help = "List them",
         .words = {json_word(listed->is_json, "As JSON")},
         .run = [&host, listed] { return list_profiles(host, *listed); }},
        {.name = "profile use",
         .help = "Use this one where none is named",
         .words =
             {{.name = "NAME", .target = &used->name, .help = "The profile", .is_required = true}},
         .run = [&host, used] { return use_named(host, *used); }}};
}

} // namespace sluice::cli
