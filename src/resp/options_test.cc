#include "resp/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::resp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string fault_of(std::string_view text) {
    auto url = parse_url(text);
    return url ? "none" : url.error().message;
}

TEST(Url, HasPlaceLoginAndPath) {
    auto url = parse_url("rediss://me:p%40s%3As@redis.example:7000/a/b?db=3&verify=no&more=x%20y");

    ASSERT_TRUE(url) << url.error().message;
    EXPECT_EQ(url->server.host, "redis.example");
    EXPECT_EQ(url->server.port, 7000);
    EXPECT_EQ(url->server.user, "me");
    EXPECT_EQ(url->server.password, "p@s:s");
    EXPECT_EQ(url->server.database, 3);
    EXPECT_EQ(url->server.tls.encryption, Encryption::Unverified);
    EXPECT_EQ(url->path, "a/b");
    EXPECT_EQ(url->query.size(), 1);
    EXPECT_EQ(url->query[0].second, "x y");
    EXPECT_EQ(url->server.address(), "redis.example:7000");
}

TEST(Url, HasDefaults) {
    auto url = parse_url("redis://");

    ASSERT_TRUE(url);
    EXPECT_EQ(url->server.address(), "127.0.0.1:6379");
    EXPECT_EQ(url->server.tls.encryption, Encryption::None);
    EXPECT_EQ(parse_url("redis://:secret@[::1]:7/")->server.host, "::1");
    EXPECT_EQ(parse_url("redis://:secret@[::1]")->server.port, 6379);
    EXPECT_EQ(parse_url("rediss://h")->server.tls.encryption, Encryption::Verified);
}

TEST(Url, NamesAUnixSocket) {
    auto url = parse_url("redis+unix://:secret@/run/redis/a.sock?db=1");

    ASSERT_TRUE(url) << url.error().message;
    EXPECT_EQ(url->server.socket_path, "/run/redis/a.sock");
    EXPECT_EQ(url->server.password, "secret");
    EXPECT_EQ(url->server.address(), "/run/redis/a.sock");
}

TEST(Url, SaysWhatToWriteInstead) {
    EXPECT_THAT(fault_of("http://x"), HasSubstr("write redis://HOST:PORT/PREFIX"));
    EXPECT_THAT(fault_of("redis://h:0"), HasSubstr("the port is a whole number from 1 to 65535"));
    EXPECT_THAT(fault_of("redis://h:x"), HasSubstr("not x"));
    EXPECT_THAT(fault_of("redis://[::1"), HasSubstr("[::1]:6379"));
    EXPECT_THAT(fault_of("redis://h/?db=-1"), HasSubstr("db is"));
    EXPECT_THAT(fault_of("redis://h/?ca=x"), HasSubstr("rediss://"));
    EXPECT_THAT(fault_of("rediss://h/?verify=maybe"), HasSubstr("yes or no"));
    EXPECT_THAT(fault_of("rediss://h/?cert=x"), HasSubstr("belong together"));
    EXPECT_THAT(fault_of("redis://h/?connect_limit=5"), HasSubstr("such as 250ms"));
    EXPECT_THAT(fault_of("redis://h/?db"), HasSubstr("db=VALUE"));
    EXPECT_THAT(fault_of("redis+unix://"), HasSubstr("redis+unix:///run/redis.sock"));
}

TEST(Url, NeverShowsThePassword) {
    for (const auto* bad : {"redis://u:hunter2%@h", "redis://u:hunter2@h:x", "redis://u:hunter2@[h",
                            "rediss://u:hunter2@h/?cert=x", "htp://u:hunter2@h"}) {
        EXPECT_THAT(fault_of(bad), Not(HasSubstr("hunter2"))) << bad;
        EXPECT_NE(fault_of(bad), "none") << bad;
    }
}

} // namespace
} // namespace sluice::resp
