#include "connector/nats/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/nats/testing/certificates.h"
#include "connector/nats/testing/nats_server.h"

namespace sluice::connector::nats {

namespace {

using testing::Certificates;
using ::testing::HasSubstr;
using testing::NatsServer;
using ::testing::Not;

Result<std::unique_ptr<Session>> try_open(const Options& options) {
    return Session::open(options, "test", Session::Reconnect::Always);
}

class SessionTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (!NatsServer::is_installed()) {
            GTEST_SKIP() << "nats-server is not installed";
        }
    }
};

} // namespace

TEST(Backoff, GrowsAndIsNeverTheSameForAll) {
    auto random = Random{7};

    EXPECT_LT(backoff(0, random), std::chrono::milliseconds{51});
    EXPECT_GE(backoff(0, random), std::chrono::milliseconds{25});
    EXPECT_GE(backoff(6, random), std::chrono::milliseconds{1600});
    for (auto attempt : {8UL, 100UL, ~0UL}) {
        EXPECT_LE(backoff(attempt, random), std::chrono::seconds{5});
        EXPECT_GE(backoff(attempt, random), std::chrono::milliseconds{2500});
    }
    EXPECT_NE(backoff(8, random), backoff(8, random));
}

TEST_F(SessionTest, ShowsUserAndPassword) {
    auto server = NatsServer::start({.arguments = {"--user", "me", "--pass", "right"}}).value();
    auto options = server->options();
    options.login = {.user = "me", .password = "right"};
    EXPECT_TRUE(try_open(options));

    options.login.password = "wr0ng";
    auto refused = try_open(options);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::InvalidInput);
    EXPECT_THAT(refused.error().message, Not(HasSubstr("wr0ng")));
    options.login = {};
    EXPECT_FALSE(try_open(options));
}

TEST_F(SessionTest, ShowsAToken) {
    auto server = NatsServer::start({.arguments = {"--auth", "t0ken"}}).value();
    auto options = server->options();
    options.login = {.token = "t0ken"};
    EXPECT_TRUE(try_open(options));

    options.login.token = "another";
    EXPECT_FALSE(try_open(options));
}

TEST_F(SessionTest, ShowsAKey) {
    constexpr auto key =
        std::string_view{"UA45BBM6VQSPBEQ4XH6Q7U526UECS5CAA56WD3RUMKQCHN5O3BNIJHEV"};
    auto configuration = fmt::format("authorization: {{ users: [ {{ nkey: {} }} ] }}", key);
    auto server = NatsServer::start({.configuration = configuration}).value();
    auto options = server->options();
    options.login = {.nkey = std::string{key}, .nkey_seed_file = NATS_TESTDATA "/user.nk"};

    auto shown = try_open(options);

    EXPECT_TRUE(shown) << shown.error().message;
    options.login.nkey_seed_file = NATS_TESTDATA "/user.creds";
    EXPECT_FALSE(try_open(options));
}

TEST_F(SessionTest, ShowsCredentials) {
    auto server = NatsServer::start(
                      {.arguments = {"-c", NATS_TESTDATA "/operator.conf"}, .has_streams = false})
                      .value();
    auto options = server->options();
    options.login = {.credentials_file = NATS_TESTDATA "/user.creds"};

    auto shown = try_open(options);

    EXPECT_TRUE(shown) << shown.error().message;
    options.login.credentials_file = "/nowhere.creds";
    EXPECT_FALSE(try_open(options));
    options.login = {};
    EXPECT_FALSE(try_open(options));
}

TEST_F(SessionTest, TrustsOnlyWhomItIsTold) {
    if (auto missing = Certificates::missing(); !missing.empty()) {
        GTEST_SKIP() << missing;
    }
    auto made = Certificates{};
    auto server = NatsServer::start({.arguments = {"--tls", "--tlscert", made.path("server.pem"),
                                                   "--tlskey", made.path("server.key")}})
                      .value();
    auto options = server->options();
    options.tls = {.is_on = true, .ca_file = made.path("ca.pem")};
    auto trusted = try_open(options);
    EXPECT_TRUE(trusted) << trusted.error().message;

    options.tls.ca_file = "";
    EXPECT_FALSE(try_open(options));
    options.tls.ca_file = "/nowhere.pem";
    EXPECT_FALSE(try_open(options));
    options.tls = {.is_on = true, .verification = Verification::Off};
    auto unchecked = try_open(options);
    EXPECT_TRUE(unchecked) << unchecked.error().message;
}

TEST_F(SessionTest, HoldsACertificateAgainstTheName) {
    if (auto missing = Certificates::missing(); !missing.empty()) {
        GTEST_SKIP() << missing;
    }
    auto made = Certificates{};
    auto server = NatsServer::start({.arguments = {"--tls", "--tlscert", made.path("other.pem"),
                                                   "--tlskey", made.path("other.key")}})
                      .value();
    auto options = server->options();
    options.tls = {.is_on = true, .ca_file = made.path("ca.pem")};

    EXPECT_FALSE(try_open(options));
}

TEST_F(SessionTest, ShowsACertificate) {
    if (auto missing = Certificates::missing(); !missing.empty()) {
        GTEST_SKIP() << missing;
    }
    auto made = Certificates{};
    auto server =
        NatsServer::start(
            {.arguments = {"--tlsverify", "--tlscert", made.path("server.pem"), "--tlskey",
                           made.path("server.key"), "--tlscacert", made.path("ca.pem")}})
            .value();
    auto options = server->options();
    options.tls = {.is_on = true,
                   .ca_file = made.path("ca.pem"),
                   .certificate_file = made.path("client.pem"),
                   .key_file = made.path("client.key")};
    auto shown = try_open(options);
    EXPECT_TRUE(shown) << shown.error().message;

    options.tls.certificate_file = "";
    options.tls.key_file = "";
    auto hidden = try_open(options);
    EXPECT_TRUE(!hidden || !(*hidden)->is_connected());
}

} // namespace sluice::connector::nats
