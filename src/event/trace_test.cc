#include "event/trace.h"

#include <gtest/gtest.h>

namespace sluice::event {
namespace {

constexpr auto sampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceTest, ReadsItsParts) {
    auto trace = parse_trace(sampled);

    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->id, "0af7651916cd43dd8448eb211c80319c");
    EXPECT_EQ(trace->span, "b7ad6b7169203331");
    EXPECT_TRUE(trace->is_sampled);
    EXPECT_FALSE(
        parse_trace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-fe")->is_sampled);
}

TEST(TraceTest, RefusesWhatIsNone) {
    for (const auto* text : {"", "00", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                             "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                             "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                             "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                             "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
                             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-011"}) {
        EXPECT_FALSE(parse_trace(text)) << text;
        EXPECT_EQ(trace_under(text, "key"), "") << text;
    }
}

TEST(TraceTest, WhatIsBegunUnderAKeyHasItsSpan) {
    auto under = trace_under(sampled, "r/1/0");

    auto trace = parse_trace(under);
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->id, parse_trace(sampled)->id);
    EXPECT_EQ(trace->span, span_of("r/1/0"));
    EXPECT_TRUE(trace->is_sampled);
    EXPECT_NE(span_of("r/1/0"), span_of("r/1/1"));
}

} // namespace
} // namespace sluice::event
