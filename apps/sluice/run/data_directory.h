#pragma once

#include <filesystem>

#include "base/result.h"

namespace sluice::app {

/// Where a run is kept: a directory that somebody named, or one that goes with this.
class DataDirectory {
public:
    static DataDirectory named(std::filesystem::path path) {
        return DataDirectory{std::move(path), false};
    }
    /// In the system's folder for temporary files.
    static Result<DataDirectory> temporary();

    DataDirectory(DataDirectory&& other) noexcept;
    DataDirectory& operator=(DataDirectory&&) = delete;
    ~DataDirectory();

    const std::filesystem::path& path() const { return path_; }
    bool is_temporary() const { return is_temporary_; }

private:
    DataDirectory(std::filesystem::path path, bool is_temporary)
        : path_(std::move(path)), is_temporary_(is_temporary) {}

    std::filesystem::path path_;
    bool is_temporary_;
};

} // namespace sluice::app
