#include "base/bytes.h"

namespace sluice {

template <typename Number>
Result<Number> Decoder::big_endian() {
    auto bytes = TRY(raw(sizeof(Number)));
    auto number = Number{0};
    for (auto byte : bytes) {
        number = static_cast<Number>((static_cast<std::uint64_t>(number) << 8U) |
                                     static_cast<unsigned char>(byte));
    }
    return number;
}

Result<std::uint8_t> Decoder::u8() {
    return big_endian<std::uint8_t>();
}
Result<std::uint16_t> Decoder::u16() {
    return big_endian<std::uint16_t>();
}
Result<std::uint32_t> Decoder::u32() {
    return big_endian<std::uint32_t>();
}
Result<std::uint64_t> Decoder::u64() {
    return big_endian<std::uint64_t>();
}

Result<std::int64_t> Decoder::i64() {
    auto number = TRY(u64());
    return static_cast<std::int64_t>(number ^ (1ULL << 63U));
}

Result<std::uint64_t> Decoder::varint() {
    auto number = std::uint64_t{0};
    for (auto at = std::size_t{0}; at < in_.size() && at < 10; ++at) {
        auto byte = static_cast<unsigned char>(in_[at]);
        auto is_padded = at > 0 && byte == 0;
        if (is_padded || (at == 9 && byte > 1)) {
            break;
        }
        number |= static_cast<std::uint64_t>(byte & 0x7FU) << (7 * at);
        if (byte < 0x80) {
            in_.remove_prefix(at + 1);
            return number;
        }
    }
    return fail(Errc::Corrupt, "a number is cut short, padded or longer than 64 bits");
}

Result<std::int64_t> Decoder::svarint() {
    auto number = TRY(varint());
    return static_cast<std::int64_t>((number >> 1U) ^ (~(number & 1U) + 1));
}

Result<std::string_view> Decoder::text() {
    auto before = in_;
    auto size = TRY(varint());
    if (size > in_.size()) {
        auto left = in_.size();
        in_ = before;
        return fail(Errc::Corrupt, "a text of {} bytes is cut short at {}", size, left);
    }
    return raw(size);
}

Result<std::string_view> Decoder::raw(std::size_t size) {
    if (size > in_.size()) {
        return fail(Errc::Corrupt, "{} bytes expected, {} left", size, in_.size());
    }
    auto bytes = in_.substr(0, size);
    in_.remove_prefix(size);
    return bytes;
}

Result<void> Decoder::format(std::uint8_t expected, std::string_view what) {
    auto found = TRY(u8());
    if (found != expected) {
        return fail(Errc::Unsupported, "{} of format {}: this program reads {}", what, found,
                    expected);
    }
    return {};
}

} // namespace sluice
