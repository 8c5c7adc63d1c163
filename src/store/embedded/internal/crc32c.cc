#include "store/embedded/internal/crc32c.h"

#include <array>
#include <cstring>

namespace sluice::store::embedded {
namespace {

constexpr auto make_table() {
    auto table = std::array<std::uint32_t, 256>{};
    for (auto at = std::uint32_t{0}; at < table.size(); ++at) {
        auto crc = at;
        for (auto bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
        }
        table[at] = crc;
    }
    return table;
}

std::uint32_t by_table(std::string_view bytes, std::uint32_t crc) {
    static constexpr auto table = make_table();
    for (auto byte : bytes) {
        crc = (crc >> 8U) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
    }
    return crc;
}

#ifdef __x86_64__
// The instruction takes three cycles until its result can be used, and begins anew in each: three
// stretches side by side are three times as fast as one.
constexpr auto stretch_bytes = std::size_t{1024};

/// What a checksum becomes behind so many zero bytes, for each of its bytes.
using Shift = std::array<std::array<std::uint32_t, 256>, 4>;

constexpr std::uint32_t behind_zeros(std::uint32_t crc, std::size_t bytes) {
    constexpr auto table = make_table();
    for (; bytes > 0; --bytes) {
        crc = (crc >> 8U) ^ table[crc & 0xFFU];
    }
    return crc;
}

Shift make_shift(std::size_t bytes) {
    auto bits = std::array<std::uint32_t, 32>{};
    for (auto at = std::size_t{0}; at < bits.size(); ++at) {
        bits[at] = behind_zeros(1U << at, bytes);
    }
    auto shift = Shift{};
    for (auto place = std::size_t{0}; place < shift.size(); ++place) {
        for (auto byte = std::size_t{0}; byte < shift[place].size(); ++byte) {
            for (auto bit = std::size_t{0}; bit < 8; ++bit) {
                shift[place][byte] ^= ((byte >> bit) & 1U) != 0 ? bits[8 * place + bit] : 0;
            }
        }
    }
    return shift;
}

std::uint32_t shifted(const Shift& shift, std::uint64_t crc) {
    return shift[0][crc & 0xFFU] ^ shift[1][(crc >> 8U) & 0xFFU] ^ shift[2][(crc >> 16U) & 0xFFU] ^
           shift[3][(crc >> 24U) & 0xFFU];
}

__attribute__((target("sse4.2"))) std::uint64_t add_word(std::uint64_t crc, const char* place) {
    auto word = std::uint64_t{0};
    std::memcpy(&word, place, sizeof(word));
    return __builtin_ia32_crc32di(crc, word);
}

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::string_view bytes,
                                                               std::uint32_t crc) {
    static const auto behind_one = make_shift(stretch_bytes);
    static const auto behind_two = make_shift(2 * stretch_bytes);
    auto first = std::uint64_t{crc};
    for (; bytes.size() >= 3 * stretch_bytes; bytes.remove_prefix(3 * stretch_bytes)) {
        auto second = std::uint64_t{0};
        auto third = std::uint64_t{0};
        for (auto at = std::size_t{0}; at < stretch_bytes; at += 8) {
            first = add_word(first, bytes.data() + at);
            second = add_word(second, bytes.data() + stretch_bytes + at);
            third = add_word(third, bytes.data() + 2 * stretch_bytes + at);
        }
        first = shifted(behind_two, first) ^ shifted(behind_one, second) ^ third;
    }
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
        first = add_word(first, bytes.data());
    }
    return by_table(bytes, static_cast<std::uint32_t>(first));
}
#endif

} // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
#ifdef __x86_64__
    static const auto has_instruction = __builtin_cpu_supports("sse4.2") != 0;
    if (has_instruction) {
        return ~by_instruction(bytes, ~before);
    }
#endif
    return ~by_table(bytes, ~before);
}

} // namespace sluice::store::embedded

#ifdef __x86_64__
// Debian's RocksDB computes its checksums by a table, at a seventh of the speed: the dynamic linker
// takes this function in place of the library's own.
// docs/decisions/0020-rocksdb-checksums-by-ours.md
namespace rocksdb::crc32c {

// NOLINTNEXTLINE(readability-identifier-naming, misc-use-internal-linkage)
[[gnu::visibility("default")]] std::uint32_t Extend(std::uint32_t before, const char* bytes,
                                                    std::size_t size) {
    return sluice::store::embedded::crc32c({bytes, size}, before);
}

} // namespace rocksdb::crc32c
#endif
