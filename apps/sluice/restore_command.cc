#include "sluice/restore_command.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "sluice/output.h"
#include "sluice/store_command.h"
#include "store/embedded/embedded_store.h"
#include "value/json.h"

namespace sluice::app {

namespace fs = std::filesystem;

namespace {

Result<Value> read_manifest(const fs::path& backup) {
    auto in = std::ifstream{backup / "backup.json"};
    auto text = std::ostringstream{};
    text << in.rdbuf();
    auto manifest = in ? value::parse_json(text.str()) : Result<Value>{Value{}};
    const auto* files = manifest ? manifest->find("files") : nullptr;
    if (files == nullptr || !files->is_list()) {
        return fail(Errc::InvalidInput,
                    "{} is no whole backup: it has no backup.json, which comes last",
                    backup.string());
    }
    return *files;
}

bool is_inside(const fs::path& name) {
    return !name.empty() && name.is_relative() &&
           std::ranges::find(name, fs::path{".."}) == name.end();
}

Result<void> copy_files(const Value& files, const fs::path& from, const fs::path& to) {
    for (const auto& file : files.as_list()) {
        auto name = fs::path{text_at(file, "name")};
        if (!is_inside(name)) {
            return fail(Errc::InvalidInput, "backup.json names {}, which is outside of the backup",
                        name.string());
        }
        const auto* size = file.find("size");
        auto error = std::error_code{};
        auto found = fs::file_size(from / name, error);
        if (error || size == nullptr || !size->is_int() ||
            found != static_cast<std::uint64_t>(size->as_int())) {
            return fail(Errc::Corrupt, "{} is not as long as backup.json says",
                        (from / name).string());
        }
        fs::create_directories((to / name).parent_path(), error);
        if (!fs::copy_file(from / name, to / name, error)) {
            return fail(Errc::Io, "cannot copy {}: {}", name.string(), error.message());
        }
    }
    return {};
}

/// In a directory of its own, which gets its name when everything in it was found sound.
Result<store::embedded::CheckReport> restore_into(const fs::path& backup, const fs::path& data) {
    auto error = std::error_code{};
    if (fs::exists(data, error)) {
        return fail(Errc::InvalidInput, "{} exists already: name a directory that does not",
                    data.string());
    }
    auto files = TRY(read_manifest(backup));
    auto partial = fs::path{data.string() + ".partial"};
    fs::remove_all(partial, error);
    if (!fs::create_directories(partial, error)) {
        return fail(Errc::Io, "cannot make {}: {}", partial.string(), error.message());
    }
    auto copied = copy_files(files, backup, partial);
    auto checked = copied ? check_data(partial)
                          : Result<store::embedded::CheckReport>{std::unexpected(copied.error())};
    if (checked && checked->damaged.empty()) {
        fs::rename(partial, data, error);
        if (!error) {
            return checked;
        }
        checked = fail(Errc::Io, "cannot rename {}: {}", partial.string(), error.message());
    } else if (checked) {
        const auto& first = checked->damaged.front();
        checked = fail(Errc::Corrupt, "{} is damaged: {}", first.file, first.reason);
    }
    fs::remove_all(partial, error);
    return checked;
}

} // namespace

ExitCode restore(const RestoreOptions& options) {
    auto restored = restore_into(options.backup, options.data);
    if (!restored) {
        return report(restored.error());
    }
    if (options.is_json) {
        print_json(Value::object({{"data", options.data},
                                  {"files", number(restored->files)},
                                  {"bytes", number(restored->bytes)}}));
    } else {
        print("{}: {} files, {} bytes, all sound", options.data, restored->files, restored->bytes);
    }
    return ExitCode::Ok;
}

} // namespace sluice::app
