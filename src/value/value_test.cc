#include "value/value.h"

#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "value/testing/arbitrary.h"

namespace sluice::value {

namespace {

Value numbered_map(int members) {
    auto all = std::vector<Member>{};
    for (auto number = 0; number < members; ++number) {
        all.push_back({fmt::format("key{}", number), number});
    }
    return Value::map(std::move(all));
}

} // namespace

TEST(Value, StartsAsNull) {
    EXPECT_TRUE(Value{}.is_null());
    EXPECT_EQ(Value{}.size(), 0);
}

TEST(Value, KeepsEveryKind) {
    EXPECT_EQ(Value{true}.as_bool(), true);
    EXPECT_EQ(Value{-5}.as_int(), -5);
    EXPECT_EQ(Value{std::uint64_t{5}}.as_uint(), 5);
    EXPECT_EQ(Value{2.5}.as_double(), 2.5);
    EXPECT_EQ(Value{"text"}.as_string(), "text");
    EXPECT_EQ(Value::bytes("\xFF").as_bytes(), "\xFF");
    EXPECT_EQ(Value{Nanos{7}}.as_duration(), Nanos{7});
    EXPECT_EQ(Value{Time{Nanos{-7}}}.as_timestamp(), Time{Nanos{-7}});
    EXPECT_EQ(Value::list({1, "b"}).as_list()[1], Value{"b"});
    EXPECT_EQ(Value::object({{"a", 1}}).as_map()[0].key, "a");
}

TEST(Value, OnlyTheThreeNumberKindsAreNumbers) {
    EXPECT_TRUE(Value{1}.is_number());
    EXPECT_TRUE(Value{std::uint64_t{1}}.is_number());
    EXPECT_TRUE(Value{1.0}.is_number());
    EXPECT_FALSE(Value{true}.is_number());
    EXPECT_FALSE(Value{Nanos{1}}.is_number());
    EXPECT_FALSE(Value{"1"}.is_number());
}

TEST(Value, KeepsTextsOfEveryLength) {
    for (auto length = std::size_t{0}; length < 40; ++length) {
        auto text = std::string(length, 'x');
        auto value = Value{text};
        auto copy = value;
        auto moved = std::move(value);

        EXPECT_EQ(copy.as_string(), text);
        EXPECT_EQ(moved.as_string(), text);
        EXPECT_EQ(moved.size(), length);
        EXPECT_EQ(Value::bytes(text).as_bytes(), text);
    }
}

TEST(Value, KeepsZeroBytesInTexts) {
    auto text = std::string("a\0b", 3);

    EXPECT_EQ(Value{text}.as_string(), text);
}

TEST(Value, IsNullOnceMovedFrom) {
    auto value = Value{"a text that does not fit inside"};
    auto other = std::move(value);

    EXPECT_TRUE(value.is_null()); // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(other.is_string());
}

TEST(Value, SurvivesAssignmentToItself) {
    auto value = Value::list({"a text that does not fit inside"});
    auto& same = value;

    value = same;
    value = value.as_list()[0];

    EXPECT_EQ(value.as_string(), "a text that does not fit inside");
}

TEST(Value, CopiesShareWhatIsLarge) {
    auto value = Value{"a text that does not fit inside"};
    auto copy = value;

    EXPECT_EQ(copy.as_string().data(), value.as_string().data());
}

TEST(Value, OfRepeatedKeysTheLastStandsAtThePlaceOfTheFirst) {
    auto map = Value::object({{"a", 1}, {"b", 2}, {"a", 3}});

    EXPECT_EQ(to_json(map), R"({"a":3,"b":2})");
}

TEST(Value, OfRepeatedKeysInALargeMapTheLastStandsToo) {
    auto members = std::vector<Member>{};
    for (auto number = 0; number < 300; ++number) {
        members.push_back({fmt::format("key{}", number % 100), number});
    }

    auto map = Value::map(std::move(members));

    ASSERT_EQ(map.size(), 100);
    EXPECT_EQ(map.as_map()[42].key, "key42");
    EXPECT_EQ(*map.find("key42"), Value{242});
}

TEST(Value, FindsMembersInMapsOfEverySize) {
    for (auto size : {0, 1, 7, 8, 9, 16, 17, 1000}) {
        auto map = numbered_map(size);
        for (auto number = 0; number < size; ++number) {
            ASSERT_NE(map.find(fmt::format("key{}", number)), nullptr);
            EXPECT_EQ(*map.find(fmt::format("key{}", number)), Value{number});
        }
        EXPECT_EQ(map.find("key"), nullptr);
        EXPECT_EQ(map.find(""), nullptr);
        EXPECT_EQ(map.find(fmt::format("key{}", size)), nullptr);
    }
}

TEST(Value, FindsNothingInWhatIsNoMap) {
    EXPECT_EQ(Value{}.find("a"), nullptr);
    EXPECT_EQ(Value{"a"}.find("a"), nullptr);
    EXPECT_EQ(Value::list({"a"}).find("a"), nullptr);
}

TEST(Value, WithSetsAMemberAndLeavesTheOriginal) {
    auto map = Value::object({{"a", 1}, {"b", 2}});

    EXPECT_EQ(to_json(map.with("c", 3)), R"({"a":1,"b":2,"c":3})");
    EXPECT_EQ(to_json(map.with("a", 3)), R"({"a":3,"b":2})");
    EXPECT_EQ(to_json(Value{}.with("a", 1)), R"({"a":1})");
    EXPECT_EQ(to_json(map), R"({"a":1,"b":2})");
}

TEST(Value, WithoutDropsAMemberAndLeavesTheOriginal) {
    auto map = Value::object({{"a", 1}, {"b", 2}});

    EXPECT_EQ(to_json(map.without("a")), R"({"b":2})");
    EXPECT_EQ(to_json(map.without("z")), R"({"a":1,"b":2})");
    EXPECT_EQ(to_json(Value{}.without("a")), "{}");
    EXPECT_EQ(to_json(map), R"({"a":1,"b":2})");
}

TEST(ValueDeathTest, AskingForAnotherKindStopsTheProcess) {
    EXPECT_DEATH((void)Value{1}.as_string(), "only a string can be read as one");
    EXPECT_DEATH((void)Value{"1"}.as_int(), "only an int can be read as one");
    EXPECT_DEATH((void)Value{}.as_map(), "only a map can be read as one");
    EXPECT_DEATH((void)Value{1}.with("a", 1), "only a map can be read as one");
}

TEST(Value, IsFreedHoweverDeepItIs) {
    auto lists = testing::nested_lists(200'000);
    auto maps = Value{};
    for (auto level = 0; level < 200'000; ++level) {
        maps = Value::object({{"next", std::move(maps)}});
    }
}

TEST(Value, IsFreedOnceThoughItIsSharedWithinItself) {
    auto value = Value{"a text that does not fit inside"};
    for (auto level = 0; level < 100; ++level) {
        value = Value::list({value, value});
    }

    EXPECT_EQ(value.size(), 2);
}

TEST(Value, MayBeSharedByThreads) {
    auto shared =
        Value::object({{"text", "a text that does not fit inside"}, {"list", Value::list({1, 2})}});
    auto threads = std::vector<std::jthread>{};

    for (auto thread = 0; thread < 4; ++thread) {
        threads.emplace_back([copy = shared] {
            for (auto round = 0; round < 1000; ++round) {
                auto mine = copy.with("round", round);
                EXPECT_EQ(*mine.find("text"), *copy.find("text"));
            }
        });
    }
    shared = {};
}

TEST(Value, EveryKindHasAName) {
    EXPECT_EQ(to_string(Kind::Null), "null");
    EXPECT_EQ(to_string(Kind::Duration), "duration");
}

// A model with nothing shared and nothing hashed.
RC_GTEST_PROP(Value, AMapFindsWhatAPlainMapFinds, ()) {
    auto keys = *rc::gen::container<std::vector<std::string>>(testing::arbitrary_text());
    auto model = std::map<std::string, Value>{};
    auto members = std::vector<Member>{};
    for (const auto& key : keys) {
        auto number = Value{static_cast<std::int64_t>(members.size())};
        members.push_back({key, number});
        model[key] = number;
    }
    auto absent = *testing::arbitrary_text();

    auto map = Value::map(std::move(members));

    RC_ASSERT(map.size() == model.size());
    for (const auto& [key, value] : model) {
        RC_ASSERT(*map.find(key) == value);
    }
    RC_ASSERT((map.find(absent) != nullptr) == model.contains(absent));
}

} // namespace sluice::value
