#pragma once

#include <filesystem>
#include <vector>

#include "server/intake/sources.h"

namespace sluice::server::intake {

/// A watched directory: a file that has been written and closed, or moved in, becomes an event.
/// `{path, type, content_max}`
///
/// Subdirectories, links, and files whose name begins with a dot are not looked at. An event's id
/// is made of what the file is (name, inode, size, time of change), so what a restart finds again
/// is a duplicate.
class DirectoryKind final : public SourceKind {
public:
    /// Only directories inside these may be watched; none: no directory may.
    explicit DirectoryKind(std::vector<std::filesystem::path> roots) : roots_(std::move(roots)) {}

    std::optional<Problem> check(const Value& form) const override;
    std::unique_ptr<RunningSource> run(const Value& form, SourceFeed& feed) const override;

private:
    std::vector<std::filesystem::path> roots_;
};

/// Whether a path lies inside one of these, wherever links lead. All must exist.
bool is_inside(const std::filesystem::path& path, const std::vector<std::filesystem::path>& roots);

} // namespace sluice::server::intake
