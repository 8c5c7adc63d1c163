#include "cli/internal/event_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

using ::testing::HasSubstr;

std::string event_text(int id) {
    return fmt::format(R"({{"specversion":"1.0","id":"{}","source":"/a","type":"t"}})", id);
}

TEST(EventLines, GivesEachEventOnceItsLineIsWhole) {
    auto lines = EventLines{};

    EXPECT_EQ(lines.feed(event_text(1))->size(), 0U);
    EXPECT_EQ(lines.feed("\n\n" + event_text(2) + "\n" + event_text(3))->size(), 2U);
    EXPECT_EQ(lines.finish()->at(0).id(), "3");
}

TEST(EventLines, TakesAListOrAnObjectOverSeveralLines) {
    auto list = EventLines{};
    EXPECT_EQ(list.feed("[" + event_text(1) + ",\n" + event_text(2) + "]\n")->size(), 0U);
    EXPECT_EQ(list.finish()->size(), 2U);

    auto object = EventLines{};
    EXPECT_EQ(object.feed("{\n\"specversion\":\"1.0\",\n")->size(), 0U);
    EXPECT_EQ(object.feed("\"id\":\"7\",\"source\":\"/a\",\"type\":\"t\"\n}\n")->size(), 0U);
    EXPECT_EQ(object.finish()->at(0).id(), "7");
}

TEST(EventLines, NamesTheLineThatIsNoEvent) {
    auto lines = EventLines{};

    auto fed = lines.feed(event_text(1) + "\n\n{}\n");

    EXPECT_THAT(fed.error().message, HasSubstr("line 3: "));
    EXPECT_TRUE(EventLines{}.finish()->empty());
}

} // namespace
} // namespace sluice::cli
