#include "server/event_route.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "event/builder.h"
#include "trigger/ids.h"
#include "value/json.h"

namespace sluice::server {
namespace {

using event::Builder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<const EventRoute> route_of(std::string_view name, std::string_view json) {
    auto route = EventRoute::parse(name, value::parse_json(json).value());
    EXPECT_TRUE(route) << route.error().message;
    return std::make_shared<const EventRoute>(route ? *route : EventRoute{});
}

std::string route_mistake(std::string_view json) {
    auto route = EventRoute::parse("r", value::parse_json(json).value());
    return route ? "none" : route.error().message;
}

TEST(EventRoute, TakesTheRunFromAnAttributeOrFromData) {
    auto event = Builder{"1", "/s", "t"}
                     .subject("17")
                     .data(Value::object({{"order", Value::object({{"id", 42}})}}))
                     .build();

    auto by_subject = route_of("a", R"({"filter": {}, "to": {"run": {"key": "subject"}}})");
    EXPECT_EQ(by_subject->run_of(event), "17");
    auto by_data = route_of(
        "b", R"({"filter": {}, "to": {"run": {"key": "data.order.id", "prefix": "order-"}}})");
    EXPECT_EQ(by_data->run_of(event), "order-42");
    auto missing = route_of("c", R"({"filter": {}, "to": {"run": {"key": "data.order"}}})");
    EXPECT_EQ(missing->run_of(event), std::nullopt);
}

TEST(EventRoute, MakesARunForEachEventAndTheSameForTheSame) {
    auto route = route_of("new", R"({"filter": {}, "to": {"definition": "d"}})");
    EXPECT_EQ(route->start, EventRoute::Start::Always);
    auto run = [&](const char* source, const char* id) {
        return *route->run_of(Builder{id, source, "t"}.build());
    };

    EXPECT_EQ(run("/s", "1"), run("/s", "1"));
    EXPECT_NE(run("/s", "1"), run("/s", "2"));
    EXPECT_NE(run("/s1", "2"), run("/s", "12"));
    EXPECT_THAT(run("/s", "1"), ::testing::StartsWith("new-"));
}

TEST(EventRoute, GivesTheNewRunDataOrTheWholeEvent) {
    auto event = Builder{"1", "/s", "t"}.data(7).build();
    EXPECT_EQ(route_of("a", R"({"filter": {}, "to": {"definition": "d"}})")->input_of(event),
              Value{7});
    auto whole = route_of("a", R"({"filter": {}, "to": {"definition": "d", "input": "event"}})");
    EXPECT_EQ(*whole->input_of(event).find("data"), Value{7});
    EXPECT_EQ(*whole->input_of(event).find("type"), Value{"t"});
}

TEST(EventRoute, SaysWhatDoesNotFitTogether) {
    EXPECT_THAT(route_mistake("{}"), HasSubstr("needs filter and to"));
    EXPECT_THAT(route_mistake(R"({"filter": {}, "to": {}})"), HasSubstr("to.run is missing"));
    EXPECT_THAT(route_mistake(R"({"filter": {"like": 1}, "to": {}})"), HasSubstr("filter.like"));
    EXPECT_THAT(route_mistake(R"({"filter": {}, "to": {"run": {"key": "data"}}})"),
                HasSubstr("expected an attribute"));
    EXPECT_THAT(route_mistake(R"({"filter": {}, "to": {"run": {"key": "data..x"}}})"),
                HasSubstr("expected an attribute"));
    EXPECT_THAT(route_mistake(R"({"filter": {}, "to": {"run": {"key": "subject"},
                                  "start": "if_none"}})"),
                HasSubstr("to.definition is missing"));
    EXPECT_THAT(route_mistake(R"({"filter": {}, "to": {"run": {"key": "subject"},
                                  "definition": "d", "start": "always"}})"),
                HasSubstr("leave out run"));
    EXPECT_THAT(route_mistake(R"({"filter": {}, "to": {"run": {"key": "subject"},
                                  "definition": "d", "start": "never"}})"),
                HasSubstr("leave out definition"));
    EXPECT_THAT(route_mistake(R"({"filter": {}, "to": {"definition": "d", "labels": {"a": 1}}})"),
                HasSubstr("map of texts"));
    EXPECT_THAT(route_mistake(R"({"filter": {}, "to": {"definition": "d", "colour": 1}})"),
                HasSubstr("to.colour"));
}

TEST(RunIdOf, LeavesGoodIdsAsTheyAre) {
    EXPECT_EQ(run_id_of("order-7"), "order-7");
    EXPECT_EQ(run_id_of("käse~7"), "käse~7");
    EXPECT_EQ(run_id_of("a b/c%"), "a%20b%2Fc%25");
    EXPECT_EQ(run_id_of("parent~1.0"), "parent%7E1.0");
}

RC_GTEST_PROP(RunIdOf, IsAnIdAndTellsKeysApart, ()) {
    auto letters = rc::gen::elementOf(std::vector<std::string>{
        "a", "~", "/", " ", "%", "1", ".", "ü", "%7E", "~spread", std::string(240, 'x')});
    auto text = [&] {
        auto whole = std::string{};
        for (const auto& part :
             *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(letters))) {
            whole += part;
        }
        return whole;
    };
    auto first = text();
    auto second = text();

    RC_ASSERT(trigger::is_given_run_id(run_id_of(first)));
    RC_ASSERT((run_id_of(first) == run_id_of(second)) == (first == second));
}

TEST(EventRouteTable, FindsRoutesByTypeBySourceAndOtherwise) {
    auto to = std::string{R"("to": {"run": {"key": "subject"}}})"};
    auto table = EventRouteTable{{
        route_of("d", R"({"filter": {"prefix": {"type": "order."}},)" + to),
        route_of("b", R"({"filter": {"exact": {"source": "/shop"}},)" + to),
        route_of("a", R"({"filter": {"exact": {"type": "order.paid"}},)" + to),
        route_of("c", R"({"filter": {"any": [{"exact": {"type": "order.paid"}},
                                             {"exact": {"type": "order.sent"}}]},)" +
                          to),
        route_of("e", R"({"filter": {"exact": {"type": "order.paid", "source": "/x"}},)" + to),
    }};
    auto names = [&](const char* source, const char* type) {
        auto found = std::vector<std::string>{};
        for (const auto* route : table.matching(Builder{"1", source, type}.build())) {
            found.push_back(route->name);
        }
        return found;
    };

    EXPECT_THAT(names("/shop", "order.paid"), ElementsAre("a", "b", "c", "d"));
    EXPECT_THAT(names("/x", "order.sent"), ElementsAre("c", "d"));
    EXPECT_THAT(names("/x", "order.paid"), ElementsAre("a", "c", "d", "e"));
    EXPECT_THAT(names("/x", "other"), ElementsAre());
}

} // namespace
} // namespace sluice::server
