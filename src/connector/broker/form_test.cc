#include "connector/broker/form.h"

#include <string>

#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::connector::broker {
namespace {

std::string shown(std::string_view url) {
    auto form = masked(Value::object({{"url", url}}));
    return std::string{form.find("url")->as_string()};
}

TEST(BrokerForm, MasksWhatAUrlHasOfSecrets) {
    EXPECT_EQ(shown("redis://h:6379/p?db=1"), "redis://h:6379/p?db=1");
    EXPECT_EQ(shown("redis://ann:pass@h:6379"), "redis://ann:…@h:6379");
    EXPECT_EQ(shown("redis://:p@ss@h"), "redis://:…@h");
    EXPECT_EQ(shown("nats://token@h"), "nats://…@h");
    EXPECT_EQ(shown("kafkas://h?key_password=x&group=g"), "kafkas://h?key_password=…&group=g");
    EXPECT_EQ(shown("a:b@h"), "a:…@h");
    EXPECT_EQ(shown(""), "");
}

TEST(BrokerForm, MasksMembersAtAnyDepth) {
    auto form =
        Value::object({{"password", "x"},
                       {"topics", Value::list({"a"})},
                       {"settings", Value::object({{"ssl.key.password", "y"}, {"linger.ms", 5}})}});

    EXPECT_EQ(
        value::to_json(masked(form)),
        R"({"password":"…","topics":["a"],"settings":{"ssl.key.password":"…","linger.ms":5}})");
}

TEST(BrokerForm, PutsSecretsIntoEveryText) {
    auto secrets = secret::Secrets{{}, {{"SLUICE_SECRET_KEY", "s3"}}};
    auto form = Value::object({{"password", "${secret:key}"},
                               {"topics", Value::list({"a", "b-${secret:key}"})},
                               {"n", 1}});

    auto expanded = expand(form, secrets, "");

    ASSERT_TRUE(expanded);
    EXPECT_EQ(value::to_json(*expanded), R"({"password":"s3","topics":["a","b-s3"],"n":1})");
    EXPECT_FALSE(expand(form, secrets, "another"));
}

} // namespace
} // namespace sluice::connector::broker
