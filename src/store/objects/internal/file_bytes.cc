#include "store/objects/internal/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::store::internal {

namespace {

/// Linux moves at most 2 GiB in one call.
constexpr auto piece_bytes_max = std::size_t{1} << 30U;

class File {
public:
    File(const std::filesystem::path& path, int flags)
        : raw_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (raw_ >= 0) {
            ::close(raw_);
        }
    }
    int raw() const { return raw_; }
    bool is_open() const { return raw_ >= 0; }

private:
    int raw_;
};

std::unexpected<Error> fail_by_errno(std::string_view what, const std::filesystem::path& path) {
    auto number = errno;
    auto code = number == ENOENT ? Errc::NotFound : number == ENOSPC ? Errc::NoSpace : Errc::Io;
    return fail(code, "cannot {} {}: {}", what, path.string(), std::strerror(number));
}

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        auto written = ::write(file, bytes.data(), std::min(bytes.size(), piece_bytes_max));
        if (written < 0 && errno != EINTR) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return true;
}

} // namespace

Result<void> write_synced(const std::filesystem::path& path, std::string_view bytes) {
    auto file = File{path, O_WRONLY | O_CREAT | O_TRUNC};
    if (!file.is_open() || !write_all(file.raw(), bytes) || ::fsync(file.raw()) != 0) {
        auto failed = fail_by_errno("write", path);
        ::unlink(path.c_str());
        return failed;
    }
    return {};
}

Result<std::string> read_whole(const std::filesystem::path& path) {
    auto file = File{path, O_RDONLY};
    struct stat status{};
    if (!file.is_open() || ::fstat(file.raw(), &status) != 0) {
        return fail_by_errno("read", path);
    }
    auto bytes = std::string(static_cast<std::size_t>(status.st_size), '\0');
    auto done = std::size_t{0};
    while (done < bytes.size()) {
        auto taken =
            ::read(file.raw(), bytes.data() + done, std::min(bytes.size() - done, piece_bytes_max));
        if (taken < 0 && errno != EINTR) {
            return fail_by_errno("read", path);
        }
        if (taken == 0) {
            bytes.resize(done);
        }
        done += static_cast<std::size_t>(std::max<ssize_t>(taken, 0));
    }
    return bytes;
}

Result<void> sync_directory(const std::filesystem::path& path) {
    auto folder = File{path, O_RDONLY | O_DIRECTORY};
    if (!folder.is_open() || ::fsync(folder.raw()) != 0) {
        return fail_by_errno("sync", path);
    }
    return {};
}

} // namespace sluice::store::internal
