#include "connector/amqp/internal/confirmations.h"

#include <gtest/gtest.h>

namespace sluice::connector::amqp::internal {

namespace {

TEST(AmqpConfirmations, GoAsFarAsEverythingIsDoneWith) {
    auto confirmations = Confirmations{};

    EXPECT_EQ(confirmations.pass_over(2), 0);
    EXPECT_EQ(confirmations.pass_over(1), 2);
    EXPECT_EQ(confirmations.pass_over(5), 2);
    EXPECT_EQ(confirmations.confirm(4), 5);
    EXPECT_EQ(confirmations.confirm(3), 5) << "never back";
    EXPECT_EQ(confirmations.confirm(9), 9);
    EXPECT_EQ(confirmations.pass_over(7), 9);
}

} // namespace

} // namespace sluice::connector::amqp::internal
