#pragma once

#include <filesystem>
#include <string>

namespace sluice::app {

/// Tells in a data directory, as long as this lives, which server holds it: others who want the
/// directory can then ask that one.
class ServedDirectory {
public:
    /// Where it cannot be written, nothing is told.
    ServedDirectory(const std::filesystem::path& data, const std::string& url);
    ~ServedDirectory();
    ServedDirectory(const ServedDirectory&) = delete;
    ServedDirectory& operator=(const ServedDirectory&) = delete;

    /// Of the server that holds a directory; empty when none is known to.
    static std::string url_of(const std::filesystem::path& data);

private:
    std::filesystem::path file_;
};

} // namespace sluice::app
