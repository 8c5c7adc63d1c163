#include "store/embedded/internal/crc32c.h"

#include <string>

#include <gtest/gtest.h>

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

} // namespace
} // namespace sluice::store::embedded
