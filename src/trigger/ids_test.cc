#include "trigger/ids.h"

#include <set>

#include <gtest/gtest.h>

namespace sluice::trigger {
namespace {

std::string key_of(const std::string& id) {
    return id.substr(0, id.find('~'));
}

TEST(RunId, IsBoundedUtf8WithoutSpacesSlashesAndControls) {
    for (const auto* id : {"r", "order-7", "größe", "group~7", "日本"}) {
        EXPECT_TRUE(is_run_id(id)) << id;
    }
    for (const auto* id : {"", "a b", "a/b", "a\tb", "a\x7f", "a\xff", "\xc0\x80", "a\xe2\x82"}) {
        EXPECT_FALSE(is_run_id(id)) << id;
    }
    EXPECT_TRUE(is_run_id(std::string(run_id_bytes_max, 'r')));
    EXPECT_FALSE(is_run_id(std::string(run_id_bytes_max + 1, 'r')));
}

TEST(RunId, OfANestedRunCannotBeGiven) {
    for (const auto* id : {"r~1.0", "r~1.0~22.13", "r~spread", "r.1.0~spread", "~r", "r~"}) {
        EXPECT_FALSE(is_given_run_id(id)) << id;
    }
    for (const auto* id : {"r", "r.1.0", "group~7", "r~1", "r~1.x", "r~.0", "r~1.0.", "r~1.0~x"}) {
        EXPECT_TRUE(is_given_run_id(id)) << id;
    }
}

TEST(RunId, OfANestedRunLiesBesideItsParentUnlessSpread) {
    auto beside = nested_run_id("r", FireNumber{3}, 4, Placement::Beside);
    auto spread = nested_run_id(beside, FireNumber{5}, 6, Placement::Spread);

    EXPECT_EQ(beside, "r~3.4");
    EXPECT_EQ(spread, "r.5.6~3.4~spread");
    EXPECT_EQ(key_of(beside), "r");
    EXPECT_NE(key_of(spread), "r");
    EXPECT_TRUE(is_nested_run_id(beside));
    EXPECT_TRUE(is_nested_run_id(spread));
    EXPECT_TRUE(is_spread(spread));
    EXPECT_FALSE(is_spread(beside));
}

TEST(RunId, OfNestedRunsAreAllDifferent) {
    auto level = std::vector<std::string>{"r", "r.1.1", "r~x", "r.1.1~x", "r.1.1.1.1"};
    auto seen = std::set<std::string>(level.begin(), level.end());
    for (auto depth = 0; depth < 3; ++depth) {
        auto next = std::vector<std::string>{};
        for (const auto& parent : level) {
            for (auto index : {1U, 11U}) {
                for (auto placement : {Placement::Beside, Placement::Spread}) {
                    next.push_back(nested_run_id(parent, FireNumber{1}, index, placement));
                    EXPECT_TRUE(seen.insert(next.back()).second) << next.back();
                }
            }
        }
        level = std::move(next);
    }
}

} // namespace
} // namespace sluice::trigger
