#include "http/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::http {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(UrlTest, TakesATargetApart) {
    auto target = parse_target("/v1/runs/a%2Fb?label=x%3Dy&wait=1+s&flag").value();

    EXPECT_THAT(target.segments, ElementsAre("v1", "runs", "a/b"));
    EXPECT_THAT(target.query,
                ElementsAre(Pair("label", "x=y"), Pair("wait", "1 s"), Pair("flag", "")));
    EXPECT_EQ(*target.find("wait"), "1 s");
    EXPECT_EQ(target.find("none"), nullptr);
}

TEST(UrlTest, KnowsTheRootPath) {
    EXPECT_TRUE(parse_target("/")->segments.empty());
    EXPECT_TRUE(parse_target("http://sluice.example:8080")->segments.empty());
    EXPECT_THAT(parse_target("https://sluice.example/a?b=c")->segments, ElementsAre("a"));
    EXPECT_TRUE(parse_target("/?a=b")->segments.empty());
    EXPECT_THAT(parse_target("/a/")->segments, ElementsAre("a"));
}

TEST(UrlTest, RefusesTargetsThatMeanMoreThanTheyShow) {
    for (const auto* text :
         {"", "a", "/../etc", "/a/%2e%2e/b", "/a//b", "/%zz", "/%4", "/a%00", "/%ff", "/a?b=%0a"}) {
        EXPECT_FALSE(parse_target(text)) << text;
    }
}

TEST(UrlTest, ReadsUrls) {
    auto url = parse_url("https://example.org/a?b#c").value();
    EXPECT_TRUE(url.is_secure);
    EXPECT_EQ(url.host, "example.org");
    EXPECT_EQ(url.port, 443);
    EXPECT_EQ(url.target, "/a?b");
    EXPECT_EQ(url.authority(), "example.org");
    EXPECT_EQ(parse_url("http://[::1]:8080?x")->authority(), "[::1]:8080");
    EXPECT_EQ(parse_url("http://[::1]:8080?x")->target, "/?x");
}

TEST(UrlTest, RefusesUrlsThatAreNone) {
    for (const auto* text :
         {"", "example.org", "ftp://a", "http://", "http://a:0", "http://a:99999", "http://u:p@a",
          "http://a b", "http://[::1", "http://a:1x"}) {
        EXPECT_FALSE(parse_url(text)) << text;
    }
}

TEST(UrlTest, DecodesWhatItEncoded) {
    auto text = std::string{"a/b c%~\xC3\xA9"};
    EXPECT_EQ(percent_encode(text), "a%2Fb%20c%25~%C3%A9");
    EXPECT_EQ(percent_decode(percent_encode(text)), text);
}

} // namespace
} // namespace sluice::http
