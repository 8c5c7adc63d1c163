#include "store/redis/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::store::redis {
namespace {

using ::testing::HasSubstr;

std::string fault_of(std::string_view url) {
    auto options = parse_options(url);
    return options ? "none" : options.error().message;
}

TEST(Options, ComeFromAUrl) {
    auto options = parse_options(
        "redis://me:pw@h:7/team/a?durability=relaxed&shards=8&replicas=2&"
        "patience=5s&settings=trusted&db=1");

    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->server.address(), "h:7");
    EXPECT_EQ(options->server.database, 1);
    EXPECT_EQ(options->prefix, "team/a");
    EXPECT_EQ(options->durability, Durability::Relaxed);
    EXPECT_EQ(options->shard_count, 8);
    EXPECT_EQ(options->replicas, 2);
    EXPECT_EQ(options->patience, std::chrono::seconds{5});
    EXPECT_EQ(options->settings, Settings::Trusted);
}

TEST(Options, NameFurtherNodesOfACluster) {
    auto options = parse_options("redis://a:1/p?nodes=b:2,[::1]:3,10.0.0.1:4");

    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->nodes, (std::vector<Address>{{"b", 2}, {"::1", 3}, {"10.0.0.1", 4}}));
}

TEST(Options, AreStrictByDefault) {
    auto options = parse_options("redis://h");

    ASSERT_TRUE(options);
    EXPECT_EQ(options->prefix, "sluice");
    EXPECT_EQ(options->durability, Durability::Strict);
    EXPECT_EQ(options->settings, Settings::Checked);
    EXPECT_EQ(options->shard_count, 64);
    EXPECT_EQ(parse_options("redis+unix:///a.sock?prefix=b")->prefix, "b");
}

TEST(Options, SayWhatToWriteInstead) {
    EXPECT_THAT(fault_of("redis://h/?durability=always"),
                HasSubstr("one of strict, relaxed, memory"));
    EXPECT_THAT(fault_of("redis://h/?shards=0"), HasSubstr("from 1 to 4096"));
    EXPECT_THAT(fault_of("redis://h/?nosuch=1"), HasSubstr("no parameter nosuch: there are"));
    EXPECT_THAT(fault_of("redis://h/a%7Bb"), HasSubstr("letters, digits"));
    EXPECT_THAT(fault_of("redis://h/?patience=1"), HasSubstr("such as 250ms"));
    EXPECT_THAT(fault_of("redis://h/?nodes=a"),
                HasSubstr("a is no node of a cluster: write host:port"));
    EXPECT_THAT(fault_of("redis://h/?nodes=a:1,b:0"), HasSubstr("from 1 to 65535"));
    EXPECT_THAT(fault_of("redis://h/?nodes=:1"), HasSubstr("without an empty host"));
}

} // namespace
} // namespace sluice::store::redis
