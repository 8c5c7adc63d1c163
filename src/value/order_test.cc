#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "value/testing/arbitrary.h"
#include "value/value.h"

namespace sluice::value {

namespace {

using testing::arbitrary_value;

constexpr auto nan_number = std::numeric_limits<double>::quiet_NaN();
constexpr auto infinity = std::numeric_limits<double>::infinity();

void expect_ascending(const std::vector<Value>& values) {
    for (auto left = std::size_t{0}; left < values.size(); ++left) {
        for (auto right = std::size_t{0}; right < values.size(); ++right) {
            EXPECT_EQ(compare(values[left], values[right]), left <=> right)
                << ::testing::PrintToString(values[left]) << " and "
                << ::testing::PrintToString(values[right]);
        }
    }
}

/// Small values that are often equal or next to each other.
rc::Gen<Value> crowded_value() {
    auto child =
        rc::gen::oneOf(rc::gen::elementOf(testing::edge_numbers()),
                       rc::gen::map(rc::gen::inRange(0, 3), [](int raw) { return Value{raw}; }),
                       rc::gen::elementOf(std::vector<Value>{"", "a", {}, false}));
    auto items = rc::gen::scale(0.03, rc::gen::container<std::vector<Value>>(child));
    return rc::gen::oneOf(
        child, rc::gen::map(items, [](auto list) { return Value::list(std::move(list)); }),
        rc::gen::map(items, [](const auto& list) {
            auto members = std::vector<Member>{};
            for (auto at = std::size_t{0}; at < list.size(); ++at) {
                members.push_back({std::string(1, static_cast<char>('c' - at)), list[at]});
            }
            return Value::map(std::move(members));
        }));
}

Value reversed(const Value& map) {
    auto members = std::vector<Member>(map.as_map().rbegin(), map.as_map().rend());
    return Value::map(std::move(members));
}

} // namespace

TEST(Order, IsByKindFirst) {
    expect_ascending({Value{}, false, true, 1e300, "", "z", Value::bytes(""), Time{Nanos{0}},
                      Nanos{0}, Value::list({}), Value::map({})});
}

TEST(Order, PutsNumbersOnOneLine) {
    auto int_max = std::numeric_limits<std::int64_t>::max();
    auto int_min = std::numeric_limits<std::int64_t>::min();
    auto uint_max = std::numeric_limits<std::uint64_t>::max();

    expect_ascending({nan_number, -infinity, -1e19, int_min, -0x1p63, int_min + 1, -1, -0.5, 0,
                      std::uint64_t{0}, 0.0, 5e-324, 1, std::uint64_t{1}, 1.0, 1.5, 2});
    expect_ascending({(1L << 53), 0x1p53, (1L << 53) + 1, 0x1p53 + 2});
    expect_ascending({int_max - 1, int_max, static_cast<std::uint64_t>(int_max),
                      static_cast<std::uint64_t>(int_max) + 1, 0x1p63, uint_max, 0x1p64, 1e300,
                      infinity});
}

TEST(Order, OfTextsIsThatOfTheirBytes) {
    expect_ascending({"", "a", "a text that does not fit inside", "ab", "\xC3\xA9"});
    expect_ascending({Value::bytes(""), Value::bytes("a"), Value::bytes("\xFF")});
}

TEST(Order, OfListsIsThatOfTheirFirstDifference) {
    expect_ascending({Value::list({}), Value::list({1}), Value::list({1, Value::list({})}),
                      Value::list({1, Value::list({1})}), Value::list({1, Value::list({1}), 0}),
                      Value::list({2})});
}

TEST(Order, OfMapsFollowsTheirKeys) {
    expect_ascending({Value::object({}), Value::object({{"z", 0}, {"a", 1}}),
                      Value::object({{"a", 2}}), Value::object({{"b", 2}, {"a", 2}}),
                      Value::object({{"a", 2}, {"c", 1}}), Value::object({{"b", 0}})});
}

TEST(Order, EqualityKeepsNumberKindsApart) {
    EXPECT_NE(Value{1}, Value{1.0});
    EXPECT_NE(Value{1}, Value{std::uint64_t{1}});
    EXPECT_EQ(Value{0.0}, Value{-0.0});
    EXPECT_EQ(Value{nan_number}, Value{-nan_number});
    EXPECT_EQ(hash(Value{0.0}), hash(Value{-0.0}));
    EXPECT_EQ(hash(Value{nan_number}), hash(Value{-nan_number}));
}

TEST(Order, EqualityLooksPastTheOrderOfMembers) {
    auto left = Value::object({{"a", 1}, {"b", Value::list({2})}});
    auto right = Value::object({{"b", Value::list({2})}, {"a", 1}});

    EXPECT_EQ(left, right);
    EXPECT_EQ(hash(left), hash(right));
    EXPECT_EQ(compare(left, right), std::strong_ordering::equal);
    EXPECT_NE(left, right.with("c", 1));
    EXPECT_NE(left, right.with("a", 2));
    EXPECT_NE(left, right.without("a").with("c", 1));
}

TEST(Order, HashTellsNeighboursApart) {
    EXPECT_NE(hash(Value{1}), hash(Value{2}));
    EXPECT_NE(hash(Value{1}), hash(Value{1.0}));
    EXPECT_NE(hash(Value{"a"}), hash(Value::bytes("a")));
    EXPECT_NE(hash(Value::list({1, 2})), hash(Value::list({2, 1})));
    EXPECT_NE(hash(Value::object({{"a", 1}, {"b", 2}})), hash(Value::object({{"a", 2}, {"b", 1}})));
    EXPECT_NE(hash(Value::list({})), hash(Value::map({})));
}

TEST(Order, BearsAnyDepth) {
    auto left = testing::nested_lists(100'000);
    auto same = testing::nested_lists(100'000);
    auto deeper = testing::nested_lists(100'001);

    EXPECT_TRUE(left == same);
    EXPECT_TRUE(compare(left, same) == 0);
    EXPECT_EQ(hash(left), hash(same));
    EXPECT_FALSE(left == deeper);
    EXPECT_TRUE(compare(left, deeper) < 0);
}

RC_GTEST_PROP(Order, IsAntisymmetricAndAgreesWithEquality, ()) {
    auto left = *rc::gen::oneOf(crowded_value(), arbitrary_value());
    auto right = *rc::gen::oneOf(crowded_value(), arbitrary_value());

    RC_ASSERT(compare(left, right) == (0 <=> compare(right, left)));
    RC_ASSERT((left == right) == (compare(left, right) == 0));
    RC_ASSERT(left == left); // NOLINT(misc-redundant-expression)
    RC_ASSERT(left != right || hash(left) == hash(right));
}

RC_GTEST_PROP(Order, IsTransitive, ()) {
    auto values = std::vector<Value>{*crowded_value(), *crowded_value(), *crowded_value()};
    std::ranges::sort(values,
                      [](const auto& left, const auto& right) { return compare(left, right) < 0; });

    RC_ASSERT((compare(values[0], values[1]) <= 0));
    RC_ASSERT((compare(values[1], values[2]) <= 0));
    RC_ASSERT((compare(values[0], values[2]) <= 0));
    RC_ASSERT((compare(values[0], values[2]) != 0 || compare(values[0], values[1]) == 0));
}

// Beyond rapidcheck's luck: every triple of the numbers where kinds meet.
TEST(Order, IsTransitiveOverAllEdgeNumbers) {
    auto numbers = testing::edge_numbers();
    for (const auto& first : numbers) {
        for (const auto& second : numbers) {
            for (const auto& third : numbers) {
                if (compare(first, second) <= 0 && compare(second, third) <= 0) {
                    EXPECT_TRUE(compare(first, third) <= 0);
                }
            }
        }
    }
}

RC_GTEST_PROP(Order, EqualValuesBuiltApartHaveEqualHashes, ()) {
    auto value = *arbitrary_value(testing::Kinds::All, 2);
    auto wrapped = Value::object({{"first", value}, {"second", 2}, {"third", value}});

    RC_ASSERT(wrapped == reversed(wrapped));
    RC_ASSERT(hash(wrapped) == hash(reversed(wrapped)));
}

} // namespace sluice::value
