#include "connector/amqp/internal/stream/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::connector::amqp::internal::stream {

namespace {

using namespace std::string_view_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class HandshakeTest : public ::testing::Test {
protected:
    HandshakeTest() { handshake_.begin(out_); }

    Result<bool> take(Key key, std::string_view content, bool is_response = true) {
        out_.clear();
        return handshake_.take({.key = key, .is_response = is_response, .content = content}, out_);
    }
    void get_to_tune() {
        ASSERT_EQ(take(Key::PeerProperties, "\0\0\0\x01\0\x01\0\0\0\0"sv), false);
        ASSERT_EQ(take(Key::SaslHandshake, "\0\0\0\x02\0\x01\0\0\0\x01\0\x05PLAIN"sv), false);
        ASSERT_EQ(take(Key::SaslAuthenticate, "\0\0\0\x03\0\x01"sv), false);
    }

    Handshake handshake_{{.user = "ann",
                          .password = "shibboleth",
                          .vhost = "/v",
                          .purpose = "test",
                          .heartbeat_seconds = 10}};
    std::string out_;
};

TEST_F(HandshakeTest, GetsIn) {
    EXPECT_THAT(out_, HasSubstr("connection_name"));

    get_to_tune();
    auto tuned = take(Key::Tune, "\0\x10\0\0\0\0\0\x3C"sv, false);
    auto answer = out_;
    auto is_in = take(Key::Open,
                      "\0\0\0\x05\0\x01\0\0\0\x02"
                      "\0\x0F"
                      "advertised_port"
                      "\0\x04"
                      "5552"
                      "\0\x0F"
                      "advertised_host"
                      "\0\x01"
                      "h"sv);

    EXPECT_EQ(tuned, false);
    EXPECT_EQ(answer,
              "\0\0\0\x0C\0\x14\0\x01\0\x10\0\0\0\0\0\x0A"
              "\0\0\0\x0C\0\x15\0\x01\0\0\0\x05\0\x02/v"sv)
        << "the heartbeat is ours";
    EXPECT_EQ(is_in, true);
    EXPECT_EQ(handshake_.node(), (Node{.host = "h", .port = 5552}));
}

TEST_F(HandshakeTest, ThePasswordGoesByPlain) {
    ASSERT_TRUE(take(Key::PeerProperties, "\0\0\0\x01\0\x01\0\0\0\0"sv));

    auto taken = take(Key::SaslHandshake, "\0\0\0\x02\0\x01\0\0\0\x01\0\x05PLAIN"sv);

    EXPECT_EQ(taken, false);
    EXPECT_THAT(out_, HasSubstr("\0\x05PLAIN\0\0\0\x0F\0ann\0shibboleth"sv));
}

TEST_F(HandshakeTest, SaysWhoIsRefusedButNotThePassword) {
    ASSERT_TRUE(take(Key::PeerProperties, "\0\0\0\x01\0\x01\0\0\0\0"sv));
    ASSERT_TRUE(take(Key::SaslHandshake, "\0\0\0\x02\0\x01\0\0\0\x01\0\x05PLAIN"sv));

    auto refused = take(Key::SaslAuthenticate, "\0\0\0\x03\0\x08"sv);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Unavailable);
    EXPECT_THAT(refused.error().message,
                HasSubstr("user ann cannot log in to virtual host /v: authentication failure"));
    EXPECT_THAT(refused.error().message, Not(HasSubstr("shibboleth")));
}

TEST_F(HandshakeTest, RefusesWhoeverKnowsNoPasswords) {
    ASSERT_TRUE(take(Key::PeerProperties, "\0\0\0\x01\0\x01\0\0\0\0"sv));

    EXPECT_FALSE(take(Key::SaslHandshake,
                      "\0\0\0\x02\0\x01\0\0\0\x01\0\x08"
                      "EXTERNAL"sv));
}

TEST_F(HandshakeTest, RefusesWhatComesOutOfTurn) {
    EXPECT_EQ(take(Key::Heartbeat, "", false), false) << "which may come at any time";
    EXPECT_FALSE(take(Key::Open, "\0\0\0\x05\0\x01\0\0\0\0"sv));
    EXPECT_FALSE(take(Key::PeerProperties, "\0\0\0\x01"sv));
}

TEST_F(HandshakeTest, ANodeNeedNotSayWhereItIs) {
    get_to_tune();
    ASSERT_TRUE(take(Key::Tune, "\0\x10\0\0\0\0\0\x3C"sv, false));

    EXPECT_EQ(take(Key::Open, "\0\0\0\x05\0\x01\0\0\0\0"sv), true);

    EXPECT_EQ(handshake_.node(), std::nullopt);
}

} // namespace

} // namespace sluice::connector::amqp::internal::stream
