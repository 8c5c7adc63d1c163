#include "engine/references.h"

#include <gtest/gtest.h>

#include "store/objects/memory_objects.h"

namespace sluice::engine {
namespace {

class ReferencesTest : public ::testing::Test {
protected:
    Value large_ = Value::list({Value{std::string(1'000, 'x')}, Value{1.5}, Value{}});
    RunName run_{.id = "r1"};
    store::MemoryObjects objects_;
    References references_{objects_, Secret{1}};
};

TEST_F(ReferencesTest, StandForWhatWasPut) {
    auto reference = *references_.put(run_, large_);
    auto input = Value::object({{"a", Value::list({Value{1}, reference})}, {"b", "c"}});

    EXPECT_TRUE(references_.has_any(input));
    EXPECT_EQ(references_.fill(run_, input, 10'000),
              Value::object({{"a", Value::list({Value{1}, large_})}, {"b", "c"}}));
    EXPECT_FALSE(is_larger_than(reference, 200));
}

TEST_F(ReferencesTest, WhatOnlyLooksLikeOneIsAValue) {
    auto reference = *references_.put(run_, large_);
    auto other = References{objects_, Secret{2}};
    auto longer = reference.with("bytes", 1);
    auto more = reference.with("more", 1);

    EXPECT_FALSE(other.has_any(reference)) << "sealed by another store";
    for (const auto& each : {longer, more, Value::object({{"dataref", "sluice:object/x"}})}) {
        EXPECT_FALSE(references_.has_any(each));
        EXPECT_EQ(references_.fill(run_, each, 10'000), each);
    }
}

TEST_F(ReferencesTest, AreLookedUpAmongTheOwnObjectsOnly) {
    auto reference = *references_.put(run_, large_);

    auto elsewhere = references_.fill({.space = "team", .id = "r1"}, reference, 10'000);

    EXPECT_EQ(elsewhere.error().code, Errc::NotFound);
    EXPECT_EQ(references_.fill_or_leave({.id = "r2"}, reference), reference);
}

TEST_F(ReferencesTest, NestedRunsShareTheirRootsObjects) {
    auto reference = *references_.put({.id = "r1~3.0~1.2"}, large_);

    EXPECT_EQ(references_.fill({.id = "r1~4.0"}, reference, 10'000), large_);
    EXPECT_EQ(owner_of({.id = "a~b"}).run, "a~b") << "a name that its author chose";
    EXPECT_EQ(owner_of({.id = "a.1.0~spread~2.0"}).run, "a.1.0~spread");
}

TEST_F(ReferencesTest, TogetherTheyHaveALimit) {
    auto reference = *references_.put(run_, large_);
    auto two = Value::list({reference, reference});

    EXPECT_TRUE(references_.fill(run_, two, 2'100));
    EXPECT_EQ(references_.fill(run_, two, 2'000).error().code, Errc::LimitExceeded);
}

TEST_F(ReferencesTest, SizesAreAbout) {
    EXPECT_FALSE(is_larger_than(large_, 1'100));
    EXPECT_TRUE(is_larger_than(large_, 1'000));
    EXPECT_TRUE(is_larger_than(Value::object({{std::string(50, 'k'), 1}}), 40));
}

TEST_F(ReferencesTest, APolicySaysWhereTheyMayBe) {
    auto kept = Value::object({{"large", "kept"}});
    auto in_root = Value::object({{"large", "root"}});

    EXPECT_TRUE(may_be_kept(kept, {.id = "r1~1.0"}));
    EXPECT_TRUE(may_be_kept(in_root, {.id = "r1"}));
    EXPECT_FALSE(may_be_kept(in_root, {.id = "r1~1.0"}));
    EXPECT_FALSE(may_be_kept(Value{}, {.id = "r1"}));
}

} // namespace
} // namespace sluice::engine
