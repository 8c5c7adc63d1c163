#include "server/backups.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sluice::server {

namespace fs = std::filesystem;

namespace {

/// What may stand between two slashes without leading anywhere else.
bool is_plain_name(std::string_view name) {
    return !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    });
}

Result<std::vector<std::string>> names_in(const fs::path& folder) {
    auto names = std::vector<std::string>{};
    auto error = std::error_code{};
    if (!fs::exists(folder, error)) {
        return names;
    }
    for (const auto& entry : fs::directory_iterator{folder, error}) {
        names.push_back(entry.path().filename().string());
    }
    if (error) {
        return fail(Errc::Io, "cannot list {}: {}", folder.string(), error.message());
    }
    std::ranges::sort(names);
    return names;
}

/// A name in each folder on the way.
bool is_plain_path(std::string_view path) {
    while (true) {
        auto name = path.substr(0, path.find('/'));
        if (!is_plain_name(name)) {
            return false;
        }
        if (name.size() == path.size()) {
            return true;
        }
        path.remove_prefix(name.size() + 1);
    }
}

Result<void> add_files(const fs::path& copy, const std::string& folder, std::vector<Value>& files) {
    for (const auto& each : TRY(names_in(copy / folder))) {
        auto error = std::error_code{};
        auto name = folder.empty() ? each : folder + "/" + each;
        if (fs::is_directory(copy / name, error)) {
            TRY(add_files(copy, name, files));
            continue;
        }
        auto size = fs::file_size(copy / name, error);
        if (error) {
            return fail(Errc::Io, "cannot read the size of {}: {}", (copy / name).string(),
                        error.message());
        }
        files.push_back(Value::object({{"name", name}, {"size", static_cast<std::int64_t>(size)}}));
    }
    return {};
}

Result<Value> files_of(const fs::path& copy) {
    auto files = std::vector<Value>{};
    TRY(add_files(copy, "", files));
    return Value::list(std::move(files));
}

} // namespace

Backups::Backups(store::Store& store, store::Objects* objects, const Clock& clock, fs::path folder)
    : store_(store), objects_(objects), clock_(clock), folder_(std::move(folder)) {
    auto ignored = std::error_code{};
    fs::remove_all(folder_, ignored);
}

Result<Value> Backups::make() {
    auto lock = std::lock_guard{mutex_};
    auto error = std::error_code{};
    fs::create_directories(folder_, error);
    if (error) {
        return fail(Errc::Io, "cannot make {}: {}", folder_.string(), error.message());
    }
    if (TRY(names_in(folder_)).size() >= copies_max) {
        return fail(Errc::LimitExceeded,
                    "{} backups are held already: fetch and delete one of them first", copies_max);
    }
    auto name = fmt::format("{}", clock_.wall().time_since_epoch().count());
    auto copy_store = [&] { return store_.copy_to(folder_ / name); };
    TRY(objects_ == nullptr ? copy_store() : objects_->copy_to(folder_ / name, copy_store));
    auto files = TRY(files_of(folder_ / name));
    return Value::object({{"backup", name}, {"files", std::move(files)}});
}

Result<Value> Backups::list() const {
    auto backups = std::vector<Value>{};
    for (const auto& name : TRY(names_in(folder_))) {
        auto files = TRY(files_of(folder_ / name));
        backups.push_back(Value::object({{"backup", name}, {"files", std::move(files)}}));
    }
    return Value::object({{"backups", Value::list(std::move(backups))}});
}

Result<fs::path> Backups::find(std::string_view backup) const {
    auto error = std::error_code{};
    auto path = folder_ / backup;
    if (!is_plain_name(backup) || !fs::is_directory(path, error)) {
        return fail(Errc::NotFound, "there is no backup \"{}\"", backup);
    }
    return path;
}

Result<std::string> Backups::read(std::string_view backup, std::string_view file,
                                  std::uint64_t from, std::size_t most) const {
    auto copy = TRY(find(backup));
    auto in = is_plain_path(file) ? std::ifstream{copy / file, std::ios::binary} : std::ifstream{};
    if (!in.is_open()) {
        return fail(Errc::NotFound, "backup \"{}\" has no file \"{}\"", backup, file);
    }
    auto bytes = std::string(std::min(most, piece_bytes_max), '\0');
    in.seekg(static_cast<std::streamoff>(from));
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (in.bad()) {
        return fail(Errc::Io, "cannot read {} of backup \"{}\"", file, backup);
    }
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    return bytes;
}

Result<void> Backups::remove(std::string_view backup) {
    auto copy = TRY(find(backup));
    auto error = std::error_code{};
    fs::remove_all(copy, error);
    if (error) {
        return fail(Errc::Io, "cannot remove backup \"{}\": {}", backup, error.message());
    }
    return {};
}

} // namespace sluice::server
