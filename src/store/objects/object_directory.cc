#include "store/objects/object_directory.h"

#include <system_error>
#include <utility>

#include "base/bytes.h"
#include "store/objects/internal/file_bytes.h"
#include "store/objects/internal/hex_hash.h"

namespace sluice::store {

namespace fs = std::filesystem;

namespace {

constexpr auto owner_format = std::uint8_t{1};
constexpr auto folder_bytes = std::size_t{16};
constexpr auto owner_file = "owner";

std::string encode_owner(const ObjectOwner& owner) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u8(owner_format);
    out.text(owner.space);
    out.text(owner.run);
    return bytes;
}

std::string folder_name(const ObjectOwner& owner) {
    return internal::hex_hash(encode_owner(owner), folder_bytes);
}

bool is_folder_name(std::string_view name) {
    return name.size() == 2 * folder_bytes && is_object_name(std::string{name} + std::string{name});
}

Result<ObjectOwner> read_owner(const fs::path& folder) {
    auto bytes = TRY(internal::read_whole(folder / owner_file));
    auto in = Decoder{bytes};
    if (auto format = TRY(in.u8()); format != owner_format) {
        return fail(Errc::Unsupported, "{} has format {}: this program reads {}",
                    (folder / owner_file).string(), format, owner_format);
    }
    auto owner = ObjectOwner{};
    owner.space = TRY(in.text());
    owner.run = TRY(in.text());
    if (folder_name(owner) != folder.filename()) {
        return fail(Errc::Corrupt, "{} names another owner than its folder does",
                    (folder / owner_file).string());
    }
    return owner;
}

Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
    auto error = std::error_code{};
    auto entries = std::vector<fs::path>{};
    for (auto at = fs::directory_iterator{folder, error}; !error && at != fs::directory_iterator{};
         at.increment(error)) {
        entries.push_back(at->path());
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        return fail(Errc::Io, "cannot list {}: {}", folder.string(), error.message());
    }
    return entries;
}

Result<void> move_to(const fs::path& from, const fs::path& to) {
    auto error = std::error_code{};
    fs::rename(from, to, error);
    if (error) {
        return fail(Errc::Io, "cannot rename {} to {}: {}", from.string(), to.string(),
                    error.message());
    }
    return {};
}

Result<std::vector<fs::path>> folders_in(const fs::path& path) {
    auto folders = std::vector<fs::path>{};
    for (auto& each : TRY(entries_of(path))) {
        if (is_folder_name(each.filename().string())) {
            folders.push_back(std::move(each));
        }
    }
    return folders;
}

Result<void> link_all(const fs::path& from, const fs::path& to) {
    for (const auto& each : TRY(entries_of(from))) {
        auto target = to / each.filename();
        auto error = std::error_code{};
        if (fs::exists(target, error)) {
            continue;
        }
        fs::create_hard_link(each, target, error);
        if (error) {
            return fail(Errc::Io, "cannot link {} to {}: {}", target.string(), each.string(),
                        error.message());
        }
    }
    return {};
}

} // namespace

Result<std::unique_ptr<ObjectDirectory>> ObjectDirectory::open(fs::path path, ObjectAccess access) {
    auto made = std::unique_ptr<ObjectDirectory>{new ObjectDirectory{std::move(path)}};
    if (access == ObjectAccess::ReadOnly) {
        return made;
    }
    for (const auto* each : {"new", "old"}) {
        auto error = std::error_code{};
        fs::remove_all(made->path_ / each, error);
        fs::create_directories(made->path_ / each, error);
        if (error) {
            return fail(Errc::Io, "cannot make {}: {}", (made->path_ / each).string(),
                        error.message());
        }
    }
    TRY(internal::sync_directory(made->path_));
    TRY(internal::sync_directory(fs::absolute(made->path_).parent_path()));
    return made;
}

fs::path ObjectDirectory::folder_of(const ObjectOwner& owner) const {
    return path_ / folder_name(owner);
}

/// The caller holds the lock. A folder gets its name when it says whose it is.
Result<void> ObjectDirectory::ensure_folder(const ObjectOwner& owner) {
    auto folder = folder_of(owner);
    auto error = std::error_code{};
    if (fs::exists(folder, error)) {
        return {};
    }
    auto made = next_new();
    if (!fs::create_directory(made, error)) {
        return fail(Errc::Io, "cannot make {}: {}", made.string(), error.message());
    }
    TRY(internal::write_synced(made / owner_file, encode_owner(owner)));
    TRY(internal::sync_directory(made));
    return move_to(made, folder);
}

/// What lies in it, and that it is there itself. Who removed it meanwhile needs neither.
Result<void> ObjectDirectory::sync_folder(const fs::path& folder) const {
    if (auto synced = internal::sync_directory(folder);
        !synced && synced.error().code != Errc::NotFound) {
        return synced;
    }
    return internal::sync_directory(path_);
}

Result<std::string> ObjectDirectory::put(const ObjectOwner& owner, std::string_view bytes) {
    auto name = object_name_of(bytes);
    auto written = next_new();
    TRY(internal::write_synced(written, bytes));
    {
        auto lock = std::lock_guard{mutex_};
        TRY(ensure_folder(owner));
        TRY(move_to(written, folder_of(owner) / name));
    }
    TRY(sync_folder(folder_of(owner)));
    return name;
}

Result<std::string> ObjectDirectory::get(const ObjectOwner& owner, std::string_view name) const {
    auto path = folder_of(owner) / name;
    auto bytes = is_object_name(name) ? internal::read_whole(path)
                                      : Result<std::string>{fail(Errc::NotFound, "")};
    if (!bytes && bytes.error().code == Errc::NotFound) {
        return fail(Errc::NotFound, "run \"{}\" has no object {}", owner.run, name);
    }
    if (bytes && object_name_of(*bytes) != name) {
        return fail(Errc::Corrupt, "{} is damaged: its content does not match its name",
                    path.string());
    }
    return bytes;
}

Result<void> ObjectDirectory::share(const ObjectOwner& from, const ObjectOwner& with) {
    {
        auto lock = std::lock_guard{mutex_};
        auto entries = TRY(entries_of(folder_of(from)));
        if (entries.empty()) {
            return {};
        }
        TRY(ensure_folder(with));
        TRY(link_all(folder_of(from), folder_of(with)));
    }
    return sync_folder(folder_of(with));
}

Result<std::vector<ObjectOwner>> ObjectDirectory::owners() const {
    auto owners = std::vector<ObjectOwner>{};
    for (const auto& folder : TRY(folders_in(path_))) {
        owners.push_back(TRY(read_owner(folder)));
    }
    return owners;
}

Result<bool> ObjectDirectory::remove_all(const ObjectOwner& owner) {
    auto lock = std::lock_guard{mutex_};
    auto folder = folder_of(owner);
    auto aside = path_ / "old" / fmt::format("{}-{}", folder.filename().string(), ++made_);
    auto error = std::error_code{};
    fs::rename(folder, aside, error);
    if (error && error != std::errc::no_such_file_or_directory) {
        return fail(Errc::Io, "cannot remove {}: {}", folder.string(), error.message());
    }
    return !error;
}

void ObjectDirectory::reclaim() {
    auto lock = std::lock_guard{reclaiming_};
    auto entries = entries_of(path_ / "old");
    for (const auto& each : entries ? *entries : std::vector<fs::path>{}) {
        auto ignored = std::error_code{}; // The next start tries again.
        fs::remove_all(each, ignored);
    }
}

Result<void> ObjectDirectory::copy_to(const fs::path& path,
                                      const std::function<Result<void>()>& copy_first) {
    auto reclaiming = std::lock_guard{reclaiming_};
    TRY(copy_first());
    auto lock = std::lock_guard{mutex_};
    auto folders = TRY(folders_in(path_));
    for (auto& each : TRY(entries_of(path_ / "old"))) {
        folders.push_back(std::move(each));
    }
    for (const auto& folder : folders) {
        auto copy = path / "objects" / folder.filename().string().substr(0, 2 * folder_bytes);
        auto error = std::error_code{};
        fs::create_directories(copy, error);
        if (error) {
            return fail(Errc::Io, "cannot make {}: {}", copy.string(), error.message());
        }
        TRY(link_all(folder, copy));
    }
    return {};
}

Result<std::vector<ObjectDirectory::Stored>> ObjectDirectory::list() const {
    auto all = std::vector<Stored>{};
    for (const auto& folder : TRY(folders_in(path_))) {
        auto owner = TRY(read_owner(folder));
        for (const auto& each : TRY(entries_of(folder))) {
            if (is_object_name(each.filename().string())) {
                all.push_back({.owner = owner, .name = each.filename().string()});
            }
        }
    }
    return all;
}

Result<ObjectDirectory::CheckReport> ObjectDirectory::check() const {
    auto report = CheckReport{};
    for (const auto& folder : TRY(folders_in(path_))) {
        if (auto owner = read_owner(folder); !owner) {
            report.damaged.push_back(
                {.file = (folder / owner_file).string(), .reason = owner.error().message});
        }
        for (const auto& each : TRY(entries_of(folder))) {
            auto bytes = internal::read_whole(each);
            auto name = each.filename().string();
            ++report.files;
            report.bytes += bytes ? bytes->size() : 0;
            if (!bytes) {
                report.damaged.push_back({.file = each.string(), .reason = bytes.error().message});
            } else if (name != owner_file && object_name_of(*bytes) != name) {
                report.damaged.push_back(
                    {.file = each.string(), .reason = "its content does not match its name"});
            }
        }
    }
    return report;
}

} // namespace sluice::store
