#include "client/sse_parser.h"

#include <vector>

#include <gtest/gtest.h>

namespace sluice::client {
namespace {

std::vector<ServerSentEvent> parse_stream(SseParser& parser, std::string_view text,
                                          std::size_t step = 1'000) {
    auto events = std::vector<ServerSentEvent>{};
    for (auto at = std::size_t{0}; at < text.size(); at += step) {
        EXPECT_TRUE(parser.feed(text.substr(at, step), [&](const auto& event) {
            events.push_back(event);
            return true;
        }));
    }
    return events;
}

using Events = std::vector<ServerSentEvent>;

TEST(SseParser, ReadsEventsWithTypeDataAndId) {
    auto parser = SseParser{};

    auto events = parse_stream(parser, "event: run\nid: 7\ndata: {\"a\":1}\n\ndata: b\n\n");

    EXPECT_EQ(events, (Events{{"run", "{\"a\":1}", "7"}, {"message", "b", "7"}}));
    EXPECT_EQ(parser.last_id(), "7");
}

TEST(SseParser, FollowsTheCasesOfItsSpecification) {
    for (const auto& [text, expected] : std::vector<std::pair<std::string, Events>>{
             {"data: YHOO\ndata: +2\ndata: 10\n\n", {{"message", "YHOO\n+2\n10", ""}}},
             {": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n",
              {{"message", "first event", "1"}, {"message", "second event", ""}}},
             {"data\n\ndata\ndata\n\ndata:", {{"message", "", ""}, {"message", "\n", ""}}},
             {"data:test\n\ndata: test\n\n", {{"message", "test", ""}, {"message", "test", ""}}},
             {"\xEF\xBB\xBF"
              "data: a\r\n\r\ndata: b\r\rdata: c\n\n",
              {{"message", "a", ""}, {"message", "b", ""}, {"message", "c", ""}}},
             {"event: x\n\ndata: y\n\n", {{"message", "y", ""}}},
             {"data: unfinished\n", {}}}) {
        auto whole = SseParser{};
        auto cut = SseParser{};
        EXPECT_EQ(parse_stream(whole, text), expected) << text;
        EXPECT_EQ(parse_stream(cut, text, 1), expected) << text;
    }
}

TEST(SseParser, KeepsTheLastIdWhenAStreamIsBegunAnew) {
    auto parser = SseParser{};
    parse_stream(parser, "retry: 250\nid: 3\ndata: a\n\ndata: half");

    parser.restart();

    EXPECT_EQ(parse_stream(parser, "data: b\n\n"), (Events{{"message", "b", "3"}}));
    EXPECT_EQ(parser.retry(), std::chrono::milliseconds{250});
}

TEST(SseParser, RefusesAnEventWithoutEnd) {
    auto parser = SseParser{100};
    auto ignore = [](const ServerSentEvent&) { return true; };

    EXPECT_TRUE(parser.feed("data: " + std::string(90, 'x'), ignore));
    EXPECT_FALSE(parser.feed("12345", ignore));
}

TEST(SseParser, StopsWhenItsReaderHasEnough) {
    auto parser = SseParser{};
    auto count = 0;

    auto fed = parser.feed("data: a\n\ndata: b\n\n", [&](const auto&) { return ++count < 1; });

    EXPECT_EQ(fed, Result<bool>{false});
    EXPECT_EQ(count, 1);
}

} // namespace
} // namespace sluice::client
