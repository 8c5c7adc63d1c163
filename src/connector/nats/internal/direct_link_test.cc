#include "connector/nats/internal/direct_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/nats/internal/steady.h"
#include "connector/nats/testing/certificates.h"
#include "connector/nats/testing/nats_server.h"

namespace sluice::connector::nats::internal {

namespace {

using testing::Certificates;
using ::testing::HasSubstr;
using testing::NatsServer;

constexpr auto answer_wait = Nanos{std::chrono::seconds{10}};

/// The next that comes, or null when it takes too long.
const Answer* await_answer(DirectLink& link) {
    auto until = steady_now() + answer_wait;
    while (steady_now() < until) {
        if (const auto* answer = link.next(); answer != nullptr) {
            return answer;
        }
        link.wait(std::chrono::milliseconds{100});
    }
    return nullptr;
}

/// Until there is a connection, or too long.
bool is_kept(DirectLink& link) {
    auto until = steady_now() + answer_wait;
    while (steady_now() < until) {
        if (link.keep(steady_now()).value()) {
            return true;
        }
        link.wait(std::chrono::milliseconds{10});
    }
    return false;
}

std::unique_ptr<Session> session_of(const Options& options) {
    return Session::open(options, "test", Session::Reconnect::Always).value();
}

class DirectLinkTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (!NatsServer::is_installed()) {
            GTEST_SKIP() << "nats-server is not installed";
        }
    }

    /// What the link publishes to itself comes back over this server.
    static void expect_echo(const NatsServer::Settings& settings,
                            const std::function<void(Options&)>& change = {}) {
        auto server = NatsServer::start(settings).value();
        auto options = server->options();
        if (change) {
            change(options);
        }
        auto session = session_of(options);
        auto link = DirectLink{*session, options};
        ASSERT_TRUE(is_kept(link)) << link.trouble();

        link.publish(fmt::format("{}1.2", link.prefix()), "reply", "hello");
        link.send();
        const auto* answer = await_answer(link);

        ASSERT_NE(answer, nullptr) << link.trouble();
        EXPECT_EQ(answer->subject, fmt::format("{}1.2", link.prefix()));
        EXPECT_EQ(answer->reply, "reply");
        EXPECT_EQ(answer->body, "hello");
        EXPECT_EQ(answer->status, "");
        EXPECT_EQ(link.trouble(), "");
    }
};

} // namespace

TEST_F(DirectLinkTest, BringsWhatIsSentToItsInbox) {
    expect_echo({});
}

TEST_F(DirectLinkTest, ShowsUserAndPassword) {
    expect_echo({.arguments = {"--user", "me", "--pass", "right"}},
                [](auto& options) { options.login = {.user = "me", .password = "right"}; });
}

TEST_F(DirectLinkTest, ShowsAToken) {
    expect_echo({.arguments = {"--auth", "t0ken"}},
                [](auto& options) { options.login = {.token = "t0ken"}; });
}

TEST_F(DirectLinkTest, IsEncryptedBehindInfo) {
    if (auto missing = Certificates::missing(); !missing.empty()) {
        GTEST_SKIP() << missing;
    }
    auto made = Certificates{};
    expect_echo({.arguments = {"--tlsverify", "--tlscert", made.path("server.pem"), "--tlskey",
                               made.path("server.key"), "--tlscacert", made.path("ca.pem")}},
                [&](auto& options) {
                    options.tls = {.is_on = true,
                                   .ca_file = made.path("ca.pem"),
                                   .certificate_file = made.path("client.pem"),
                                   .key_file = made.path("client.key")};
                });
}

TEST_F(DirectLinkTest, TrustsOnlyWhomItIsTold) {
    if (auto missing = Certificates::missing(); !missing.empty()) {
        GTEST_SKIP() << missing;
    }
    auto made = Certificates{};
    auto server = NatsServer::start({.arguments = {"--tls", "--tlscert", made.path("other.pem"),
                                                   "--tlskey", made.path("other.key")}})
                      .value();
    auto options = server->options();
    options.tls = {.is_on = true, .ca_file = made.path("ca.pem")};

    auto opened = wire::Connection::open(options, server->address(), "test");

    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, HasSubstr("certificate is not accepted"));
}

TEST_F(DirectLinkTest, TellsWhyItIsNotLetIn) {
    auto server = NatsServer::start({.arguments = {"--auth", "t0ken"}}).value();
    auto options = server->options();
    options.login = {.token = "t0ken"};
    auto session = session_of(options);
    options.login.token = "wr0ng";
    auto link = DirectLink{*session, options};

    EXPECT_FALSE(link.keep(steady_now()).value());

    EXPECT_THAT(link.trouble(), HasSubstr("Authorization Violation"));
    EXPECT_THAT(link.trouble(), ::testing::Not(HasSubstr("wr0ng")));
    // Not before its time, whatever is asked.
    EXPECT_FALSE(link.keep(Nanos{0}).value());
}

TEST_F(DirectLinkTest, HearsThatNobodyIsThereToAnswer) {
    auto server = NatsServer::start().value();
    auto session = session_of(server->options());
    auto link = DirectLink{*session, server->options()};
    ASSERT_TRUE(is_kept(link));

    link.publish("nobody", fmt::format("{}7.8", link.prefix()), "");
    link.send();
    const auto* answer = await_answer(link);

    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->status, "503");
    EXPECT_TRUE(answer->subject.ends_with(".7.8")) << answer->subject;
}

TEST_F(DirectLinkTest, ComesBackWithAnotherInbox) {
    auto server = NatsServer::start().value();
    auto session = session_of(server->options());
    auto link = DirectLink{*session, server->options()};
    ASSERT_TRUE(is_kept(link));
    auto before = link.incarnation();
    auto inbox = std::string{link.prefix()};

    server->kill();
    EXPECT_EQ(link.next(), nullptr);
    EXPECT_THAT(link.trouble(), HasSubstr("no connection to 127.0.0.1"));
    ASSERT_TRUE(server->start_again());

    ASSERT_TRUE(is_kept(link));
    EXPECT_NE(link.incarnation(), before);
    EXPECT_NE(link.prefix(), inbox);
    EXPECT_EQ(link.trouble(), "");
}

TEST_F(DirectLinkTest, TakesNothingForAnInboxThatIsClosed) {
    auto server = NatsServer::start().value();
    auto session = session_of(server->options());
    auto link = DirectLink{*session, server->options()};
    ASSERT_TRUE(is_kept(link));
    auto closed = fmt::format("{}1.1", link.prefix());
    link.publish(closed, {}, "old");

    link.close_inbox();
    ASSERT_TRUE(is_kept(link));
    link.publish(closed, {}, "old");
    link.publish(fmt::format("{}1.1", link.prefix()), {}, "new");
    link.send();
    const auto* answer = await_answer(link);

    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->body, "new");
}

TEST(DirectLink, LeavesToTheLibraryWhatItCannotDo) {
    auto options = Options{};
    EXPECT_TRUE(DirectLink::is_possible(options));

    options.login = {.credentials_file = "/me.creds"};
    EXPECT_FALSE(DirectLink::is_possible(options));
    options.login = {.nkey = "U"};
    EXPECT_FALSE(DirectLink::is_possible(options));
    options.login = {};
    options.reading = Reading::Library;
    EXPECT_FALSE(DirectLink::is_possible(options));
}

} // namespace sluice::connector::nats::internal
