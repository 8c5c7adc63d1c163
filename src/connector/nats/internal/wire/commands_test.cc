#include "connector/nats/internal/wire/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/nats/internal/wire/server_info.h"
#include "value/json.h"

namespace sluice::connector::nats::internal::wire {

namespace {

using ::testing::HasSubstr;

/// What stands in CONNECT.
Value connect_with(const Login& login) {
    auto out = std::string{};
    CommandWriter{out}.connect(login, "me", true);
    EXPECT_TRUE(out.starts_with("CONNECT {") && out.ends_with("}\r\n")) << out;
    return value::parse_json(std::string_view{out}.substr(8, out.size() - 10)).value();
}

} // namespace

TEST(CommandWriter, SubscribesAndPublishes) {
    auto out = std::string{};
    auto writer = CommandWriter{out};

    writer.subscribe("_INBOX.x.>", 3);
    writer.publish("$JS.API.next", "_INBOX.x.1", "{}");
    writer.publish("ack", {}, "+ACK");
    writer.unsubscribe(3);
    writer.ping();
    writer.pong();

    EXPECT_EQ(out,
              "SUB _INBOX.x.> 3\r\nPUB $JS.API.next _INBOX.x.1 2\r\n{}\r\nPUB ack 4\r\n+ACK\r\n"
              "UNSUB 3\r\nPING\r\nPONG\r\n");
}

TEST(CommandWriter, ShowsWhoWeAre) {
    auto user = connect_with({.user = "m\"e", .password = "p\\w"});
    auto token = connect_with({.token = "t"});
    auto nobody = connect_with({});

    EXPECT_EQ(user.find("user")->as_string(), "m\"e");
    EXPECT_EQ(user.find("pass")->as_string(), "p\\w");
    EXPECT_EQ(token.find("auth_token")->as_string(), "t");
    EXPECT_EQ(token.find("user"), nullptr);
    EXPECT_EQ(nobody.find("auth_token"), nullptr);
    for (const auto* name : {"headers", "no_responders", "tls_required"}) {
        EXPECT_TRUE(nobody.find(name)->as_bool()) << name;
    }
    EXPECT_FALSE(nobody.find("verbose")->as_bool());
}

TEST(ServerInfo, TellsOfTls) {
    auto plain = read_server_info(R"({"headers":true,"port":4222})");
    auto secure = read_server_info(R"({"tls_required":true,"tls_available":true})");

    ASSERT_TRUE(plain);
    EXPECT_TRUE(plain->has_headers);
    EXPECT_FALSE(plain->is_tls_required || plain->is_tls_offered);
    ASSERT_TRUE(secure);
    EXPECT_TRUE(secure->is_tls_required && secure->is_tls_offered);
}

TEST(ServerInfo, IsRefusedWhenItIsNone) {
    EXPECT_THAT(read_server_info("{").error().message, HasSubstr("no JSON"));
    EXPECT_THAT(read_server_info("[]").error().message, HasSubstr("expected a JSON object"));
    EXPECT_EQ(read_server_info("").error().code, Errc::Corrupt);
}

} // namespace sluice::connector::nats::internal::wire
