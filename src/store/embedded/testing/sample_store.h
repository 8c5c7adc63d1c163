#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sluice::store::embedded::testing {

using Content = std::map<std::string, std::string>;

/// Makes a store with a table, a blob file and a log of several commits, some larger than a block
/// of the log. Gives back the content before the first and after each commit of the log.
std::vector<Content> write_sample_store(const std::filesystem::path& path);

/// What reading everything gives: the content, or the message of the error.
struct Reading {
    Content content;
    std::string error;
};
Reading read_store(const std::filesystem::path& path);

std::string read_bytes(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const std::string& bytes);
/// The file of this extension with the highest number.
std::filesystem::path newest_file(const std::filesystem::path& directory,
                                  const std::string& extension);

} // namespace sluice::store::embedded::testing
