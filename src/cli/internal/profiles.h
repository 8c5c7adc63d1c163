#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/host.h"

namespace sluice::cli {

/// A server and how to ask it, under a name.
struct Profile {
    std::string name;
    std::string server;
    std::string token;      ///< Read from `token_file` where that is given.
    std::string token_file; ///< Relative to the file of profiles.
    std::string space;
    std::string ca;
};

/// What somebody keeps in `~/.config/sluice/config.yaml`.
struct Profiles {
    std::filesystem::path file;
    std::string current; ///< Used where none is named; empty: none.
    std::vector<Profile> all;

    /// Fails with NotFound, saying which there are.
    Result<Profile> find(const std::string& name) const;
};

/// Below `XDG_CONFIG_HOME`, or `.config` of the home directory.
std::filesystem::path profiles_file();

/// None when there is no such file. A file that holds a token and that others may read is refused.
Result<Profiles> read_profiles(const Host& host, const std::filesystem::path& file);

/// Makes it the one that is used where none is named; all else in the file stays as it is.
Result<void> use_profile(const Profiles& profiles, const std::string& name);

} // namespace sluice::cli
