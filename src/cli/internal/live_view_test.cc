#include "cli/internal/live_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Value entry_of(int number, const std::string& change) {
    return value::parse_json(
               fmt::format(R"({{"event":{},"time":"2026-11-15T05:57:30.1234Z","origin":"outside",)"
                           R"("fate":"taken","json":{{"id":"é{}","type":"item"}},)"
                           R"("changes":[{{"change":"{}"}}]}})",
                           number, number, change))
        .value();
}

TEST(LiveView, DrawsTheLastEventsOverWhatItDrewBefore) {
    auto view = LiveView{"r", 200, 2};
    EXPECT_EQ(view.draw("running"), "run r  running  0 events, 0 fired here\n");
    for (auto number : {1, 2, 3}) {
        view.add(entry_of(number, "fired"));
    }

    auto text = view.draw("running");

    EXPECT_THAT(text, HasSubstr("\x1b[1A\r\x1b[J"));
    EXPECT_THAT(text, HasSubstr("3 events, 3 fired"));
    EXPECT_THAT(text, HasSubstr("#3  2026-11-15T05:57:30.123Z  outside  item  id é3  taken\n"));
    EXPECT_THAT(text, Not(HasSubstr("#1 ")));
    EXPECT_THAT(view.draw("running"), HasSubstr("\x1b[3A"));
}

TEST(LiveView, KeepsItsLinesWithinTheTerminal) {
    auto view = LiveView{"r", 12, 5};
    view.add(entry_of(1, "activated"));

    EXPECT_EQ(view.draw("running"), "run r  runni\n  #1  2026-1\n");
}

TEST(LiveView, KnowsTheEventThatEndedARun) {
    EXPECT_TRUE(has_ended_run(entry_of(1, "ended")));
    EXPECT_FALSE(has_ended_run(entry_of(1, "renewing")));
    EXPECT_FALSE(has_ended_run(Value{}));
}

} // namespace
} // namespace sluice::cli
