#include "event/event_view.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "event/builder.h"
#include "event/codec.h"

namespace sluice::event {
namespace {

using Path = std::vector<std::string_view>;

Event with_data(const Value& data) {
    auto made = Builder{"1", "test", "a"};
    made.data(data);
    return made.build();
}

TEST(EventView, FindsWhatTheEventFinds) {
    auto event = with_data(Value::object(
        {{"a", Value::object({{"b", Value::list({1, "x"})}})}, {"c\n", true}, {"n", Value{}}}));
    auto view = EventView{event};

    for (const auto& path :
         {Path{}, Path{"a"}, Path{"a", "b"}, Path{"a", "b", "1"}, Path{"a", "b", "2"}, Path{"c\n"},
          Path{"n"}, Path{"n", "x"}, Path{"missing"}, Path{"a", "missing"}}) {
        EXPECT_EQ(view.data_at(path), event.data_at(path));
    }
}

TEST(EventView, LetsTheFirstOfRepeatedNamesStand) {
    auto parsed = Codec{}.parse(
        R"({"specversion":"1.0","id":"1","source":"s","type":"t","data":{"\u0061":1,"b":2,"a":3}})");
    ASSERT_TRUE(parsed);

    EXPECT_EQ(EventView{*parsed}.data_at(Path{"a"}), Value{1});
}

TEST(EventView, LooksIntoDataThatIsNoObject) {
    auto list = with_data(Value::list({7}));
    auto bytes = with_data(Value::bytes("raw"));
    auto none = Builder{"1", "test", "a"}.build();

    EXPECT_EQ(EventView{list}.data_at(Path{"0"}), Value{7});
    EXPECT_EQ(EventView{bytes}.data_at(Path{"a"}), std::nullopt);
    EXPECT_EQ(EventView{bytes}.data_at(Path{}), Value::bytes("raw"));
    EXPECT_EQ(EventView{none}.data_at(Path{"a"}), std::nullopt);
}

TEST(EventView, TellsWhatThePathsOfExpressionsStandFor) {
    auto event = Builder{"1", "/shop", "order"}
                     .attribute("priority", 5)
                     .data(Value::object({{"total", 120}}))
                     .build();
    auto view = EventView{event};

    EXPECT_EQ(view.at(Path{"data", "total"}), Value{120});
    EXPECT_EQ(view.at(Path{"event", "data", "total"}), Value{120});
    EXPECT_EQ(view.at(Path{"event", "data"}), view.at(Path{"data"}));
    EXPECT_EQ(view.at(Path{"event", "type"}), Value{"order"});
    EXPECT_EQ(view.at(Path{"event", "priority"}), Value{5});
    EXPECT_EQ(*view.at(Path{"event"})->find("source"), Value{"/shop"});
    for (const auto& path : {Path{"event", "subject"}, Path{"event", "colour"},
                             Path{"event", "type", "x"}, Path{"run"}}) {
        EXPECT_EQ(view.at(path), std::nullopt) << path.back();
    }
}

TEST(EventView, GivesNullForDataThatIsNotThere) {
    auto event = Builder{"1", "test", "a"}.build();

    EXPECT_EQ(EventView{event}.at(Path{"data"}), Value{});
    EXPECT_EQ(EventView{event}.at(Path{"event", "data"}), std::nullopt);
    EXPECT_EQ(EventView{event}.at(Path{"data", "x"}), std::nullopt);
}

} // namespace
} // namespace sluice::event
