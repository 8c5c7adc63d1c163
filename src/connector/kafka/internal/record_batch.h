#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace sluice::connector::kafka::internal {

/// How the records of a batch are packed, by the protocol's numbers.
enum class Packing : std::uint8_t { None, Gzip, Snappy, Lz4, Zstd };

/// A record batch where it lies, with the fields of its head. The layout is the protocol's; only
/// the batch's format, which comes early, says whether the rest is as expected.
class RecordBatch {
public:
    static constexpr auto format_read = char{2};

    /// The first of several, if all of it is there.
    static std::optional<RecordBatch> first_of(std::string_view bytes) {
        if (bytes.size() < head_bytes) {
            return std::nullopt;
        }
        auto length = std::max(RecordBatch{bytes}.field<std::int32_t>(8), std::int32_t{0});
        auto size = length_end + static_cast<std::size_t>(length);
        if (size < head_bytes || size > bytes.size()) {
            return std::nullopt;
        }
        return RecordBatch{bytes.substr(0, size)};
    }

    std::size_t size() const { return bytes_.size(); }
    char format() const { return bytes_[16]; }
    std::int64_t base_offset() const { return field<std::int64_t>(0); }
    std::int64_t last_offset() const { return base_offset() + field<std::int32_t>(23); }
    Packing packing() const { return static_cast<Packing>(field<std::uint16_t>(21) & 0x07U); }
    bool is_transactional() const { return (field<std::uint16_t>(21) & 0x10U) != 0; }
    /// It holds a mark of the broker's own: how a transaction ended.
    bool is_control() const { return (field<std::uint16_t>(21) & 0x20U) != 0; }
    std::int64_t producer() const { return field<std::int64_t>(43); }
    std::uint32_t count() const { return std::max(field<std::int32_t>(57), std::int32_t{0}); }
    std::string_view records() const { return bytes_.substr(head_bytes); }

private:
    static constexpr auto head_bytes = std::size_t{61};
    static constexpr auto length_end = std::size_t{12}; ///< The length counts what follows it.

    explicit RecordBatch(std::string_view bytes) : bytes_(bytes) {}

    template <typename Number>
    Number field(std::size_t at) const {
        auto number = Number{};
        std::memcpy(&number, bytes_.data() + at, sizeof number);
        return std::endian::native == std::endian::little ? std::byteswap(number) : number;
    }

    std::string_view bytes_;
};

} // namespace sluice::connector::kafka::internal
