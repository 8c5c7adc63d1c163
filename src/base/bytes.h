#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice {

inline constexpr auto varint_bytes_max = std::size_t{10};

/// LEB128: seven bits a byte, lowest first. Returns where it ends.
inline char* write_varint(char* at, std::uint64_t number) {
    for (; number >= 0x80; number >>= 7U) {
        *at++ = static_cast<char>(number | 0x80);
    }
    *at++ = static_cast<char>(number);
    return at;
}

/// Appends numbers and texts to a string, in the layouts of docs/formats/encoding.md.
class Encoder {
public:
    explicit Encoder(std::string& out) : out_(out) {}

    void u8(std::uint8_t number) { out_.push_back(static_cast<char>(number)); }
    /// Big-endian, so that keys sort as their numbers do.
    void u16(std::uint16_t number) { big_endian(number); }
    void u32(std::uint32_t number) { big_endian(number); }
    void u64(std::uint64_t number) { big_endian(number); }
    /// Sign bit flipped, so that negative numbers sort first.
    void i64(std::int64_t number) { u64(static_cast<std::uint64_t>(number) ^ (1ULL << 63U)); }
    /// In as few bytes as it takes; no other form is read.
    void varint(std::uint64_t number) {
        if (number < 0x80) [[likely]] {
            u8(static_cast<std::uint8_t>(number));
            return;
        }
        char bytes[varint_bytes_max];
        out_.append(bytes, static_cast<std::size_t>(write_varint(bytes, number) - bytes));
    }
    /// Zigzag varint.
    void svarint(std::int64_t number) {
        varint((static_cast<std::uint64_t>(number) << 1U) ^
               static_cast<std::uint64_t>(number >> 63));
    }
    /// Varint length, then the bytes.
    void text(std::string_view bytes) {
        varint(bytes.size());
        out_.append(bytes);
    }
    void raw(std::string_view bytes) { out_.append(bytes); }

    std::string& out() { return out_; }

private:
    template <typename Number>
    void big_endian(Number number) {
        if constexpr (std::endian::native == std::endian::little) {
            number = std::byteswap(number);
        }
        char bytes[sizeof(Number)];
        std::memcpy(bytes, &number, sizeof(Number));
        out_.append(bytes, sizeof(Number));
    }

    std::string& out_;
};

/// Reads what an Encoder wrote. Past the end or malformed, every read fails with Corrupt and the
/// decoder stays where it was.
class Decoder {
public:
    explicit Decoder(std::string_view in) : in_(in) {}

    Result<std::uint8_t> u8();
    Result<std::uint16_t> u16();
    Result<std::uint32_t> u32();
    Result<std::uint64_t> u64();
    Result<std::int64_t> i64();
    Result<std::uint64_t> varint();
    Result<std::int64_t> svarint();
    /// A view into the bytes given to the constructor.
    Result<std::string_view> text();
    Result<std::string_view> raw(std::size_t size);

    /// The number a stored record begins with; Unsupported when it is not the one this program
    /// writes.
    Result<void> format(std::uint8_t expected, std::string_view what);

    bool is_at_end() const { return in_.empty(); }
    std::string_view rest() const { return in_; }

private:
    template <typename Number>
    Result<Number> big_endian();

    std::string_view in_;
};

} // namespace sluice
