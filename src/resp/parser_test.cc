#include "resp/parser.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::resp {
namespace {

/// A reply in a form that tests can compare: `[a 1 {k v} null !ERR]`.
std::string shown(const Reply& reply) {
    switch (reply.kind()) {
        case Kind::Null: return "null";
        case Kind::Number: return std::to_string(reply.number());
        case Kind::Bool: return reply.number() == 1 ? "true" : "false";
        case Kind::Error: return "!" + std::string{reply.text()};
        case Kind::List:
        case Kind::Map:
        case Kind::Push: break;
        default: return std::string{reply.text()};
    }
    auto text = std::string{reply.kind() == Kind::Map ? "{" : "["};
    for (const auto& item : reply) {
        text += (text.size() > 1 ? " " : "") + shown(item);
    }
    return text + (reply.kind() == Kind::Map ? "}" : "]");
}

std::string parsed(std::string_view data, Limits limits = {}) {
    auto parser = Parser{limits};
    auto done = parser.feed(data);
    if (!done) {
        return "error: " + done.error().message;
    }
    return *done ? shown(parser.reply(data)) : "more";
}

TEST(Parser, ReadsEveryKindOfReply) {
    EXPECT_EQ(parsed("+OK\r\n"), "OK");
    EXPECT_EQ(parsed("-ERR no such key\r\n"), "!ERR no such key");
    EXPECT_EQ(parsed("!9\r\nERR a\r\nbc\r\n"), "!ERR a\r\nbc");
    EXPECT_EQ(parsed(":-42\r\n"), "-42");
    EXPECT_EQ(parsed("$5\r\na\r\nbc\r\n"), "a\r\nbc");
    EXPECT_EQ(parsed("$0\r\n\r\n"), "");
    EXPECT_EQ(parsed("$-1\r\n"), "null");
    EXPECT_EQ(parsed("*-1\r\n"), "null");
    EXPECT_EQ(parsed("_\r\n"), "null");
    EXPECT_EQ(parsed("#t\r\n"), "true");
    EXPECT_EQ(parsed(",3.25\r\n"), "3.25");
    EXPECT_EQ(parsed("(123456789012345678901\r\n"), "123456789012345678901");
    EXPECT_EQ(parsed("=8\r\ntxt:text\r\n"), "text");
    EXPECT_EQ(parsed("*0\r\n"), "[]");
    EXPECT_EQ(parsed("~2\r\n:1\r\n:2\r\n"), "[1 2]");
    EXPECT_EQ(parsed("%1\r\n+k\r\n*2\r\n:1\r\n*0\r\n"), "{k [1 []]}");
    EXPECT_EQ(parsed(">2\r\n+invalidate\r\n:1\r\n"), "[invalidate 1]");
}

TEST(Parser, PassesOverAttributes) {
    EXPECT_EQ(parsed("|1\r\n+ttl\r\n:3\r\n*2\r\n|1\r\n+a\r\n*1\r\n:1\r\n:1\r\n|0\r\n:2\r\n"),
              "[1 2]");
}

TEST(Parser, GoesOnWhereItStopped) {
    auto data = std::string{"*3\r\n$3\r\nabc\r\n%1\r\n+k\r\n:7\r\n*1\r\n$2\r\n\r\n\r\n+next\r\n"};
    auto parser = Parser{};
    for (auto size = std::size_t{0}; size < data.size(); ++size) {
        auto part = data.substr(0, size); // Elsewhere each time.
        auto done = parser.feed(part);
        ASSERT_TRUE(done);
        if (*done) {
            EXPECT_EQ(data.substr(parser.consumed()), "+next\r\n");
            EXPECT_EQ(shown(parser.reply(part)), "[abc {k 7} [\r\n]]");
            return;
        }
        EXPECT_GT(parser.needed(), size);
    }
    FAIL() << "it was never complete";
}

TEST(Parser, SaysHowMuchOfATextIsMissing) {
    auto parser = Parser{};
    ASSERT_TRUE(parser.feed("$1000000\r\nabc"));

    EXPECT_EQ(parser.needed(), 10 + 1'000'000 + 2);
}

TEST(Parser, FindsItemsByPlace) {
    auto data = std::string_view{"*3\r\n*1\r\n:1\r\n:2\r\n+three\r\n"};
    auto parser = Parser{};
    ASSERT_TRUE(*parser.feed(data));
    auto reply = parser.reply(data);

    EXPECT_EQ(reply.item(0).item(0).number(), 1);
    EXPECT_EQ(reply.item(1).number(), 2);
    EXPECT_EQ(reply.item(2).text(), "three");
    EXPECT_TRUE(reply.item(3).is_null());
}

TEST(Parser, RefusesWhatIsNoReply) {
    for (const auto* bad :
         {"HTTP/1.1 200\r\n", ":12x\r\n", ":\r\n", "$-2\r\n", "*-3\r\n", "$1\r\nabc\r\n",
          "+a\rb\r\n", "#x\r\n", "$?\r\n", ":99999999999999999999\r\n"}) {
        EXPECT_TRUE(parsed(bad).starts_with("error")) << bad << parsed(bad);
    }
}

TEST(Parser, HasBudgets) {
    auto limits =
        Limits{.reply_bytes_max = 100, .elements_max = 4, .depth_max = 2, .line_bytes_max = 10};

    EXPECT_EQ(parsed("$101\r\n", limits), "error: a reply of more than 100 bytes");
    EXPECT_EQ(parsed("*5\r\n", limits), "error: a reply of more than 4 elements");
    EXPECT_EQ(parsed("*2\r\n*2\r\n:1\r\n:1\r\n:2\r\n", limits),
              "error: a reply of more than 4 elements");
    EXPECT_EQ(parsed("*1\r\n*1\r\n*1\r\n:1\r\n", limits), "error: a reply deeper than 2");
    EXPECT_EQ(parsed("+12345678901", limits), "error: a line of more than 10 bytes at byte 0");
    EXPECT_EQ(parsed("$9223372036854775807\r\n"), "error: a reply of more than 1073741824 bytes");
}

} // namespace
} // namespace sluice::resp
