#include <array>
#include <fstream>

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>

#include "base/bytes.h"
#include "store/embedded/embedded_store.h"
#include "store/embedded/internal/crc32c.h"
#include "store/embedded/internal/locked_directory.h"
#include "store/embedded/internal/recovery.h"

namespace sluice::store::embedded {
namespace {

struct ExpectedFile {
    std::string name;
    std::uint64_t bytes;
    std::string checksum; // CRC-32C, big-endian.
};

std::vector<ExpectedFile> expected_files(rocksdb::DB& database) {
    auto family = rocksdb::ColumnFamilyMetaData{};
    database.GetColumnFamilyMetaData(&family);
    auto files = std::vector<ExpectedFile>{};
    for (const auto& level : family.levels) {
        for (const auto& table : level.files) {
            files.push_back({table.relative_filename, table.size, table.file_checksum});
        }
    }
    for (const auto& blob : family.blob_files) {
        // Their header and footer are not counted there.
        files.push_back({blob.blob_file_name, 0, blob.checksum_value});
    }
    for (auto& file : files) {
        file.name.erase(0, file.name.find_first_not_of('/'));
    }
    return files;
}

/// Adds what the file holds to the report, and says what is wrong with it.
std::optional<std::string> fault_in(const std::filesystem::path& path, const ExpectedFile& expected,
                                    CheckReport& report) {
    auto file = std::ifstream{path, std::ios::binary};
    if (!file) {
        return "it is missing";
    }
    auto crc = std::uint32_t{0};
    auto total = std::uint64_t{0};
    auto piece = std::array<char, 1U << 16U>{};
    while (file.read(piece.data(), piece.size()) || file.gcount() > 0) {
        auto got = static_cast<std::size_t>(file.gcount());
        crc = crc32c({piece.data(), got}, crc);
        total += got;
    }
    report.bytes += total;
    if (file.bad()) {
        return "it cannot be read to its end";
    }
    auto found = std::string{};
    Encoder{found}.u32(crc);
    if (expected.bytes != 0 && total != expected.bytes) {
        return fmt::format("it has {} bytes, {} were written", total, expected.bytes);
    }
    return found == expected.checksum ? std::nullopt
                                      : std::optional{"it does not match its checksum"};
}

/// The logs and the manifest, which `examine` has read.
void count_examined(const std::filesystem::path& folder, CheckReport& report) {
    for (const auto& file : std::filesystem::directory_iterator{folder}) {
        auto name = file.path().filename().string();
        if (name.ends_with(".log") || name.starts_with("MANIFEST-")) {
            ++report.files;
            report.bytes += file.file_size();
        }
    }
}

} // namespace

Result<CheckReport> EmbeddedStore::verify() const {
    auto report = CheckReport{};
    // A compaction must not take away what is about to be read.
    database_->DisableFileDeletions();
    for (const auto& expected : expected_files(*database_)) {
        ++report.files;
        if (auto fault = fault_in(path_ / expected.name, expected, report)) {
            report.damaged.push_back({expected.name, *fault});
        }
    }
    database_->EnableFileDeletions(/*force=*/false);
    return report;
}

Result<CheckReport> EmbeddedStore::check(const std::filesystem::path& path, Options options) {
    auto ignored = std::error_code{};
    if (!std::filesystem::is_directory(path, ignored)) {
        return fail(Errc::NotFound, "there is no data directory {}", path.string());
    }
    auto report = CheckReport{};
    {
        auto& env = options.env != nullptr ? *options.env : *rocksdb::Env::Default();
        auto lock = TRY(LockedDirectory::lock(env, path));
        auto findings = TRY(examine(path));
        if (findings.is_new) {
            return fail(Errc::NotFound, "{} holds no store", path.string());
        }
        for (const auto& fault : findings.faults) {
            report.damaged.push_back(
                {fault.file, fmt::format("at offset {}: {}", fault.offset, fault.reason)});
        }
        report.torn = findings.cuts;
        count_examined(path, report);
    }
    if (!report.damaged.empty()) {
        return report;
    }
    options.access = Access::ReadOnly;
    auto store = EmbeddedStore{path, std::move(options)};
    auto readable = store.open_database();
    if (readable) {
        auto verified = TRY(store.verify());
        report.damaged = std::move(verified.damaged);
        report.files += verified.files;
        report.bytes += verified.bytes;
        readable = store.load_meta();
    }
    if (!readable && readable.error().code == Errc::NotFound) {
        return std::unexpected(readable.error());
    }
    if (!readable && report.damaged.empty()) {
        report.damaged.push_back({path.string(), readable.error().message});
    }
    return report;
}

} // namespace sluice::store::embedded
