#include "cli/internal/profiles.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "base/nearest.h"
#include "cli/internal/files.h"

namespace sluice::cli {

namespace {

namespace fs = std::filesystem;

Result<void> check_mode(const fs::path& file) {
    struct stat status{};
    if (::stat(file.c_str(), &status) == 0 && (status.st_mode & 077U) != 0) {
        return fail(Errc::InvalidInput,
                    "{} holds a token, and others may read it: `chmod 600 {}` keeps it yours",
                    file.string(), file.string());
    }
    return {};
}

Result<Profile> read_profile(const fs::path& file, const std::string& name, const Value& form) {
    auto profile = Profile{.name = name};
    if (!form.is_map()) {
        return fail(Errc::InvalidInput, "{}: profile {}: expected a map with a server",
                    file.string(), name);
    }
    for (const auto& [key, value] : form.as_map()) {
        auto* field = key == "server"       ? &profile.server
                      : key == "token"      ? &profile.token
                      : key == "token_file" ? &profile.token_file
                      : key == "namespace"  ? &profile.space
                      : key == "ca"         ? &profile.ca
                                            : nullptr;
        if (field == nullptr || !value.is_string()) {
            return fail(Errc::InvalidInput,
                        "{}: profile {}: {}: expected server, token, token_file, namespace or ca, "
                        "each a text",
                        file.string(), name, key);
        }
        *field = value.as_string();
    }
    if (profile.server.empty()) {
        return fail(Errc::InvalidInput, "{}: profile {} needs a server", file.string(), name);
    }
    return profile;
}

/// With the token from its own file, if it has one.
Result<Profile> with_token(const fs::path& file, Profile profile) {
    if (!profile.token_file.empty()) {
        auto path = file.parent_path() / profile.token_file;
        TRY(check_mode(path));
        profile.token = TRY(read_text(path.string()));
        profile.token.erase(profile.token.find_last_not_of(" \r\n\t") + 1);
    } else if (!profile.token.empty()) {
        TRY(check_mode(file));
    }
    return profile;
}

} // namespace

Result<Profile> Profiles::find(const std::string& name) const {
    auto found = std::ranges::find(all, name, &Profile::name);
    if (found != all.end()) {
        return with_token(file, *found);
    }
    auto names = std::vector<std::string_view>{};
    std::ranges::transform(all, std::back_inserter(names), &Profile::name);
    auto meant = nearest(name, names);
    return fail(Errc::NotFound, "there is no profile `{}` in {}{}", name, file.string(),
                !meant.empty()  ? fmt::format("; did you mean `{}`?", meant)
                : names.empty() ? std::string{}
                                : fmt::format(": there are {}", fmt::join(names, ", ")));
}

fs::path profiles_file() {
    const auto* config = std::getenv("XDG_CONFIG_HOME");
    const auto* home = std::getenv("HOME");
    auto folder = config != nullptr && *config != '\0'
                      ? fs::path{config}
                      : fs::path{home == nullptr ? "" : home} / ".config";
    return folder / "sluice" / "config.yaml";
}

Result<Profiles> read_profiles(const Host& host, const fs::path& file) {
    auto profiles = Profiles{.file = file};
    auto ignored = std::error_code{};
    if (!fs::exists(file, ignored)) {
        return profiles;
    }
    auto text = TRY(read_text(file.string()));
    auto form = TRY(host.read_document(text, file.string()));
    if (!form.is_map()) {
        return fail(Errc::InvalidInput, "{}: expected a map with profiles", file.string());
    }
    for (const auto& [key, value] : form.as_map()) {
        if (key == "current" && value.is_string()) {
            profiles.current = value.as_string();
        } else if (key == "profiles" && value.is_map()) {
            for (const auto& [name, each] : value.as_map()) {
                profiles.all.push_back(TRY(read_profile(file, name, each)));
            }
        } else {
            return fail(Errc::InvalidInput,
                        "{}: {}: expected current (the name of a profile) and profiles (a map)",
                        file.string(), key);
        }
    }
    return profiles;
}

Result<void> use_profile(const Profiles& profiles, const std::string& name) {
    auto found = std::ranges::find(profiles.all, name, &Profile::name);
    if (found == profiles.all.end()) {
        TRY(profiles.find(name));
    }
    auto text = TRY(read_text(profiles.file.string()));
    auto line = fmt::format("current: {}", name);
    // Edited as text, so that what its owner wrote around it stays.
    auto at = text.starts_with("current:") ? std::size_t{0} : text.find("\ncurrent:");
    if (at == std::string::npos) {
        text = line + "\n" + text;
    } else {
        at += text[at] == '\n' ? 1 : 0;
        text.replace(at, text.find('\n', at) - at, line);
    }
    return replace_file(profiles.file, text);
}

} // namespace sluice::cli
