#include "event/event.h"

#include <charconv>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "event/builder.h"
#include "event/codec.h"
#include "event/testing/events.h"
#include "value/json.h"

namespace sluice::event {

namespace {

using Path = std::vector<std::string_view>;

Event event_with_data(std::string_view data) {
    auto json = fmt::format(
        R"({{"specversion":"1.0","data":{},"id":"1","source":"/s","type":"t","last":true}})", data);
    auto event = Codec{}.parse(json);
    EXPECT_TRUE(event.has_value()) << event.error().message;
    return *std::move(event);
}

// What data_at promises, by way of the whole value.
std::optional<Value> follow(Value value, const Path& path) {
    for (auto key : path) {
        auto index = std::size_t{0};
        auto end = key.data() + key.size();
        auto is_index = !key.empty() && std::from_chars(key.data(), end, index).ptr == end;
        if (const auto* member = value.find(key); member != nullptr) {
            value = Value{*member};
        } else if (value.is_list() && is_index && index < value.size()) {
            value = Value{value.as_list()[index]};
        } else {
            return std::nullopt;
        }
    }
    return value;
}

rc::Gen<std::string> json_text(int depth) {
    auto scalar = rc::gen::element<std::string>("1", "-2.5", "true", "null", "\"a\"", "\"\\u0062\"",
                                                "18446744073709551615", "[]", "{}");
    if (depth == 0) {
        return scalar;
    }
    auto item = json_text(depth - 1);
    auto name = rc::gen::element<std::string>("a", "\\u0061", "b", "1");
    auto member =
        rc::gen::apply([](const std::string& key,
                          const std::string& value) { return "\"" + key + "\": " + value; },
                       name, item);
    auto join = [](char open, char close) {
        return [open, close](const std::vector<std::string>& parts) {
            return fmt::format("{}{}{}", open, fmt::join(parts, " ,"), close);
        };
    };
    auto few = [](const rc::Gen<std::string>& part) {
        return rc::gen::resize(4, rc::gen::container<std::vector<std::string>>(part));
    };
    return rc::gen::oneOf(scalar, rc::gen::map(few(item), join('[', ']')),
                          rc::gen::map(few(member), join('{', '}')));
}

} // namespace

TEST(Event, HasNothingWhenItIsNew) {
    auto event = Event{};

    EXPECT_EQ(event.id(), "");
    EXPECT_EQ(event.time(), std::nullopt);
    EXPECT_EQ(event.attribute("id"), std::nullopt);
    EXPECT_TRUE(event.attributes().empty());
    EXPECT_FALSE(event.has_data());
    EXPECT_TRUE(event.data().is_null());
    EXPECT_EQ(event.data_at({}), std::nullopt);
}

TEST(Event, OutlivesWhatItWasParsedFrom) {
    auto copy = Event{};
    {
        auto codec = Codec{};
        auto json = std::string{
            R"({"specversion":"1.0","id":"1","source":"/s","type":"t\u002ex","data":[1,{"a":2}]})"};
        copy = *codec.parse(json);
    }

    EXPECT_EQ(copy.type(), "t.x");
    EXPECT_EQ(copy.data_at(Path{"1", "a"}), Value{2});
}

TEST(Event, ListsItsAttributesInTheOrderOfTheText) {
    auto event = Codec{}.parse(
        R"({"zeta":7,"data":{"id":"no"},"type":"t","specversion":"1.0","gone":null,"source":"/s","id":"1"})");

    auto expected = std::vector<value::Member>{
        {"zeta", 7}, {"type", "t"}, {"specversion", "1.0"}, {"source", "/s"}, {"id", "1"}};
    EXPECT_EQ(event->attributes(), expected);
    EXPECT_EQ(event->attribute("zeta"), Value{7});
    EXPECT_EQ(event->attribute("specversion"), Value{"1.0"});
    EXPECT_EQ(event->attribute("data"), std::nullopt);
    EXPECT_EQ(event->attribute("gone"), std::nullopt);
    EXPECT_EQ(event->attribute(""), std::nullopt);
}

TEST(Event, TellsNullDataFromNone) {
    EXPECT_TRUE(event_with_data("null").has_data());
    EXPECT_EQ(event_with_data("null").data_at({}), Value{});
    EXPECT_FALSE(testing::event_named("t").has_data());
    EXPECT_EQ(testing::event_named("t").data_at({}), std::nullopt);
}

TEST(Event, FindsDataUnderAPath) {
    auto event = event_with_data(
        R"({"a":{"b":[10,{"c":"x\ny"}],"1":true},"":1.5,"\u00e9":18446744073709551615,"a2":[]})");

    EXPECT_EQ(event.data_at(Path{"a", "b", "0"}), Value{10});
    EXPECT_EQ(event.data_at(Path{"a", "b", "1", "c"}), Value{"x\ny"});
    EXPECT_EQ(event.data_at(Path{"a", "b"}), Value::list({10, Value::object({{"c", "x\ny"}})}));
    EXPECT_EQ(event.data_at(Path{"a", "1"}), Value{true});
    EXPECT_EQ(event.data_at(Path{""}), Value{1.5});
    EXPECT_EQ(event.data_at(Path{"é"}), Value{std::uint64_t{18446744073709551615U}});
    for (const auto& path : {Path{"b"}, Path{"a", "b", "2"}, Path{"a", "b", "-1"},
                             Path{"a", "b", "00"}, Path{"a", "b", ""}, Path{"a2", "0"},
                             Path{"", "x"}, Path{"a", "b", "18446744073709551616"}}) {
        EXPECT_EQ(event.data_at(path), std::nullopt) << path.back();
    }
}

TEST(Event, TakesTheFirstOfRepeatedNames) {
    auto event = event_with_data(R"({"a":1,"b":2,"\u0061":3})");

    EXPECT_EQ(event.data_at(Path{"a"}), Value{1});
    EXPECT_EQ(*event.data().find("a"), Value{1});
}

TEST(Event, HandsOutBinaryDataAsBytes) {
    auto json =
        R"({"specversion":"1.0","id":"1","source":"/s","type":"t","data_base64":"AP\/ACg=="})";
    auto event = Codec{}.parse(json);

    ASSERT_TRUE(event.has_value()) << event.error().message;
    EXPECT_EQ(event->data(), Value::bytes({"\x00\xFF\xC0\x0A", 4}));
    EXPECT_EQ(event->data_at({}), event->data());
    EXPECT_EQ(event->data_at(Path{"0"}), std::nullopt);
}

RC_GTEST_PROP(Event, FindsUnderAPathWhatTheWholeDataHasThere, ()) {
    auto text = *json_text(3);
    auto keys = *rc::gen::resize(5, rc::gen::container<std::vector<std::string>>(
                                        rc::gen::element<std::string>("a", "b", "0", "1", "")));
    auto path = Path{keys.begin(), keys.end()};
    auto event = event_with_data(text);

    RC_ASSERT(event.data() == *value::parse_json(text));
    RC_ASSERT(event.data_at(path) == follow(event.data(), path));
}

} // namespace sluice::event
