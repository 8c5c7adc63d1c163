#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace sluice::connector::amqp::internal::stream {

/// Whoever calls has seen that so many bytes are there.
template <std::integral Number>
Number big_endian(const char* bytes) {
    auto number = Number{0};
    std::memcpy(&number, bytes, sizeof(Number));
    if constexpr (std::endian::native == std::endian::little && sizeof(Number) > 1) {
        number = std::byteswap(number);
    }
    return number;
}

} // namespace sluice::connector::amqp::internal::stream
