#include "trigger/pattern.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "trigger/testing/arbitrary_spec.h"

namespace sluice::trigger {
namespace {

TEST(TextPattern, IsExactWithoutAStar) {
    auto pattern = TextPattern::parse("order.paid").value();

    EXPECT_EQ(pattern.kind, TextPattern::Kind::Exact);
    EXPECT_TRUE(pattern.matches("order.paid"));
    EXPECT_FALSE(pattern.matches("order.paid.late"));
    EXPECT_FALSE(pattern.matches("order.pai"));
    EXPECT_FALSE(pattern.matches(""));
}

TEST(TextPattern, IsAPrefixWithAStarAtTheEnd) {
    auto pattern = TextPattern::parse("img/*").value();

    EXPECT_EQ(pattern, (TextPattern{.kind = TextPattern::Kind::Prefix, .text = "img/"}));
    EXPECT_TRUE(pattern.matches("img/"));
    EXPECT_TRUE(pattern.matches("img/1"));
    EXPECT_FALSE(pattern.matches("img"));
}

TEST(TextPattern, IsAnythingWhenItIsAStar) {
    auto pattern = TextPattern::parse("*").value();

    EXPECT_EQ(pattern, TextPattern{});
    EXPECT_TRUE(pattern.matches(""));
    EXPECT_TRUE(pattern.matches("anything"));
}

TEST(TextPattern, RefusesAStarElsewhere) {
    for (const auto* text : {"*.paid", "a*b", "a**", "**"}) {
        auto pattern = TextPattern::parse(text);

        ASSERT_FALSE(pattern) << text;
        EXPECT_EQ(pattern.error().code, Errc::InvalidInput);
    }
    EXPECT_EQ(TextPattern::parse("a*bc").error().message,
              "found a '*' at byte 1 of 4, expected one only at the end");
}

TEST(TextPattern, OfNoTextMatchesOnlyNoText) {
    auto pattern = TextPattern::parse("").value();

    EXPECT_TRUE(pattern.matches(""));
    EXPECT_FALSE(pattern.matches("a"));
}

TEST(Pattern, NeedsBothTypeAndSubject) {
    auto pattern = Pattern{.type = TextPattern::parse("order.*").value(),
                           .subject = TextPattern::parse("eu/*").value()};

    EXPECT_TRUE(pattern.matches("order.paid", "eu/7"));
    EXPECT_FALSE(pattern.matches("order.paid", "us/7"));
    EXPECT_FALSE(pattern.matches("invoice.paid", "eu/7"));
    EXPECT_FALSE(pattern.matches("order.paid", ""));
}

RC_GTEST_PROP(TextPatternProperty, TextReadsBackTheSame, ()) {
    auto pattern = *testing::arbitrary_text_pattern();

    RC_ASSERT(TextPattern::parse(pattern.to_text()).value() == pattern);
}

} // namespace
} // namespace sluice::trigger
