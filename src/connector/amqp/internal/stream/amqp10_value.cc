#include "connector/amqp/internal/stream/amqp10_value.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "connector/amqp/internal/attribute.h"
#include "connector/amqp/internal/stream/big_endian.h"

namespace sluice::connector::amqp::internal::stream {

namespace {

// A descriptor that is described itself, and so on: nobody sends more than one.
constexpr auto descriptions_max = 4;

unsigned take_code(std::string_view& bytes) {
    auto code = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    return code;
}

/// Part 1.2: the upper half of a format code says how wide a value is.
std::optional<std::size_t> take_width(unsigned code, std::string_view& bytes) {
    auto kind = code >> 4U;
    if (kind >= 0x4 && kind <= 0x9) {
        return kind == 0x4 ? 0 : std::size_t{1} << (kind - 5);
    }
    auto size_bytes = (kind & 1U) == 0 ? std::size_t{1} : std::size_t{4};
    if (kind < 0xA || bytes.size() < size_bytes) {
        return std::nullopt;
    }
    auto width = size_bytes == 1 ? static_cast<unsigned char>(bytes[0])
                                 : std::size_t{big_endian<std::uint32_t>(bytes.data())};
    bytes.remove_prefix(size_bytes);
    return width;
}

std::optional<Amqp10Value> take_described(std::string_view& bytes, int depth);

std::optional<Amqp10Value> take(std::string_view& bytes, int depth) {
    if (bytes.empty()) {
        return std::nullopt;
    }
    auto code = take_code(bytes);
    if (code == described_code) {
        return take_described(bytes, depth + 1);
    }
    auto width = take_width(code, bytes);
    if (!width || bytes.size() < *width) {
        return std::nullopt;
    }
    auto value = Amqp10Value{.code = code, .bytes = bytes.substr(0, *width)};
    bytes.remove_prefix(*width);
    return value;
}

std::optional<Amqp10Value> take_described(std::string_view& bytes, int depth) {
    auto begin = bytes;
    if (depth > descriptions_max || !take(bytes, depth) || !take(bytes, depth)) {
        return std::nullopt;
    }
    return Amqp10Value{.code = described_code,
                       .bytes = begin.substr(0, begin.size() - bytes.size())};
}

template <typename Number>
std::string number_in(std::string_view bytes) {
    return fmt::format("{}", +big_endian<Number>(bytes.data()));
}

} // namespace

std::optional<Amqp10Value> take_value(std::string_view& bytes) {
    return take(bytes, 0);
}

std::optional<Amqp10Elements> elements_of(const Amqp10Value& value) {
    switch (value.code) {
        case 0x45: return Amqp10Elements{};
        case 0xC0: // list8, map8
        case 0xC1:
            return value.bytes.empty() ? std::nullopt
                                       : std::optional{Amqp10Elements{
                                             .count = static_cast<unsigned char>(value.bytes[0]),
                                             .bytes = value.bytes.substr(1)}};
        case 0xD0: // list32, map32
        case 0xD1:
            return value.bytes.size() < 4
                       ? std::nullopt
                       : std::optional{
                             Amqp10Elements{.count = big_endian<std::uint32_t>(value.bytes.data()),
                                            .bytes = value.bytes.substr(4)}};
        default: return std::nullopt;
    }
}

std::optional<std::string_view> text_in(const Amqp10Value& value) {
    switch (value.code) {
        case 0xA1: // str8, str32, sym8, sym32
        case 0xB1:
        case 0xA3:
        case 0xB3: return value.bytes;
        default: return std::nullopt;
    }
}

std::optional<std::string_view> binary_in(const Amqp10Value& value) {
    return value.code == 0xA0 || value.code == 0xB0 ? std::optional{value.bytes} : std::nullopt;
}

std::optional<std::string> canonical_text(const Amqp10Value& value) {
    const auto& bytes = value.bytes;
    switch (value.code) {
        case 0x41: return "true";
        case 0x42: return "false";
        case 0x56: return bytes[0] != 0 ? "true" : "false";
        case 0x43: // uint, ulong: 0
        case 0x44: return "0";
        case 0x50: // ubyte, small uint, small ulong
        case 0x52:
        case 0x53: return number_in<std::uint8_t>(bytes);
        case 0x51: // byte, small int, small long
        case 0x54:
        case 0x55: return number_in<std::int8_t>(bytes);
        case 0x60: return number_in<std::uint16_t>(bytes);
        case 0x61: return number_in<std::int16_t>(bytes);
        case 0x70: return number_in<std::uint32_t>(bytes);
        case 0x71: return number_in<std::int32_t>(bytes);
        case 0x80: return number_in<std::uint64_t>(bytes);
        case 0x81: return number_in<std::int64_t>(bytes);
        case 0x83: return time_text_of_millis(big_endian<std::int64_t>(bytes.data()));
        case 0xA0:
        case 0xB0: return base64_encode(bytes);
        default: return std::nullopt;
    }
}

} // namespace sluice::connector::amqp::internal::stream
