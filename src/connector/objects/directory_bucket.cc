#include "connector/objects/directory_bucket.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <set>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reactor/file_descriptor.h"

namespace sluice::connector::objects {

namespace fs = std::filesystem;

namespace {

// What is being written has this name until it is whole.
constexpr auto part_suffix = std::string_view{".sluice-part"};
constexpr auto missing_key = std::string_view{"The specified key does not exist."};

reactor::FileDescriptor open_file(const fs::path& path, int flags) {
    return reactor::FileDescriptor{::open(path.c_str(), flags | O_CLOEXEC, 0644)};
}

std::unexpected<Error> io_error(std::string_view verb, const fs::path& path) {
    auto code = errno == ENOSPC ? Errc::NoSpace : Errc::Io;
    return fail(code, "cannot {} {}: {}", verb, path.string(), std::strerror(errno));
}

bool is_inside(const fs::path& path, const fs::path& root) {
    auto [end, rest] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
    return end == root.end();
}

Bucket::Listed listed_as(std::string key, const struct stat& about) {
    using namespace std::chrono;
    auto bytes = static_cast<std::uint64_t>(about.st_size);
    auto modified = seconds{about.st_mtim.tv_sec} + nanoseconds{about.st_mtim.tv_nsec};
    auto etag = fmt::format("\"{:x}-{:x}\"", modified.count(), bytes);
    return {
        .key = std::move(key), .bytes = bytes, .modified = Time{modified}, .etag = std::move(etag)};
}

Result<void> write_all(const reactor::FileDescriptor& file, std::string_view content,
                       const fs::path& path) {
    while (!content.empty()) {
        auto written = ::write(file.raw(), content.data(), content.size());
        if (written < 0 && errno != EINTR) {
            return io_error("write", path);
        }
        content.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return ::fsync(file.raw()) == 0 ? Result<void>{} : io_error("sync", path);
}

Result<void> sync_folder(const fs::path& path) {
    auto folder = open_file(path, O_RDONLY | O_DIRECTORY);
    return folder.is_open() && ::fsync(folder.raw()) == 0 ? Result<void>{} : io_error("sync", path);
}

struct Wanted {
    const std::string& prefix;
    const std::string& behind; ///< Names after this,
    const std::string& inside; ///< and folders that this is in.
};

/// The first names of a folder that may lead to keys that are wanted; those of folders end in a
/// slash, so that they stand where their keys do.
std::set<std::string> names_in(const fs::path& path, const std::string& folder,
                               const Wanted& wanted, std::size_t most) {
    auto names = std::set<std::string>{};
    auto error = std::error_code{};
    for (auto at = fs::directory_iterator{path, error}; !error && at != fs::directory_iterator{};
         at.increment(error)) {
        auto ignored = std::error_code{};
        auto name = folder + at->path().filename().string();
        auto is_folder = at->is_directory(ignored);
        name += is_folder ? "/" : "";
        auto is_meant =
            name.starts_with(wanted.prefix) || (is_folder && wanted.prefix.starts_with(name));
        auto is_behind = name > wanted.behind || (is_folder && wanted.inside.starts_with(name));
        if (is_meant && is_behind && !name.ends_with(part_suffix)) {
            names.insert(std::move(name));
            if (names.size() > most) {
                names.erase(std::prev(names.end()));
            }
        }
    }
    return names;
}

} // namespace

Result<std::unique_ptr<DirectoryBucket>> DirectoryBucket::open(const fs::path& root) {
    auto error = std::error_code{};
    auto path = fs::canonical(root, error);
    if (error || !fs::is_directory(path, error)) {
        return fail(Errc::NotFound, "there is no directory {}", root.string());
    }
    return std::unique_ptr<DirectoryBucket>{new DirectoryBucket{std::move(path)}};
}

Result<fs::path> DirectoryBucket::path_of(const std::string& key) const {
    TRY(check_key(key));
    auto error = std::error_code{};
    auto path = fs::weakly_canonical(root_ / key, error);
    if (error || !is_inside(path, root_) || key.ends_with(part_suffix)) {
        return fail(Errc::NotFound, "{}", missing_key);
    }
    return path;
}

Result<std::string> DirectoryBucket::read(const std::string& key, std::uint64_t offset,
                                          std::size_t bytes_max) const {
    auto path = TRY(path_of(key));
    auto file = open_file(path, O_RDONLY);
    struct stat about{};
    if (!file.is_open() || ::fstat(file.raw(), &about) != 0 || !S_ISREG(about.st_mode)) {
        return fail(Errc::NotFound, "{}", missing_key);
    }
    auto bytes = static_cast<std::uint64_t>(about.st_size);
    auto content =
        std::string(std::min<std::uint64_t>(bytes - std::min(bytes, offset), bytes_max), '\0');
    auto done = std::size_t{0};
    while (done < content.size()) {
        auto taken = ::pread(file.raw(), content.data() + done, content.size() - done,
                             static_cast<off_t>(offset + done));
        if (taken < 0 && errno != EINTR) {
            return io_error("read", path);
        }
        if (taken == 0) {
            content.resize(done);
        }
        done += static_cast<std::size_t>(std::max<ssize_t>(taken, 0));
    }
    return content;
}

Result<Bucket::Listed> DirectoryBucket::find(const std::string& key) const {
    auto path = TRY(path_of(key));
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) {
        return fail(Errc::NotFound, "{}", missing_key);
    }
    return listed_as(key, about);
}

Result<std::vector<Bucket::Listed>> DirectoryBucket::list(const std::string& prefix,
                                                          const std::string& after,
                                                          std::size_t most) const {
    auto listed = std::vector<Listed>{};
    TRY(add_listed("", prefix, after, most, listed));
    return listed;
}

/// Goes through a folder's names a few at a time, so that a folder with a million takes no memory
/// for them.
Result<void> DirectoryBucket::add_listed(const std::string& folder, const std::string& prefix,
                                         const std::string& after, std::size_t most,
                                         std::vector<Listed>& listed) const {
    auto behind = after;
    auto inside = after;
    while (listed.size() < most) {
        auto wanted = most - listed.size();
        auto names = names_in(root_ / folder, folder, {prefix, behind, inside}, wanted);
        for (const auto& name : names) {
            if (name.ends_with('/')) {
                if (path_of(name.substr(0, name.size() - 1))) {
                    TRY(add_listed(name, prefix, after, most, listed));
                }
            } else if (auto found = find(name)) {
                listed.push_back(*std::move(found));
            }
            if (listed.size() >= most) {
                return {};
            }
        }
        if (names.size() < wanted) {
            return {};
        }
        behind = *names.rbegin();
        inside.clear();
    }
    return {};
}

Result<void> DirectoryBucket::write(const std::string& key, std::string_view content) {
    static auto parts = std::atomic<std::uint64_t>{0};
    auto path = TRY(path_of(key));
    auto error = std::error_code{};
    fs::create_directories(path.parent_path(), error);
    auto part = path;
    part += fmt::format(".{}-{}{}", ::getpid(), ++parts, part_suffix);
    {
        auto file = open_file(part, O_WRONLY | O_CREAT | O_TRUNC);
        if (!file.is_open()) {
            return io_error("make", part);
        }
        if (auto written = write_all(file, content, part); !written) {
            fs::remove(part, error);
            return written;
        }
    }
    fs::rename(part, path, error);
    if (error) {
        auto why = error.message();
        fs::remove(part, error);
        return fail(Errc::Io, "cannot put {} in place: {}", path.string(), why);
    }
    return sync_folder(path.parent_path());
}

} // namespace sluice::connector::objects
