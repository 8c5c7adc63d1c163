#include "connector/redis/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::connector::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string fault_of(std::string_view url) {
    auto options = parse_options(url);
    return options ? "none" : options.error().message;
}

std::string fault_of_form(const Value& form) {
    auto options = parse_form(form);
    return options ? "none" : options.error().message;
}

TEST(Options, ComeFromAUrl) {
    auto options = parse_options(
        "redis://me:pw@h:7/team?stream=a,b&reading=group&group=g&consumer=c&start=earliest&"
        "mode=binary&length_max=1000&patience=5s&claim_after=2m");

    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->server.address(), "h:7");
    EXPECT_EQ(options->prefix, "team");
    EXPECT_THAT(options->streams, ElementsAre("a", "b"));
    EXPECT_EQ(options->reading, Reading::Group);
    EXPECT_EQ(options->group + options->consumer, "gc");
    EXPECT_EQ(options->start, Start::Earliest);
    EXPECT_EQ(options->mode, Mode::Binary);
    EXPECT_EQ(options->length_max, 1000);
    EXPECT_EQ(options->patience, std::chrono::seconds{5});
    EXPECT_EQ(options->claim_after, std::chrono::minutes{2});
    EXPECT_FALSE(options->trim);
}

TEST(Options, ComeFromAForm) {
    auto options = parse_form(Value::object({{"url", "redis://h:7"},
                                             {"user", "me"},
                                             {"password", "pw"},
                                             {"streams", Value::list({Value{"a"}, Value{"b"}})},
                                             {"trim", "confirmed"},
                                             {"length_max", 5}}));

    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->server.user + options->server.password, "mepw");
    EXPECT_THAT(options->streams, ElementsAre("a", "b"));
    EXPECT_EQ(options->trim, Trim::Confirmed);
    EXPECT_EQ(options->length_max, 5);
}

TEST(Options, SayWhatToWriteInstead) {
    EXPECT_THAT(fault_of("redis://h/?nosuch=1"), HasSubstr("no parameter nosuch: there are"));
    EXPECT_THAT(fault_of("redis://h/?start=latest"), HasSubstr("first, earliest, new"));
    EXPECT_THAT(fault_of("redis://h/?reading=group&group="), HasSubstr("group=NAME"));
    EXPECT_THAT(fault_of("redis://h/?reading=group&trim=confirmed"), HasSubstr("reading=position"));
    EXPECT_THAT(fault_of("redis://h/?stream=a,,b"), HasSubstr("stream=a,b"));
    EXPECT_THAT(fault_of_form(Value::object({{"stream", "a"}})), HasSubstr("url is missing"));
    EXPECT_THAT(fault_of_form(Value{5}), HasSubstr("url is missing"));
    EXPECT_THAT(fault_of_form(Value::object({{"url", "redis://h"}, {"streams", "a"}})),
                HasSubstr("a list of names"));
    EXPECT_THAT(fault_of_form(Value::object({{"url", "redis://h"}, {"group", true}})),
                HasSubstr("group is a text"));
    EXPECT_THAT(fault_of_form(Value::object({{"url", "redis://u:hunter2@h:x"}})),
                Not(HasSubstr("hunter2")));
}

} // namespace
} // namespace sluice::connector::redis
