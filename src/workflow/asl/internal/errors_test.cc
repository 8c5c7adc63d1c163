#include "workflow/asl/internal/errors.h"

#include <chrono>
#include <set>

#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::workflow::asl::internal {
namespace {

using expr::states::Failure;
using Names = std::vector<std::string>;

TEST(ErrorMatching, KnowsTheWildcards) {
    EXPECT_TRUE(matches(Names{"A", "B"}, "B"));
    EXPECT_FALSE(matches(Names{"A"}, "a"));
    EXPECT_TRUE(matches(Names{"States.ALL"}, "Custom"));
    EXPECT_TRUE(matches(Names{"States.ALL"}, "States.Timeout"));
    EXPECT_TRUE(matches(Names{"States.ALL"}, "States.DataLimitExceeded"));
    EXPECT_TRUE(matches(Names{"States.TaskFailed"}, "Custom"));
    EXPECT_FALSE(matches(Names{"States.TaskFailed"}, "States.Timeout"));
    EXPECT_TRUE(matches(Names{"States.Timeout"}, heartbeat_timeout));
    EXPECT_TRUE(matches(Names{"States.HeartbeatTimeout"}, heartbeat_timeout));
    EXPECT_FALSE(matches(Names{"States.HeartbeatTimeout"}, "States.Timeout"));
    EXPECT_FALSE(matches(Names{}, "A"));
}

TEST(ErrorMatching, LetsNobodyHaveARuntimeError) {
    auto catchers = std::vector<Catcher>{{.errors = {"States.Runtime", "States.ALL"}}};

    EXPECT_EQ(find_catcher(catchers, Failure{"States.Runtime"}), std::nullopt);
    EXPECT_EQ(find_catcher(catchers, Failure{"States.QueryEvaluationError"}), 0U);
    EXPECT_EQ(find_catcher(catchers, Failure{}), 0U);
}

TEST(ErrorMatching, TakesTheFirstThatMatches) {
    auto retriers =
        std::vector<Retrier>{{.errors = {"A"}}, {.errors = {"B"}}, {.errors = {"States.ALL"}}};

    EXPECT_EQ(find_retrier(retriers, Failure{"B"}), 1U);
    EXPECT_EQ(find_retrier(retriers, Failure{"C"}), 2U);
    EXPECT_EQ(find_retrier({}, Failure{"A"}), std::nullopt);
}

TEST(RetryDelay, GrowsUpToALimit) {
    auto retrier = Retrier{.interval_seconds = 2, .backoff_rate = 1.5, .delay_seconds_max = 4};

    EXPECT_EQ(retry_delay(retrier, 0, 0), std::chrono::seconds{2});
    EXPECT_EQ(retry_delay(retrier, 1, 0), std::chrono::seconds{3});
    EXPECT_EQ(retry_delay(retrier, 2, 0), std::chrono::seconds{4});
    EXPECT_EQ(retry_seconds(Retrier{}, 4), 16);
    EXPECT_EQ(retry_seconds(Retrier{.backoff_rate = 100}, 100'000), 99'999'999);
}

TEST(RetryDelay, IsSpreadByJitter) {
    auto retrier = Retrier{.interval_seconds = 8, .has_full_jitter = true};
    auto delays = std::set<Nanos>{};
    for (auto chance = std::uint64_t{0}; chance < 100; ++chance) {
        auto delay = retry_delay(retrier, 1, chance);
        EXPECT_GE(delay, Nanos{0});
        EXPECT_LE(delay, std::chrono::seconds{16});
        EXPECT_EQ(delay, retry_delay(retrier, 1, chance));
        delays.insert(delay);
    }

    EXPECT_GT(delays.size(), 90U);
    EXPECT_GT(*delays.rbegin(), std::chrono::seconds{12});
    EXPECT_LT(*delays.begin(), std::chrono::seconds{4});
}

TEST(ErrorOutput, LeavesOutWhatIsMissing) {
    EXPECT_EQ(value::to_json(error_output(Failure{"E", R"({"a":1})"})),
              R"({"Error":"E","Cause":"{\"a\":1}"})");
    EXPECT_EQ(value::to_json(error_output(Failure{"E"})), R"({"Error":"E"})");
    EXPECT_EQ(
        cause_in_state("It broke.", "S", 2),
        "An error occurred while executing the state 'S' (entered at the event id #2). It broke.");
}

} // namespace
} // namespace sluice::workflow::asl::internal
