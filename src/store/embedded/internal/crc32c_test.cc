#include "store/embedded/internal/crc32c.h"

#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace sluice::store::embedded {
namespace {

// RFC 3720, appendix B.4: CRC examples.
TEST(Crc32c, GivesTheValuesOfTheRfc) {
    EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
    EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
    EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
}

TEST(Crc32c, GoesOnFromAnEarlierPiece) {
    EXPECT_EQ(crc32c("456789", crc32c("123")), crc32c("123456789"));
}

// RFC 3720, section 12.1, bit by bit.
std::uint32_t crc32c_by_bits(std::string_view bytes) {
    auto crc = ~std::uint32_t{0};
    for (auto byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (auto bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
        }
    }
    return ~crc;
}

TEST(Crc32c, GivesTheSameForTextsOfAnyLength) {
    auto random = Random{2};
    auto text = std::string(20'000, ' ');
    for (auto& byte : text) {
        byte = static_cast<char>(random.below(256));
    }
    auto sizes =
        std::vector<std::size_t>{1023, 1024, 3071, 3072, 3073, 3080, 4096, 6144, 9999, text.size()};

    for (auto size : sizes) {
        auto part = std::string_view{text}.substr(text.size() - size);
        EXPECT_EQ(crc32c(part), crc32c_by_bits(part)) << size;
        EXPECT_EQ(crc32c(part.substr(7), crc32c(part.substr(0, 7))), crc32c_by_bits(part)) << size;
    }
}

#ifdef __x86_64__
// rocksdb::crc32c::Extend: unsigned, const char*, unsigned long.
constexpr auto rocksdb_symbol = "_ZN7rocksdb6crc32c6ExtendEjPKcm";

TEST(Crc32c, StandsInForTheLibrarysOwn) {
    auto taken = Dl_info{};
    auto replaced = Dl_info{};
    ASSERT_NE(::dladdr(::dlsym(RTLD_DEFAULT, rocksdb_symbol), &taken), 0);
    ASSERT_NE(::dladdr(::dlsym(RTLD_NEXT, rocksdb_symbol), &replaced), 0)
        << "RocksDB no longer has the function, or calls it by another name";

    EXPECT_EQ(std::string{taken.dli_fname}.find("librocksdb"), std::string::npos);
    EXPECT_NE(std::string{replaced.dli_fname}.find("librocksdb"), std::string::npos);
}

TEST(Crc32c, GivesWhatTheLibrarysOwnGives) {
    using Extend = std::uint32_t (*)(std::uint32_t, const char*, std::size_t);
    auto own = reinterpret_cast<Extend>(::dlsym(RTLD_NEXT, rocksdb_symbol));
    ASSERT_NE(own, nullptr);
    auto random = Random{1};
    auto text = std::string(300, ' ');
    for (auto& byte : text) {
        byte = static_cast<char>(random.below(256));
    }

    for (auto size = std::size_t{0}; size < text.size(); ++size) {
        auto before = static_cast<std::uint32_t>(random.below(1ULL << 32U));
        EXPECT_EQ(crc32c(std::string_view{text}.substr(0, size), before),
                  own(before, text.data(), size));
    }
}
#endif

} // namespace
} // namespace sluice::store::embedded
