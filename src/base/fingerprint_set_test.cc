#include "base/fingerprint_set.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/fingerprint.h"

namespace sluice {
namespace {

/// Few of them, near each other, so that they meet in the table.
Fingerprint near_print(int number) {
    return {.high = static_cast<std::uint64_t>(number / 40),
            .low = static_cast<std::uint64_t>(number % 40) + 2};
}

TEST(FingerprintSet, HasWhatWasPutIn) {
    auto set = FingerprintSet{};
    set.prefetch(fingerprint("a"));
    EXPECT_FALSE(set.contains(fingerprint("a")));
    EXPECT_TRUE(set.insert(fingerprint("a")));
    EXPECT_FALSE(set.insert(fingerprint("a")));
    set.prefetch(fingerprint("a"));
    EXPECT_TRUE(set.contains(fingerprint("a")));
    EXPECT_FALSE(set.contains(fingerprint("b")));
    EXPECT_EQ(set.size(), 1U);
}

TEST(FingerprintSet, HoldsZeroLikeAnyOther) {
    auto set = FingerprintSet{};
    EXPECT_FALSE(set.contains({}));
    EXPECT_TRUE(set.insert({}));
    EXPECT_TRUE(set.contains({}));
    set.erase({});
    EXPECT_FALSE(set.contains({}));
    EXPECT_EQ(set.size(), 0U);
}

TEST(FingerprintSet, HasAllOfManyAndNoOther) {
    auto set = FingerprintSet{};
    for (auto number = 0; number < 50'000; ++number) {
        ASSERT_TRUE(set.insert(fingerprint(std::to_string(number))));
    }
    for (auto number = 0; number < 50'000; number += 2) {
        set.erase(fingerprint(std::to_string(number)));
    }
    EXPECT_EQ(set.size(), 25'000U);
    for (auto number = 0; number < 60'000; ++number) {
        auto print = fingerprint(std::to_string(number));
        set.prefetch(print);
        ASSERT_EQ(set.contains(print), number % 2 == 1 && number < 50'000) << number;
    }
}

RC_GTEST_PROP(FingerprintSet, DoesAsAnySetDoes, ()) {
    auto set = FingerprintSet{};
    auto model = std::set<Fingerprint>{};
    auto numbers = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-400, 400));
    for (auto number : numbers) {
        if (number > 0) {
            RC_ASSERT(set.insert(near_print(number)) == model.insert(near_print(number)).second);
        } else {
            set.erase(near_print(-number));
            model.erase(near_print(-number));
        }
        RC_ASSERT(set.size() == model.size());
    }
    for (auto number = 0; number < 400; ++number) {
        RC_ASSERT(set.contains(near_print(number)) == model.contains(near_print(number)));
    }
}

} // namespace
} // namespace sluice
