#include "connector/amqp/internal/stream/crc32.h"

#include <array>
#include <bit>
#include <cstring>

namespace sluice::connector::amqp::internal::stream {

namespace {

static_assert(std::endian::native == std::endian::little, "eight bytes are taken at a time");

constexpr auto polynomial = std::uint32_t{0xEDB88320};
constexpr auto slices = std::size_t{8};

using Tables = std::array<std::array<std::uint32_t, 256>, slices>;

constexpr Tables make_tables() {
    auto tables = Tables{};
    for (auto byte = std::uint32_t{0}; byte < 256; ++byte) {
        auto crc = byte;
        for (auto bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? polynomial : 0);
        }
        tables[0][byte] = crc;
    }
    for (auto slice = std::size_t{1}; slice < slices; ++slice) {
        for (auto byte = std::size_t{0}; byte < 256; ++byte) {
            auto before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8U) ^ tables[0][before & 0xFFU];
        }
    }
    return tables;
}

constexpr auto tables = make_tables();

} // namespace

std::uint32_t crc32(std::string_view bytes) {
    auto crc = std::uint32_t{0xFFFFFFFF};
    for (; bytes.size() >= slices; bytes.remove_prefix(slices)) {
        auto word = std::uint64_t{0};
        std::memcpy(&word, bytes.data(), slices);
        word ^= crc;
        crc = 0;
        for (auto at = std::size_t{0}; at < slices; ++at) {
            crc ^= tables[slices - 1 - at][(word >> (8 * at)) & 0xFFU];
        }
    }
    for (auto byte : bytes) {
        crc = (crc >> 8U) ^ tables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
    }
    return ~crc;
}

} // namespace sluice::connector::amqp::internal::stream
