#include <gtest/gtest.h>

#include "http/client.h"

namespace sluice::http {
namespace {

TEST(AddressTest, KeepsRequestsOutOfInnerNetworks) {
    for (const auto* address : {"127.0.0.1",
                                "127.8.8.8",
                                "10.1.2.3",
                                "172.16.0.1",
                                "172.31.255.255",
                                "192.168.1.1",
                                "169.254.169.254",
                                "0.0.0.0",
                                "100.64.0.1",
                                "224.0.0.1",
                                "255.255.255.255",
                                "::1",
                                "::",
                                "fe80::1",
                                "fc00::1",
                                "ff02::1",
                                "::ffff:127.0.0.1",
                                "::ffff:10.0.0.1",
                                "64:ff9b::a00:1",
                                "2002:7f00:1::",
                                "2001:db8::1",
                                "not an address",
                                ""}) {
        EXPECT_FALSE(is_public_address(address)) << address;
    }
}

TEST(AddressTest, LetsThemOutToTheWorld) {
    for (const auto* address :
         {"8.8.8.8", "172.32.0.1", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8"}) {
        EXPECT_TRUE(is_public_address(address)) << address;
    }
}

} // namespace
} // namespace sluice::http
