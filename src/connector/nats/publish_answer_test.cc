#include "connector/nats/publish_answer.h"

#include <gtest/gtest.h>

namespace sluice::connector::nats {

TEST(PublishAnswer, SaysThatTheStreamHasIt) {
    EXPECT_TRUE(parse_publish_answer(R"({"stream":"SLUICE_0", "seq":12})"));
    EXPECT_TRUE(
        parse_publish_answer(R"({"stream":"S","domain":"hub", "seq":1,"duplicate": true})"));
    EXPECT_TRUE(parse_publish_answer(R"({"seq":1,"stream":"error"})"));
}

TEST(PublishAnswer, SaysWhyNot) {
    auto full = parse_publish_answer(
        R"({"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"},"stream":"S","seq":0})");
    auto large = parse_publish_answer(
        R"({"error":{"code":400,"err_code":10054,"description":"message size exceeds maximum allowed"}})");

    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, Errc::Unavailable);
    EXPECT_EQ(full.error().message, "the stream did not take it: maximum bytes exceeded");
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().code, Errc::LimitExceeded);
}

TEST(PublishAnswer, OfSomebodyElseIsNoConfirmation) {
    for (const auto* answer : {"", "ok", "{}", R"({"error":"x"})", R"({"stream":"S"})", "[1]"}) {
        EXPECT_FALSE(parse_publish_answer(answer)) << answer;
    }
}

} // namespace sluice::connector::nats
