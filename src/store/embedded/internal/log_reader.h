#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::store::embedded {

/// A number of as many bytes, as RocksDB writes them.
std::uint64_t little_endian(std::string_view bytes);

/// Where a log stops making sense.
struct LogDamage {
    std::uint64_t record_at =
        0; ///< Begin of the record that it is in: what stands before is whole.
    std::uint64_t found_at = 0;
    std::string reason;
};

/// Reads the records of a RocksDB log file (write-ahead log or manifest) that is in memory.
///
/// The file is blocks of 32 KiB. A record is one fragment, or several when it does not fit into its
/// block; a fragment is a masked CRC-32C (u32, little-endian like the length), its length (u16),
/// its type, its bytes. Less than a header at the end of a block is padding. We never recycle
/// files, so their longer headers count as damage.
class LogReader {
public:
    explicit LogReader(std::string_view file, std::uint64_t from = 0)
        : file_(file), at_(from), record_at_(from) {}

    /// The next whole record; nothing at the end and at damage. Valid until the next call.
    std::optional<std::string_view> next();
    /// Where the record given last begins.
    std::uint64_t record_at() const { return record_at_; }
    const std::optional<LogDamage>& damage() const { return damage_; }

private:
    enum class Type : std::uint8_t { Full = 1, First = 2, Middle = 3, Last = 4 };
    struct Fragment {
        Type type;
        std::string_view bytes;
    };

    void skip_padding();
    std::optional<Fragment> next_fragment();
    std::nullopt_t damaged(std::uint64_t found_at, std::string reason);

    std::string_view file_;
    std::uint64_t at_;
    std::uint64_t record_at_;
    std::string record_;
    std::optional<LogDamage> damage_;
};

/// Whether a whole record begins anywhere from here on, at whatever byte: damage before it is then
/// no torn end.
bool has_record_from(std::string_view file, std::uint64_t from);

} // namespace sluice::store::embedded
