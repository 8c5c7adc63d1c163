#include "sluice/run/data_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace sluice::app {

Result<DataDirectory> DataDirectory::temporary() {
    auto error = std::error_code{};
    auto folder = std::filesystem::temp_directory_path(error);
    auto path = (folder / "sluice-XXXXXX").string();
    if (error || ::mkdtemp(path.data()) == nullptr) {
        return fail(Errc::Io, "cannot make a temporary directory in {}: {}", folder.string(),
                    error ? error.message() : std::strerror(errno));
    }
    return DataDirectory{path, true};
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : path_(std::move(other.path_)), is_temporary_(std::exchange(other.is_temporary_, false)) {}

DataDirectory::~DataDirectory() {
    if (is_temporary_) {
        auto error = std::error_code{};
        std::filesystem::remove_all(path_, error);
    }
}

} // namespace sluice::app
