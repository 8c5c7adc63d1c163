#include "trigger/internal/seen_ids.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::trigger {
namespace {

Time second(int count) {
    return Time{std::chrono::seconds{count}};
}

constexpr auto ten_seconds = Nanos{std::chrono::seconds{10}};

TEST(SeenIdsTest, KnowsAnIdInAnyPeriod) {
    auto seen = SeenIds{};
    EXPECT_TRUE(seen.add(fingerprint("a"), second(0), ten_seconds));
    EXPECT_TRUE(seen.add(fingerprint("b"), second(10), ten_seconds));

    EXPECT_FALSE(seen.add(fingerprint("a"), second(20), ten_seconds));
    EXPECT_FALSE(seen.add(fingerprint("b"), second(20), ten_seconds));
    EXPECT_EQ(seen.size(), 2U);
}

TEST(SeenIdsTest, ForgetsAPeriodAtATime) {
    auto seen = SeenIds{};
    seen.add(fingerprint("a"), second(0), ten_seconds);
    seen.add(fingerprint("b"), second(9), ten_seconds);
    seen.add(fingerprint("c"), second(10), ten_seconds);
    EXPECT_EQ(seen.oldest_end(ten_seconds), second(10));

    seen.forget_oldest();

    EXPECT_EQ(seen.size(), 1U);
    EXPECT_TRUE(seen.add(fingerprint("a"), second(11), ten_seconds));
    EXPECT_FALSE(seen.add(fingerprint("c"), second(11), ten_seconds));
}

TEST(SeenIdsTest, TakesBackWhatWasAddedSinceTheLastCommit) {
    auto seen = SeenIds{};
    seen.add(fingerprint("a"), second(0), ten_seconds);
    seen.mark_written(1);
    seen.add(fingerprint("b"), second(0), ten_seconds);

    seen.take_back(fingerprint("a"));
    seen.take_back(fingerprint("b"));

    EXPECT_FALSE(seen.has_added());
    EXPECT_FALSE(seen.add(fingerprint("a"), second(0), ten_seconds));
    EXPECT_TRUE(seen.add(fingerprint("b"), second(0), ten_seconds));
}

TEST(SeenIdsTest, HasThePeriodsItHadWhenItIsReadBack) {
    auto seen = SeenIds{};
    auto records = std::vector<std::pair<Time, std::vector<Fingerprint>>>{};
    for (auto at : {0, 4, 10, 14}) {
        seen.add(fingerprint(std::to_string(at)), second(at), ten_seconds);
        records.emplace_back(seen.added_period(),
                             std::vector(seen.added().begin(), seen.added().end()));
        seen.mark_written(records.size());
    }

    auto again = SeenIds{};
    for (auto at = std::size_t{0}; at < records.size(); ++at) {
        again.restore(at + 1, records[at].first, records[at].second);
    }
    EXPECT_EQ(again.size(), 4U);
    again.forget_oldest();

    EXPECT_EQ(again.forgotten_records(), 2U);
    EXPECT_TRUE(again.add(fingerprint("4"), second(15), ten_seconds));
    EXPECT_FALSE(again.add(fingerprint("10"), second(15), ten_seconds));
}

} // namespace
} // namespace sluice::trigger
