#include "connector/amqp/internal/stream/crc32.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::connector::amqp::internal::stream {

namespace {

TEST(Crc32, IsTheOneOfZlib) {
    EXPECT_EQ(crc32(""), 0);
    EXPECT_EQ(crc32("a"), 0xE8B7BE43);
    EXPECT_EQ(crc32("123456789"), 0xCBF43926);
    EXPECT_EQ(crc32(std::string(1000, 'x')), 0x3B41C9E6);
}

} // namespace

} // namespace sluice::connector::amqp::internal::stream
