#include "cli/internal/files.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "value/json.h"

namespace sluice::cli {

namespace {

constexpr auto text_bytes_max = std::size_t{256} << 20U;

Result<std::string> read_descriptor(int descriptor, const std::string& path) {
    auto text = std::string{};
    char space[65'536];
    while (true) {
        auto count = ::read(descriptor, space, sizeof(space));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return fail(Errc::Io, "cannot read {}: {}", path, std::strerror(errno));
        }
        if (count == 0) {
            return text;
        }
        text.append(space, static_cast<std::size_t>(count));
        if (text.size() > text_bytes_max) {
            return fail(Errc::LimitExceeded, "{} is larger than {} MiB", path,
                        text_bytes_max >> 20U);
        }
    }
}

} // namespace

Result<std::string> read_text(const std::string& path) {
    if (path == "-") {
        return read_descriptor(STDIN_FILENO, "standard input");
    }
    auto descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return fail(errno == ENOENT ? Errc::NotFound : Errc::Io, "cannot read {}: {}", path,
                    std::strerror(errno));
    }
    auto text = read_descriptor(descriptor, path);
    ::close(descriptor);
    return text;
}

Result<void> replace_file(const std::filesystem::path& file, std::string_view text) {
    auto beside = file.string() + ".new";
    struct stat status{};
    auto mode = ::stat(file.c_str(), &status) == 0 ? status.st_mode & 0777U : mode_t{0600};
    auto descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    auto is_written =
        descriptor >= 0 &&
        ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        ::fsync(descriptor) == 0;
    auto reason = errno;
    if (descriptor >= 0) {
        ::close(descriptor);
    }
    if (!is_written || ::rename(beside.c_str(), file.c_str()) != 0) {
        reason = is_written ? errno : reason;
        ::unlink(beside.c_str());
        return fail(Errc::Io, "cannot write {}: {}", file.string(), std::strerror(reason));
    }
    return {};
}

} // namespace sluice::cli
