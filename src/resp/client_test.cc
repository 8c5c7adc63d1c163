#include "resp/client.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resp/testing/redis_server.h"

namespace sluice::resp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::RedisServer;

class ClientOfAServer : public ::testing::Test {
public:
    void start(testing::Settings settings = {}) {
        if (!testing::is_redis_installed()) {
            GTEST_SKIP() << "redis-server is not installed";
        }
        server = RedisServer::start(std::move(settings));
        ASSERT_NE(server, nullptr) << "redis-server does not start";
    }
    std::string fault_of(const Options& options) {
        auto client = Client::connect(options);
        return client ? "none" : client.error().message;
    }

    std::unique_ptr<RedisServer> server;
};

TEST_F(ClientOfAServer, CallsAndHearsTheAnswer) {
    ASSERT_NO_FATAL_FAILURE(start());
    if (IsSkipped()) {
        return;
    }
    auto options = server->options();
    options.database = 2;
    auto client = Client::connect(options);
    ASSERT_TRUE(client) << client.error().message;

    auto value = std::string(1'000'000, 'x') + std::string("\0\r\n", 3);
    ASSERT_TRUE(client->call("SET", "key", value));
    auto got = client->call("GET", "key");
    ASSERT_TRUE(got);
    EXPECT_EQ(got->text(), value);
    EXPECT_TRUE(client->call("GET", "none")->is_null());
    EXPECT_EQ(client->call("INCR", "key").error().code, Errc::Internal);
    EXPECT_EQ(client->call("LPUSH", "key", "a").error().code, Errc::Conflict);
    EXPECT_EQ(client->call("NOTHING").error().code, Errc::Unsupported);
    EXPECT_EQ(client->call("HGETALL", "none")->kind(), Kind::Map);
    EXPECT_TRUE(client->is_open());
    options.database = 0;
    EXPECT_TRUE(Client::connect(options)->call("GET", "key")->is_null());
}

TEST_F(ClientOfAServer, AnswersToManyCommandsComeInOrder) {
    ASSERT_NO_FATAL_FAILURE(start({.arguments = {"--appendonly", "no"}}));
    if (IsSkipped()) {
        return;
    }
    auto client = Client::connect(server->options());
    ASSERT_TRUE(client);
    // More than the sockets hold in both directions: neither side may wait for the other.
    auto payload = std::string(1000, 'p');
    constexpr auto count = 50'000;
    for (auto number = 0; number < count; ++number) {
        client->commands().add("ECHO", payload + std::to_string(number));
    }
    ASSERT_TRUE(client->send());
    EXPECT_EQ(client->owed(), count);
    for (auto number = 0; number < count; ++number) {
        auto reply = client->receive();
        ASSERT_TRUE(reply) << reply.error().message;
        ASSERT_EQ(reply->text(), payload + std::to_string(number));
    }
    EXPECT_EQ(client->owed(), 0);
    EXPECT_FALSE(client->receive());
    EXPECT_TRUE(client->is_open());
}

TEST_F(ClientOfAServer, EveryCallHasATimeLimit) {
    ASSERT_NO_FATAL_FAILURE(start());
    if (IsSkipped()) {
        return;
    }
    auto options = server->options();
    options.call_limit = std::chrono::milliseconds{50};
    options.connect_limit = std::chrono::milliseconds{200};
    auto client = Client::connect(options);
    ASSERT_TRUE(client);
    server->pause();

    auto reply = client->call("PING");
    EXPECT_EQ(reply.error().code, Errc::Unavailable);
    EXPECT_THAT(reply.error().message, HasSubstr("no answer in time"));
    EXPECT_FALSE(client->is_open());
    EXPECT_EQ(Client::connect(options).error().code, Errc::Unavailable);
    server->resume();
    EXPECT_FALSE(client->call("PING"));
}

TEST_F(ClientOfAServer, HearsOfAServerThatIsGone) {
    ASSERT_NO_FATAL_FAILURE(start());
    if (IsSkipped()) {
        return;
    }
    auto client = Client::connect(server->options());
    ASSERT_TRUE(client);
    server->kill();

    EXPECT_EQ(client->call("PING").error().code, Errc::Unavailable);
    EXPECT_THAT(fault_of(server->options()), HasSubstr("Connection refused"));
}

TEST_F(ClientOfAServer, LogsIn) {
    ASSERT_NO_FATAL_FAILURE(start({.password = "hunter2"}));
    if (IsSkipped()) {
        return;
    }
    auto options = server->options();
    auto client = Client::connect(options);
    ASSERT_TRUE(client) << client.error().message;
    ASSERT_TRUE(client->call("ACL", "SETUSER", "me", "on", ">mine", "~*", "+@all"));
    options.user = "me";
    options.password = "mine";
    EXPECT_EQ(fault_of(options), "none");
    options.password = "hunter3";
    EXPECT_THAT(fault_of(options), HasSubstr("WRONGPASS"));
    EXPECT_THAT(fault_of(options), Not(HasSubstr("hunter3")));
    EXPECT_EQ(Client::connect(options).error().code, Errc::InvalidInput);
    options.password = "";
    EXPECT_THAT(fault_of(options), HasSubstr("NOAUTH"));
}

TEST_F(ClientOfAServer, SpeaksTls) {
    ASSERT_NO_FATAL_FAILURE(start({.tls = testing::Secured::Yes}));
    if (IsSkipped()) {
        return;
    }
    auto options = server->options();
    auto client = Client::connect(options);
    ASSERT_TRUE(client) << client.error().message;
    auto value = std::string(3'000'000, 'v');
    ASSERT_TRUE(client->call("SET", "key", value));
    EXPECT_EQ(client->call("GET", "key")->text(), value);

    auto by_name = options;
    by_name.host = "localhost";
    EXPECT_EQ(fault_of(by_name), "none");
    auto stranger = options;
    stranger.tls.ca_file.clear();
    EXPECT_THAT(fault_of(stranger), HasSubstr("certificate is not accepted"));
    stranger.tls.encryption = Encryption::Unverified;
    EXPECT_EQ(fault_of(stranger), "none");
    auto other_name = options;
    other_name.host = "127.0.0.2";
    EXPECT_NE(fault_of(other_name), "none");
    auto plain = options;
    plain.tls.encryption = Encryption::None;
    plain.connect_limit = std::chrono::milliseconds{500};
    EXPECT_NE(fault_of(plain), "none");
    auto missing = options;
    missing.tls.ca_file = "/nowhere.pem";
    EXPECT_THAT(fault_of(missing), HasSubstr("/nowhere.pem"));
}

TEST_F(ClientOfAServer, GoesByUnixSocket) {
    ASSERT_NO_FATAL_FAILURE(start());
    if (IsSkipped()) {
        return;
    }
    auto url = parse_url("redis+unix://" + (server->folder() / "redis.sock").string());
    ASSERT_TRUE(url);
    auto client = Client::connect(url->server);

    ASSERT_TRUE(client) << client.error().message;
    EXPECT_EQ(client->call("PING")->text(), "PONG");
    EXPECT_THAT(fault_of({.socket_path = std::string(200, 'x')}), HasSubstr("at most"));
    EXPECT_THAT(fault_of({.socket_path = "/nowhere"}), HasSubstr("No such file"));
}

} // namespace
} // namespace sluice::resp
