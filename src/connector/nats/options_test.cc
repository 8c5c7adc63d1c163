#include "connector/nats/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::connector::nats {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal_of(std::string_view url) {
    auto options = parse_url(url);
    EXPECT_FALSE(options) << url;
    return options ? std::string{} : options.error().message;
}

} // namespace

TEST(Options, HaveDefaults) {
    auto options = parse_url("nats://localhost");

    ASSERT_TRUE(options) << options.error().message;
    EXPECT_THAT(options->servers, ElementsAre("localhost:4222"));
    EXPECT_EQ(options->prefix, "sluice");
    EXPECT_EQ(options->group, "sluice");
    EXPECT_FALSE(options->tls.is_on);
    EXPECT_EQ(options->tls.verification, Verification::On);
    EXPECT_EQ(options->mode, Mode::Structured);
    EXPECT_FALSE(options->is_purged);
}

TEST(Options, AreReadFromAllPartsOfAUrl) {
    auto options = parse_url(
        "tls://me:p%40ss%2Fword@a:1,[::1]:2,c/orders-2?group=mine&replicas=3&"
        "duplicates=10m&purge=true&mode=binary&prefetch=8MiB&in_flight=100&"
        "timeout=5s&ca=/ca.pem&cert=/c.pem&key=/k.pem&verify=false&domain=hub");

    ASSERT_TRUE(options) << options.error().message;
    EXPECT_THAT(options->servers, ElementsAre("a:1", "[::1]:2", "c:4222"));
    EXPECT_EQ(options->login.user, "me");
    EXPECT_EQ(options->login.password, "p@ss/word");
    EXPECT_EQ(options->prefix, "orders-2");
    EXPECT_EQ(options->group, "mine");
    EXPECT_EQ(options->replicas, 3);
    EXPECT_EQ(options->duplicates, std::chrono::minutes{10});
    EXPECT_TRUE(options->is_purged);
    EXPECT_EQ(options->mode, Mode::Binary);
    EXPECT_EQ(options->prefetch_bytes, std::size_t{8} << 20U);
    EXPECT_EQ(options->in_flight_max, 100);
    EXPECT_EQ(options->send_time_max, std::chrono::seconds{5});
    EXPECT_EQ(options->tls.ca_file, "/ca.pem");
    EXPECT_EQ(options->tls.key_file, "/k.pem");
    EXPECT_EQ(options->tls.verification, Verification::Off);
    EXPECT_EQ(options->domain, "hub");
}

TEST(Options, TakeATokenAsNatsItselfDoes) {
    auto options = parse_url("nats://s3cret@host/");

    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->login.token, "s3cret");
    EXPECT_EQ(options->login.user, "");
}

TEST(Options, MayHaveNoGroup) {
    auto options = parse_url("nats://host?group=");

    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->group, "");
}

TEST(Options, ReadDirectlyUnlessToldOtherwise) {
    EXPECT_EQ(parse_url("nats://host")->reading, Reading::Direct);
    EXPECT_EQ(parse_url("nats://host?reading=direct")->reading, Reading::Direct);
    EXPECT_EQ(parse_url("nats://host?reading=library")->reading, Reading::Library);
}

TEST(Options, AreRefusedWithWhatToWriteInstead) {
    EXPECT_THAT(refusal_of("redis://host"), HasSubstr("nats://"));
    EXPECT_THAT(refusal_of("nats://"), HasSubstr("write nats://host:4222"));
    EXPECT_THAT(refusal_of("nats://host:0"), HasSubstr("from 1 to 65535"));
    EXPECT_THAT(refusal_of("nats://host:70000"), HasSubstr("from 1 to 65535"));
    EXPECT_THAT(refusal_of("nats://host:4222x"), HasSubstr("port"));
    EXPECT_THAT(refusal_of("nats://a,,b"), HasSubstr("is no server"));
    EXPECT_THAT(refusal_of("nats://host/Not.Good"), HasSubstr("small letters"));
    EXPECT_THAT(refusal_of("nats://host?replica=3"), HasSubstr("write replicas"));
    EXPECT_THAT(refusal_of("nats://host?zzzzzzzz=3"), HasSubstr("there are ca, cert"));
    EXPECT_THAT(refusal_of("nats://host?purge"), HasSubstr("purge=…"));
    EXPECT_THAT(refusal_of("nats://host?purge=yes"), HasSubstr("true or false"));
    EXPECT_THAT(refusal_of("nats://host?replicas=6"), HasSubstr("from 1 to 5"));
    EXPECT_THAT(refusal_of("nats://host?mode=batch"), HasSubstr("structured or binary"));
    EXPECT_THAT(refusal_of("nats://host?reading=fast"), HasSubstr("write direct or library"));
    EXPECT_THAT(refusal_of("nats://host?prefetch=1KiB"), HasSubstr("64KiB"));
    EXPECT_THAT(refusal_of("nats://host?duplicates=soon"), HasSubstr("such as 2m"));
    EXPECT_THAT(refusal_of("nats://host?group=a.b"), HasSubstr("letters, digits"));
    EXPECT_THAT(refusal_of("tls://host?cert=/c.pem"), HasSubstr("go together"));
    EXPECT_THAT(refusal_of("nats://host?ca=/c.pem"), HasSubstr("tls://"));
    EXPECT_THAT(refusal_of("nats://host?nkey=UA"), HasSubstr("nkey_seed"));
    EXPECT_THAT(refusal_of("nats://token@host?user=u"), HasSubstr("several ways"));
}

TEST(Options, KeepSecretsOutOfErrors) {
    EXPECT_THAT(refusal_of("nats://me:hunter2@host:bad"), Not(HasSubstr("hunter2")));
    EXPECT_THAT(refusal_of("nats://me:hunter2@host?token=hunter2"), Not(HasSubstr("hunter2")));
    EXPECT_THAT(refusal_of("nats://me:hunter2%00@host"), Not(HasSubstr("hunter2")));
    EXPECT_THAT(refusal_of("natss://me:hunter2@host"), Not(HasSubstr("hunter2")));
}

} // namespace sluice::connector::nats
