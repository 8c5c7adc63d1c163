#pragma once

#include <filesystem>

namespace sluice::store::embedded::testing {

/// An empty directory that goes with its owner: in memory where the system has such a place, so
/// that syncs cost nothing.
class ScratchDirectory {
public:
    ScratchDirectory();
    ~ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace sluice::store::embedded::testing
