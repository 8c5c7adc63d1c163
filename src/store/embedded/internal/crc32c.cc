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
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::string_view bytes,
                                                               std::uint32_t crc) {
    auto wide = std::uint64_t{crc};
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
        auto word = std::uint64_t{0};
        std::memcpy(&word, bytes.data(), 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    return by_table(bytes, static_cast<std::uint32_t>(wide));
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
