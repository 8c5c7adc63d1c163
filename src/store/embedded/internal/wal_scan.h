#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/embedded/report.h"

namespace sluice::store::embedded {

/// Damage that no crash explains: something readable stands behind it, or something that was there
/// is gone.
struct LogFault {
    std::string file;
    std::uint64_t offset = 0;
    std::uint64_t record_at = 0; ///< Begin of the record that the offset is in.
    std::string reason;
};

/// What a store's manifest says: the list of its table files, as changes one after the other.
struct ManifestScan {
    std::optional<Cut> cut;
    std::optional<LogFault> fault;
    std::uint64_t last_sequence = 0; ///< No change after this one is in a table file.
    std::uint64_t oldest_log =
        0; ///< Logs before this one hold nothing that the table files have not.
};

ManifestScan scan_manifest(std::string_view name, std::string_view file);

/// What the log files of a store say, read one after the other in the order of their numbers.
///
/// Damage with nothing readable behind it, in its own file or a later one, is the torn end of a
/// commit that nobody was told of. Every other damage is a fault. RocksDB's own reader would pass
/// over zeros and over missing files.
class WalScan {
public:
    /// The logs follow on table files that have every change up to this one.
    explicit WalScan(std::uint64_t last_sequence) : next_sequence_(last_sequence + 1) {}

    void add(std::string_view name, std::string_view file);

    const std::vector<Cut>& cuts() const { return cuts_; }
    const std::optional<LogFault>& fault() const { return fault_; }

private:
    bool take_record(std::string_view name, std::uint64_t offset, std::string_view record);
    void set_fault(LogFault fault);

    std::vector<Cut> cuts_;
    std::optional<LogFault> fault_;
    std::uint64_t next_sequence_;
    bool has_records_ = false;
};

} // namespace sluice::store::embedded
