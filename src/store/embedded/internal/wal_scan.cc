#include "store/embedded/internal/wal_scan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "store/embedded/internal/log_reader.h"

namespace sluice::store::embedded {
namespace {

// A record of the log is a batch: number of its first change (u64) and their count (u32),
// little-endian, then the changes.
constexpr auto batch_header_bytes = std::size_t{12};

Cut cut_from(std::string_view name, std::string_view file, std::uint64_t offset,
             std::string reason) {
    return Cut{std::string{name}, offset, file.size() - offset, std::move(reason)};
}

LogFault fault_of(std::string_view name, const LogDamage& damage) {
    return {std::string{name}, damage.found_at, damage.record_at,
            damage.reason + ", and readable records follow"};
}

/// Takes over what a change of the manifest says about logs. The fields before it are numbers and
/// texts, the ones behind it do not matter here.
Result<void> take_change(std::string_view change, ManifestScan& scan) {
    constexpr auto comparator = 1;
    constexpr auto log_number = 2;
    constexpr auto last_sequence = 4;
    constexpr auto database_id = (1 << 13) + 1;
    auto in = Decoder{change};
    while (!in.is_at_end()) {
        switch (TRY(in.varint())) {
            case comparator:
            case database_id: static_cast<void>(TRY(in.text())); break;
            case log_number: scan.oldest_log = std::max(scan.oldest_log, TRY(in.varint())); break;
            case last_sequence:
                scan.last_sequence = std::max(scan.last_sequence, TRY(in.varint()));
                break;
            case 3:   // Next file number.
            case 9:   // Previous log number.
            case 10:  // Oldest log number to keep.
            case 203: // Highest column family.
                static_cast<void>(TRY(in.varint()));
                break;
            default: return {};
        }
    }
    return {};
}

} // namespace

void WalScan::add(std::string_view name, std::string_view file) {
    if (fault_) {
        return;
    }
    if (!cuts_.empty()) {
        // The end was torn in an earlier file: anything readable here stands behind it.
        if (has_record_from(file, 0)) {
            const auto& cut = cuts_.front();
            set_fault({cut.file, cut.offset, cut.offset,
                       fmt::format("{}, and {} has records", cut.reason, name)});
        } else if (!file.empty()) {
            cuts_.push_back(cut_from(name, file, 0, "it stands behind a torn end"));
        }
        return;
    }
    auto reader = LogReader{file};
    while (auto record = reader.next()) {
        if (!take_record(name, reader.record_at(), *record)) {
            return;
        }
    }
    if (!reader.damage()) {
        return;
    }
    const auto& damage = *reader.damage();
    if (has_record_from(file, damage.found_at)) {
        set_fault(fault_of(name, damage));
    } else {
        cuts_.push_back(cut_from(name, file, damage.record_at, damage.reason));
    }
}

bool WalScan::take_record(std::string_view name, std::uint64_t offset, std::string_view record) {
    if (record.size() < batch_header_bytes) {
        set_fault({std::string{name}, offset, offset,
                   fmt::format("a batch of {} bytes, at least 12 were expected", record.size())});
        return false;
    }
    auto sequence = little_endian(record.substr(0, 8));
    // The first log may begin before the last change that a table file has.
    auto is_first = !has_records_;
    if (is_first ? sequence > next_sequence_ : sequence != next_sequence_) {
        set_fault({std::string{name}, offset, offset,
                   fmt::format("change {} where change {} was expected: commits are missing",
                               sequence, next_sequence_)});
        return false;
    }
    has_records_ = true;
    next_sequence_ = sequence + little_endian(record.substr(8, 4));
    return true;
}

void WalScan::set_fault(LogFault fault) {
    fault_ = std::move(fault);
    cuts_.clear();
}

ManifestScan scan_manifest(std::string_view name, std::string_view file) {
    auto scan = ManifestScan{};
    auto reader = LogReader{file};
    while (auto change = reader.next()) {
        if (auto taken = take_change(*change, scan); !taken) {
            scan.fault = LogFault{std::string{name}, reader.record_at(), reader.record_at(),
                                  taken.error().message};
            return scan;
        }
    }
    if (const auto& damage = reader.damage()) {
        if (has_record_from(file, damage->found_at)) {
            scan.fault = fault_of(name, *damage);
        } else {
            scan.cut = cut_from(name, file, damage->record_at, damage->reason);
        }
    }
    return scan;
}

} // namespace sluice::store::embedded
