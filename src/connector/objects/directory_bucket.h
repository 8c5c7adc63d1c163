#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connector/objects/bucket.h"

namespace sluice::connector::objects {

/// A directory that stands for a bucket: an object is a file, and its key the path from there.
///
/// What leads out of the directory by a symbolic link is not there.
class DirectoryBucket final : public Bucket {
public:
    /// Fails with NotFound when there is no such directory.
    static Result<std::unique_ptr<DirectoryBucket>> open(const std::filesystem::path& root);

    Result<std::string> read(const std::string& key, std::uint64_t offset,
                             std::size_t bytes_max) const override;
    Result<Listed> find(const std::string& key) const override;
    Result<std::vector<Listed>> list(const std::string& prefix, const std::string& after,
                                     std::size_t most) const override;
    Result<void> write(const std::string& key, std::string_view content) override;

private:
    explicit DirectoryBucket(std::filesystem::path root) : root_(std::move(root)) {}

    Result<std::filesystem::path> path_of(const std::string& key) const;
    Result<void> add_listed(const std::string& folder, const std::string& prefix,
                            const std::string& after, std::size_t most,
                            std::vector<Listed>& listed) const;

    std::filesystem::path root_; ///< Without symbolic links.
};

} // namespace sluice::connector::objects
