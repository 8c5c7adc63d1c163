#include "server/intake/directory_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fingerprint.h"
#include "base/utf8.h"
#include "event/builder.h"
#include "event/codec.h"
#include "http/url.h"
#include "reactor/file_descriptor.h"
#include "reactor/thread.h"

namespace sluice::server::intake {

namespace {

namespace fs = std::filesystem;
using reactor::FileDescriptor;

constexpr auto content_bytes_most = std::int64_t{256} * 1024;
constexpr auto default_type = std::string_view{"file.written"};
constexpr auto retry_pause = std::chrono::seconds{5};
constexpr auto full_pause = std::chrono::milliseconds{100}; ///< Where there is room again soon.
/// How far before the last file known a scan begins: a file may be closed long after it was
/// changed. What it finds again is a duplicate.
constexpr auto scan_overlap = std::chrono::hours{24};
constexpr auto watched = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;

struct DirectoryForm {
    fs::path path;
    std::string type{default_type};
    std::size_t content_max = 0;
};

Problem bad_form(std::string detail) {
    return {.status = 400, .code = "invalid_input", .detail = std::move(detail)};
}

std::expected<DirectoryForm, Problem> read_directory_form(const Value& form) {
    auto read = DirectoryForm{};
    for (const auto& [name, value] : form.as_map()) {
        if (name == "path" && value.is_string()) {
            read.path = std::string{value.as_string()};
        } else if (name == "type" && value.is_string() && value.size() > 0 &&
                   !value.as_string().starts_with("sluice.")) {
            read.type = std::string{value.as_string()};
        } else if (name == "content_max" && value.is_int() && value.as_int() >= 0 &&
                   value.as_int() <= content_bytes_most) {
            read.content_max = static_cast<std::size_t>(value.as_int());
        } else {
            return std::unexpected(bad_form(fmt::format(
                "{}: a directory has path (a text), type (of its events), and content_max (bytes, "
                "at most {})",
                name, content_bytes_most)));
        }
    }
    if (!read.path.is_absolute() || read.path.string().contains('\0')) {
        return std::unexpected(bad_form("path: expected an absolute path"));
    }
    return read;
}

Time changed_at(const struct stat& info) {
    return Time{std::chrono::seconds{info.st_ctim.tv_sec} + Nanos{info.st_ctim.tv_nsec}};
}

Time modified_at(const struct stat& info) {
    return Time{std::chrono::seconds{info.st_mtim.tv_sec} + Nanos{info.st_mtim.tv_nsec}};
}

/// Nothing when it is not a file of its own, or gone.
std::optional<struct stat> look_at(const FileDescriptor& directory, const std::string& name) {
    struct stat info{};
    if (name.starts_with('.') || !is_utf8(name) ||
        ::fstatat(directory.raw(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode)) {
        return std::nullopt;
    }
    return info;
}

std::optional<std::string> read_content(const FileDescriptor& directory, const std::string& name,
                                        std::size_t most) {
    auto file = FileDescriptor{
        ::openat(directory.raw(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    struct stat info{};
    if (!file.is_open() || ::fstat(file.raw(), &info) != 0 || !S_ISREG(info.st_mode)) {
        return std::nullopt;
    }
    auto content = std::string(most + 1, '\0');
    auto size = std::size_t{0};
    while (size <= most) {
        auto got = ::read(file.raw(), content.data() + size, content.size() - size);
        if (got <= 0) {
            break;
        }
        size += static_cast<std::size_t>(got);
    }
    content.resize(size);
    return size > most ? std::nullopt : std::optional{std::move(content)};
}

class WatchedDirectory final : public RunningSource {
public:
    WatchedDirectory(DirectoryForm form, std::vector<fs::path> roots, SourceFeed& feed)
        : form_(std::move(form)),
          roots_(std::move(roots)),
          feed_(feed),
          bell_(::eventfd(0, EFD_CLOEXEC)),
          thread_(reactor::start_thread("directory",
                                        [this](const std::stop_token& stop) { run(stop); })) {}

    ~WatchedDirectory() override {
        thread_.request_stop();
        static_cast<void>(::eventfd_write(bell_.raw(), 1));
    }

private:
    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            if (auto opened = open(); !opened) {
                feed_.note_error(opened.error().message);
                pause(retry_pause, stop);
                continue;
            }
            needs_scan_ = true;
            while (!stop.stop_requested() && notify_.is_open()) {
                if (std::exchange(needs_scan_, false)) {
                    scan();
                }
                bring_all(stop);
                wait_for_files();
            }
        }
    }

    Result<void> open() {
        directory_ = FileDescriptor{::open(form_.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (!directory_.is_open()) {
            return fail(Errc::Io, "{}: {}", form_.path.string(), std::strerror(errno));
        }
        // What was opened counts, not what the path was when it was checked.
        auto self = fs::path{fmt::format("/proc/self/fd/{}", directory_.raw())};
        if (!is_inside(self, roots_)) {
            return fail(Errc::InvalidInput, "{} is not inside a directory that may be watched",
                        form_.path.string());
        }
        notify_ = FileDescriptor{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
        if (!notify_.is_open() ||
            ::inotify_add_watch(notify_.raw(), self.c_str(), watched | IN_ONLYDIR) < 0) {
            auto reason = std::string{std::strerror(errno)};
            notify_.close();
            return fail(Errc::Io, "{} cannot be watched: {}", form_.path.string(), reason);
        }
        return {};
    }

    /// What came while nobody watched, oldest first.
    void scan() {
        auto position = feed_.position();
        auto since = position.is_timestamp() ? position.as_timestamp() - scan_overlap : Time{};
        auto copy = ::dup(directory_.raw());
        auto* listing = copy < 0 ? nullptr : ::fdopendir(copy);
        if (listing == nullptr) {
            feed_.note_error(fmt::format("{}: {}", form_.path.string(), std::strerror(errno)));
            return;
        }
        ::rewinddir(listing);
        auto found = std::set<std::pair<Time, std::string>>{};
        while (const auto* entry = ::readdir(listing)) {
            auto name = std::string{entry->d_name};
            auto info = look_at(directory_, name);
            if (info && changed_at(*info) >= since) {
                found.emplace(changed_at(*info), std::move(name));
            }
        }
        ::closedir(listing);
        for (const auto& [changed, name] : found) {
            waiting_.push_back(name);
        }
    }

    void bring_all(const std::stop_token& stop) {
        while (!waiting_.empty() && !stop.stop_requested()) {
            if (auto problem = bring(waiting_.front())) {
                pause(problem->status == 429 ? full_pause : retry_pause, stop);
                continue;
            }
            waiting_.pop_front();
        }
        if (waiting_.empty() && latest_ > kept_) {
            if (auto kept = feed_.keep_position(latest_); kept) {
                kept_ = latest_;
            } else {
                feed_.note_error(kept.error().message);
            }
        }
    }

    /// What is wrong when it is to be tried again.
    std::optional<Problem> bring(const std::string& name) {
        auto info = look_at(directory_, name);
        if (!info) {
            return std::nullopt;
        }
        auto event = event_of(name, *info);
        auto problem =
            event ? feed_.deliver_and_wait(*event) : std::optional{problem_of(event.error())};
        if (problem) {
            feed_.note_error(fmt::format("{}: {}", name, problem->detail));
            // An event that is refused for what it is would be refused again.
            if (problem->status != 400 && problem->status != 413) {
                return problem;
            }
        }
        latest_ = std::max(latest_, changed_at(*info));
        return std::nullopt;
    }

    Result<event::Event> event_of(const std::string& name, const struct stat& info) const {
        auto modified = modified_at(info);
        auto print = fingerprint(name, fmt::format("{} {} {}", info.st_ino, info.st_size,
                                                   modified.time_since_epoch().count()));
        auto data = Value::object({{"path", (form_.path / name).string()},
                                   {"size", static_cast<std::int64_t>(info.st_size)},
                                   {"modified", modified}});
        if (form_.content_max > 0) {
            if (auto content = read_content(directory_, name, form_.content_max)) {
                auto is_text = is_utf8(*content);
                data = data.with("content", is_text ? Value{*content} : Value::bytes(*content))
                           .with("encoding", is_text ? "utf-8" : "base64");
            }
        }
        auto event = event::Builder{fmt::format("{:016x}{:016x}", print.high, print.low),
                                    "/sources/" + http::percent_encode(feed_.name()), form_.type}
                         .subject(name)
                         .time(modified)
                         .data(data)
                         .build();
        return event::Codec{}.parse(event.json());
    }

    void wait_for_files() {
        auto waits = std::array<pollfd, 2>{
            {{.fd = notify_.raw(), .events = POLLIN}, {.fd = bell_.raw(), .events = POLLIN}}};
        ::poll(waits.data(), waits.size(), -1);
        if ((waits[0].revents & POLLIN) != 0) {
            read_notices();
        }
    }

    void read_notices() {
        alignas(inotify_event) auto buffer = std::array<char, 16 * 1024>{};
        auto size = ::read(notify_.raw(), buffer.data(), buffer.size());
        for (auto at = ssize_t{0}; at < size;) {
            const auto* notice = reinterpret_cast<const inotify_event*>(buffer.data() + at);
            at += static_cast<ssize_t>(sizeof(inotify_event) + notice->len);
            if ((notice->mask & IN_Q_OVERFLOW) != 0) {
                needs_scan_ = true;
            } else if ((notice->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0) {
                feed_.note_error(form_.path.string() + " is gone");
                notify_.close();
                return;
            } else if (notice->len > 0) {
                waiting_.emplace_back(notice->name);
            }
        }
    }

    void pause(std::chrono::milliseconds duration, const std::stop_token& stop) {
        if (!stop.stop_requested()) {
            auto wait = pollfd{.fd = bell_.raw(), .events = POLLIN};
            ::poll(&wait, 1, static_cast<int>(duration.count()));
        }
    }

    DirectoryForm form_;
    std::vector<fs::path> roots_;
    SourceFeed& feed_;
    FileDescriptor bell_; ///< Rings when it is to stop.
    FileDescriptor directory_;
    FileDescriptor notify_;
    bool needs_scan_ = true;
    std::deque<std::string>
        waiting_;         ///< Names of files to bring, bounded by what the kernel queues.
    Time latest_{};       ///< The last change of a file that was brought.
    Time kept_{};         ///< What of it is stored.
    std::jthread thread_; ///< Last: it uses everything above.
};

} // namespace

bool is_inside(const fs::path& path, const std::vector<fs::path>& roots) {
    auto error = std::error_code{};
    auto real = fs::canonical(path, error);
    if (error) {
        return false;
    }
    return std::ranges::any_of(roots, [&](const auto& root) {
        auto real_root = fs::canonical(root, error);
        if (error) {
            return false;
        }
        auto [end, rest] = std::ranges::mismatch(real_root, real);
        return end == real_root.end();
    });
}

std::optional<Problem> DirectoryKind::check(const Value& form) const {
    auto read = read_directory_form(form);
    if (!read) {
        return read.error();
    }
    auto refused = Problem{.status = 403, .code = "forbidden"};
    if (roots_.empty()) {
        refused.detail =
            "no directory may be watched: the operator allows them with the setting watch_roots";
        return refused;
    }
    if (!is_inside(read->path, roots_)) {
        refused.detail = fmt::format(
            "{} is no directory that may be watched: it must exist, inside one of those that the "
            "setting watch_roots lists",
            read->path.string());
        return refused;
    }
    auto error = std::error_code{};
    if (!fs::is_directory(read->path, error)) {
        return bad_form(fmt::format("{} is no directory", read->path.string()));
    }
    return std::nullopt;
}

std::unique_ptr<RunningSource> DirectoryKind::run(const Value& form, SourceFeed& feed) const {
    return std::make_unique<WatchedDirectory>(read_directory_form(form).value(), roots_, feed);
}

} // namespace sluice::server::intake
