#include "connector/kafka/options.h"

#include <gtest/gtest.h>

#include "connector/kafka/internal/client.h"
#include "connector/kafka/internal/names.h"
#include "connector/kafka/internal/properties.h"

namespace sluice::connector::kafka {
namespace {

std::string refusal(std::string_view url) {
    auto options = parse_url(url);
    EXPECT_FALSE(options.has_value()) << url;
    return options ? "" : options.error().message;
}

TEST(Options, AUrlNamesBrokersTheUserAndThePrefix) {
    auto options = parse_url("kafka://ann:s%40cret@one,two:9093,[::1]:9094/orders");

    ASSERT_TRUE(options.has_value()) << options.error().message;
    EXPECT_EQ(options->brokers, (std::vector<std::string>{"one:9092", "two:9093", "[::1]:9094"}));
    EXPECT_EQ(options->user, "ann");
    EXPECT_EQ(options->password, "s@cret");
    EXPECT_EQ(options->prefix, "orders");
    EXPECT_FALSE(options->tls.is_on);
}

TEST(Options, LittleIsNeeded) {
    auto options = parse_url("kafka://localhost");

    ASSERT_TRUE(options.has_value());
    EXPECT_EQ(*options, Options{.brokers = {"localhost:9092"}});
    EXPECT_EQ(options->group_name(), "sluice");
}

TEST(Options, AQueryHoldsParametersAndProperties) {
    auto options = parse_url(
        "kafkas://h/p?ca=/ca.pem&certificate=/c.pem&key=/k.pem&verify=false"
        "&mechanism=SCRAM-SHA-512&group=g&consume=group&start=end&mode=binary"
        "&topics=a,b.c&replication=3&create.retention.ms=-1"
        "&compression.codec=lz4");

    ASSERT_TRUE(options.has_value()) << options.error().message;
    EXPECT_TRUE(options->tls.is_on);
    EXPECT_FALSE(options->tls.is_verified);
    EXPECT_EQ(options->tls.ca, "/ca.pem");
    EXPECT_EQ(options->mechanism, "SCRAM-SHA-512");
    EXPECT_EQ(options->group_name(), "g");
    EXPECT_EQ(options->consume, Consume::Group);
    EXPECT_EQ(options->start, Start::End);
    EXPECT_EQ(options->mode, Mode::Binary);
    EXPECT_EQ(options->topics, (std::vector<std::string>{"a", "b.c"}));
    EXPECT_EQ(options->replication, 3);
    EXPECT_EQ(options->creation.at("retention.ms"), "-1");
    EXPECT_EQ(options->settings.at("compression.codec"), "lz4");
}

TEST(Options, WhatIsWrongIsNamedWithWhatToWriteInstead) {
    for (const auto& [url, part] : std::vector<std::pair<std::string, std::string>>{
             {"redis://h", "kafka://"},
             {"kafka://", "host:port"},
             {"kafka://h:0", "1 to 65535"},
             {"kafka://h:99999", "1 to 65535"},
             {"kafka://h:9a", "1 to 65535"},
             {"kafka://h,,g", "host:port"},
             {"kafka://[::1", "brackets"},
             {"kafka://:p@h", "user"},
             {"kafka://h/a/b", "topic"},
             {"kafka://h?x", "name=value"},
             {"kafka://h?grup=g", "group"},
             {"kafka://h?group=", "expected a value"},
             {"kafka://h?mode=both", "structured or binary"},
             {"kafka://h?replication=0", "1 to 100"},
             {"kafka://h?topics=a,,b", "separated by commas"},
             {"kafka://h?ca=/x", "kafkas://"},
             {"kafkas://h?certificate=/x", "both certificate and key"},
             {"kafka://h?broker=0.9&mode=binary", "no headers"},
             {"kafka://h/%zz", "%25"},
             {"kafka://h?group=a%00b", "control characters"},
             {"kafka://h?no.such.property=1", "No such configuration property"},
             {"kafka://h?linger.ms=soon", "linger.ms"},
             {"kafka://h?acks=1", "unknown parameter"},
             {"kafka://h?enable.auto.commit=true", "enable.auto.commit"},
             {"kafka://h?group.id=x", "write group"},
             {"kafka://h?auto.offset.reset=latest", "write start"},
             {"kafka://h?plugin.library.paths=x", "no code is loaded"},
             {"kafka://h?message.timeout.ms=5", "order"},
         }) {
        EXPECT_NE(refusal(url).find(part), std::string::npos) << url << ": " << refusal(url);
    }
}

TEST(Options, NoErrorShowsAPassword) {
    EXPECT_EQ(refusal("kafka://ann:hush@h:0").find("hush"), std::string::npos);
    EXPECT_EQ(refusal("kafka://ann:hush@/p").find("hush"), std::string::npos);
    EXPECT_EQ(refusal("kafka://ann:hush%zz@h").find("hush"), std::string::npos);
    auto broken = parse_url("kafka://ann:hush@h")->settings;
    EXPECT_TRUE(broken.empty());
    EXPECT_EQ(internal::scrubbed("login of ann with hush, hush!", {"hush"}),
              "login of ann with ***, ***!");
}

TEST(Options, AFormHasTheSameAsMembers) {
    auto options = parse_form(Value::object(
        {{"url", "kafka://h"},
         {"user", "ann"},
         {"password", "secret"},
         {"topics", Value::list({"a", "b"})},
         {"replication", 2},
         {"settings", Value::object({{"fetch.wait.max.ms", 20}, {"debug", "fetch"}})}}));

    ASSERT_TRUE(options.has_value()) << options.error().message;
    EXPECT_EQ(options->user, "ann");
    EXPECT_EQ(options->topics, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(options->replication, 2);
    EXPECT_EQ(options->settings.at("fetch.wait.max.ms"), "20");
}

TEST(Options, AFormIsRefusedWithTheMember) {
    auto refused = [](std::initializer_list<value::Member> members) {
        auto options = parse_form(Value::object(members));
        return options ? std::string{} : options.error().message;
    };

    EXPECT_NE(refused({}).find("url"), std::string::npos);
    EXPECT_NE(refused({{"url", 1}}).find("url"), std::string::npos);
    EXPECT_NE(refused({{"url", "kafka://h"}, {"topic", Value::object({})}}).find("topic"),
              std::string::npos);
    EXPECT_NE(refused({{"url", "kafka://h"}, {"tpics", "a"}}).find("expected topics"),
              std::string::npos);
    EXPECT_NE(refused({{"url", "kafka://h"}, {"password", "x"}}).find("needs a user"),
              std::string::npos);
    EXPECT_NE(refused({{"url", "kafka://h"},
                       {"settings", Value::object({{"sasl.kerberos.kinit.cmd", "rm"}})}})
                  .find("run commands"),
              std::string::npos);
    EXPECT_NE(refused({{"url", "kafka://h?sasl.kerberos.principal=x"}}).find("operator"),
              std::string::npos);
    EXPECT_FALSE(parse_form(Value{"kafka://h"}).has_value());
}

TEST(Options, EveryRoleHasSettingsThatTheClientTakes) {
    auto options = parse_url("kafkas://ann:secret@h?ca=/ca.pem");
    auto old = parse_url("kafka://h?broker=0.9");

    for (auto role : {internal::Role::Consumer, internal::Role::Producer}) {
        EXPECT_TRUE(internal::make_conf(role, *options).has_value());
        EXPECT_TRUE(internal::make_conf(role, *old).has_value());
    }
}

TEST(PartitionName, IsATopicAndANumber) {
    auto name = internal::parse_partition_name("a.b/12");

    ASSERT_TRUE(name.has_value());
    EXPECT_EQ(*name, (internal::PartitionName{.topic = "a.b", .partition = 12}));
    EXPECT_EQ(name->text(), "a.b/12");
    for (const auto* wrong :
         {"", "a", "a/", "/1", "a/-1", "a/1x", "a/99999999999", "a b/1", "../1"}) {
        EXPECT_FALSE(internal::parse_partition_name(wrong).has_value()) << wrong;
    }
}

} // namespace
} // namespace sluice::connector::kafka
