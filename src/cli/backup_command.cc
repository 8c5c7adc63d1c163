#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/output.h"
#include "value/json.h"

namespace sluice::cli {

namespace fs = std::filesystem;

namespace {

/// Names what belongs to a backup: without it, or with a file missing, it is none.
constexpr auto manifest_name = "backup.json";

struct BackupOptions {
    Connection connection;
    std::string folder;
    bool is_json = false;
};

client::Problem cannot_write(const fs::path& path) {
    return Error{Errc::Io, fmt::format("cannot write {}", path.string())};
}

client::Answer<void> fetch_file(client::Client& client, const std::string& backup,
                                const Value& file, const fs::path& folder) {
    auto name = text_at(file, "name");
    auto size = file.find("size")->as_int();
    auto place = folder / name;
    auto error = std::error_code{};
    if (fs::path{name}.is_absolute() || name.contains("..") ||
        (fs::create_directories(place.parent_path(), error), error)) {
        return std::unexpected(cannot_write(place));
    }
    auto out = std::ofstream{place, std::ios::binary};
    auto path = client::path_of({"v1", "backups", backup, "files", name});
    for (auto at = std::int64_t{0}; at < size;) {
        auto piece = TRY(client.fetch(path, {{"from", std::to_string(at)}}));
        if (piece.empty()) {
            return std::unexpected(
                client::Problem{Error{Errc::Io, fmt::format("{} ended at byte {}", name, at)}});
        }
        out << piece;
        at += static_cast<std::int64_t>(piece.size());
    }
    out.flush();
    return out ? client::Answer<void>{} : std::unexpected(cannot_write(folder / name));
}

/// The manifest comes last: what was broken off has none.
client::Answer<std::int64_t> fetch_all(client::Client& client, const Value& made,
                                       const fs::path& folder) {
    auto bytes = std::int64_t{0};
    auto backup = text_at(made, "backup");
    const auto& files = made.find("files")->as_list();
    for (auto at = std::size_t{0}; at < files.size(); ++at) {
        if (::isatty(STDERR_FILENO) != 0) {
            say("{} of {} files", at + 1, files.size());
        }
        TRY(fetch_file(client, backup, files[at], folder));
        bytes += files[at].find("size")->as_int();
    }
    auto out = std::ofstream{folder / manifest_name};
    out << value::to_json(made) << '\n';
    out.flush();
    if (!out) {
        return std::unexpected(cannot_write(folder / manifest_name));
    }
    return bytes;
}

ExitCode backup(const Host& host, const BackupOptions& options) {
    auto error = std::error_code{};
    auto folder = fs::path{options.folder};
    if (fs::exists(folder, error)) {
        return report(Error{
            Errc::InvalidInput,
            fmt::format("{} exists already: a backup makes its own directory", options.folder)});
    }
    auto client = options.connection.open(host);
    if (!client) {
        return report(client.error());
    }
    if (!fs::create_directories(folder, error)) {
        return report(
            Error{Errc::Io, fmt::format("cannot make {}: {}", options.folder, error.message())});
    }
    auto made = client->post("/v1/backups");
    if (!made) {
        fs::remove(folder, error);
        return report(made.error());
    }
    auto bytes = fetch_all(*client, *made, folder);
    auto removed = client->remove(client::path_of({"v1", "backups", text_at(*made, "backup")}));
    if (!bytes) {
        return report(bytes.error());
    }
    if (!removed) {
        say("the server keeps its copy: {}", removed.error().message);
    }
    auto files = static_cast<std::int64_t>(made->find("files")->as_list().size());
    if (options.is_json) {
        print_json(
            Value::object({{"backup", options.folder}, {"files", files}, {"bytes", *bytes}}));
    } else {
        print("{}: {} files, {} bytes", options.folder, files, *bytes);
    }
    return ExitCode::Ok;
}

} // namespace

Command backup_command(const Host& host) {
    auto options = std::make_shared<BackupOptions>();
    auto command = Command{.name = "backup",
                           .help = "Copy everything that a server keeps, while it runs",
                           .words = {{.name = "DIR",
                                      .target = &options->folder,
                                      .help = "Where; it must not exist yet",
                                      .is_required = true,
                                      .completes = Completes::Folder},
                                     json_word(options->is_json, "As JSON")},
                           .run = [&host, options] { return backup(host, *options); }};
    options->connection.add_to(command);
    return command;
}

} // namespace sluice::cli
