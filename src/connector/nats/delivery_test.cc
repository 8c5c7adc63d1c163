#include "connector/nats/delivery.h"

#include <gtest/gtest.h>

namespace sluice::connector::nats {

TEST(Delivery, IsReadFromWhatServersSend) {
    auto delivery = parse_delivery("$JS.ACK.SLUICE_12.w0SxItwX.1.512.7.1794818932012730995.199999");

    ASSERT_TRUE(delivery);
    EXPECT_EQ(delivery->consumer, "SLUICE_12.w0SxItwX");
    EXPECT_EQ(delivery->stream_number, 512);
    EXPECT_EQ(delivery->consumer_number, 7);
    EXPECT_EQ(delivery->pending, 199'999);
}

TEST(Delivery, IsReadFromTheFormWithDomainAndAccount) {
    for (const auto* reply : {"$JS.ACK.hub.Abc.ORDERS.mine.3.20.9.1794818932012730995.4.token",
                              "$JS.ACK._.Abc.ORDERS.mine.3.20.9.1794818932012730995.4"}) {
        auto delivery = parse_delivery(reply);

        ASSERT_TRUE(delivery) << reply;
        EXPECT_EQ(delivery->consumer, "ORDERS.mine");
        EXPECT_EQ(delivery->stream_number, 20);
        EXPECT_EQ(delivery->consumer_number, 9);
        EXPECT_EQ(delivery->pending, 4);
    }
}

TEST(Delivery, IsNothingElse) {
    for (const auto* reply :
         {"", "$JS.ACK.", "$JS.ACK.S.C.1.2.3.4", "$JS.ACK.S.C.1.x.3.4.5", "$JS.ACK.S.C.1.0.3.4.5",
          "$JS.ACK.S.C.1.2.3.4.-1", "$JS.ACK.S.C.1.99999999999999999999.3.4.5", "_INBOX.abc.1",
          "$JS.ACK.D.S.C.1.2.3.4.5", "$JS.ACK.........."}) {
        EXPECT_FALSE(parse_delivery(reply)) << reply;
    }
}

} // namespace sluice::connector::nats
