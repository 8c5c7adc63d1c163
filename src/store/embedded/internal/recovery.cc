#include "store/embedded/internal/recovery.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace sluice::store::embedded {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> fail_errno(std::string_view doing, const fs::path& path) {
    return fail(Errc::Io, "{} {}: {}", doing, path.string(), std::strerror(errno));
}

class File {
public:
    File(const fs::path& path, int flags) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC)) {}
    ~File() {
        if (is_open()) {
            ::close(descriptor_);
        }
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    bool is_open() const { return descriptor_ >= 0; }
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

Result<std::string> read_file(const fs::path& path) {
    auto file = File{path, O_RDONLY};
    if (!file.is_open()) {
        return fail_errno("opening", path);
    }
    auto content =
        std::string(static_cast<std::size_t>(::lseek(file.descriptor(), 0, SEEK_END)), '\0');
    auto filled = std::size_t{0};
    while (filled < content.size()) {
        auto got = ::pread(file.descriptor(), content.data() + filled, content.size() - filled,
                           static_cast<off_t>(filled));
        if (got <= 0) {
            return fail_errno("reading", path);
        }
        filled += static_cast<std::size_t>(got);
    }
    return content;
}

Result<void> cut_file(const fs::path& path, std::uint64_t bytes) {
    auto file = File{path, O_RDWR};
    if (!file.is_open()) {
        return fail_errno("opening", path);
    }
    if (::ftruncate(file.descriptor(), static_cast<off_t>(bytes)) != 0 ||
        ::fsync(file.descriptor()) != 0) {
        return fail_errno("cutting", path);
    }
    return {};
}

// What creating a store writes first, before it has a log.
constexpr auto first_manifest = "MANIFEST-000001";

struct Listing {
    std::vector<std::pair<std::uint64_t, std::string>> logs; // By number.
    bool has_current = false;
    bool has_data = false; // Tables, blobs or logs.
};

std::optional<std::uint64_t> number_of(const fs::path& name) {
    auto stem = name.stem().string();
    auto number = std::uint64_t{0};
    auto [end, error] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
    auto is_whole = error == std::errc{} && end == stem.data() + stem.size();
    return is_whole ? std::optional{number} : std::nullopt;
}

Result<Listing> list(const fs::path& path) {
    auto listing = Listing{};
    auto error = std::error_code{};
    for (const auto& entry : fs::directory_iterator{path, error}) {
        auto name = entry.path().filename();
        auto number = number_of(name);
        listing.has_current |= name == "CURRENT";
        if (number && name.extension() == ".log") {
            listing.logs.emplace_back(*number, name.string());
        }
        // A file on its way to another name is what a crash leaves of a store in the making.
        listing.has_data |= number && name.extension() != ".dbtmp";
    }
    if (error) {
        return fail(Errc::Io, "listing {}: {}", path.string(), error.message());
    }
    std::sort(listing.logs.begin(), listing.logs.end());
    return listing;
}

LogFault fault_at(std::string_view file, std::string reason) {
    return {std::string{file}, 0, 0, std::move(reason)};
}

std::string current_manifest(const fs::path& path) {
    auto current = read_file(path / "CURRENT");
    if (!current || !current->starts_with("MANIFEST-") || !current->ends_with('\n')) {
        return {};
    }
    current->pop_back();
    return *current;
}

ManifestScan scan_current_manifest(const fs::path& path, const std::string& name) {
    auto unreadable = ManifestScan{};
    if (name.empty()) {
        unreadable.fault = fault_at("CURRENT", "it names no manifest");
        return unreadable;
    }
    auto manifest = read_file(path / name);
    if (!manifest) {
        unreadable.fault = fault_at("CURRENT", manifest.error().message);
        return unreadable;
    }
    return scan_manifest(name, *manifest);
}

} // namespace

Result<Findings> examine(const fs::path& path) {
    auto listing = TRY(list(path));
    auto findings = Findings{};
    if (!listing.has_current) {
        findings.is_new = !listing.has_data;
        if (listing.has_data) {
            findings.faults.push_back(
                fault_at("CURRENT", "it is missing beside the store's other files"));
        }
        return findings;
    }
    auto name = current_manifest(path);
    auto manifest = scan_current_manifest(path, name);
    if (manifest.fault) {
        findings.faults.push_back(*manifest.fault);
        return findings;
    }
    std::erase_if(listing.logs, [&](const auto& log) { return log.first < manifest.oldest_log; });
    if (listing.logs.empty() && name != first_manifest) {
        findings.faults.push_back(
            fault_at(name, fmt::format("the log it expects, number {} or later, is missing",
                                       manifest.oldest_log)));
    }
    // A change of the manifest is durable before the logs it replaces go. So one that was torn
    // misses nothing, and for one that was damaged the logs do not follow on.
    auto scan = WalScan{manifest.last_sequence};
    for (const auto& [number, log] : listing.logs) {
        scan.add(log, TRY(read_file(path / log)));
    }
    findings.cuts = scan.cuts();
    if (manifest.cut) {
        findings.cuts.push_back(*manifest.cut);
    }
    if (scan.fault()) {
        findings.faults.push_back(*scan.fault());
    }
    return findings;
}

Result<void> apply_cuts(const fs::path& path, const std::vector<Cut>& cuts) {
    for (const auto& cut : cuts) {
        TRY(cut_file(path / cut.file, cut.offset));
    }
    return {};
}

Result<std::vector<Cut>> cuts_at_faults(const fs::path& path, const Findings& findings) {
    auto listing = TRY(list(path));
    auto cuts = findings.cuts;
    for (const auto& fault : findings.faults) {
        auto found = std::find_if(listing.logs.begin(), listing.logs.end(),
                                  [&](const auto& log) { return log.second == fault.file; });
        if (found == listing.logs.end()) {
            return fail(Errc::Corrupt, "{} at offset {} cannot be mended by cutting: {}",
                        fault.file, fault.offset, fault.reason);
        }
        for (auto log = found; log != listing.logs.end(); ++log) {
            auto size = fs::file_size(path / log->second);
            auto offset = log == found ? fault.record_at : 0;
            cuts.push_back({log->second, offset, size - offset, fault.reason});
        }
    }
    return cuts;
}

} // namespace sluice::store::embedded
