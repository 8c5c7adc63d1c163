#include "observe/metrics.h"

#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::observe {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Metrics, SnapshotHasEveryNameWithItsValue) {
    auto metrics = Metrics{};
    metrics.counter("events").add(2);
    metrics.counter("events").add();
    metrics.gauge("runs").set(5);
    metrics.gauge("runs").add(-7);

    EXPECT_THAT(metrics.snapshot(), ElementsAre(Pair("events", 3), Pair("runs", -2)));
}

TEST(Metrics, AReferenceStaysGoodWhenOthersAreAdded) {
    auto metrics = Metrics{};
    auto& first = metrics.counter("first");
    for (auto number = 0; number < 100; number++) {
        metrics.counter("other " + std::to_string(number));
    }

    first.add();

    EXPECT_EQ(metrics.counter("first").value(), 1U);
}

TEST(Metrics, CountsEveryAdditionOfEveryThread) {
    auto metrics = Metrics{};
    auto threads = std::vector<std::jthread>{};
    for (auto thread = 0; thread < 12; thread++) {
        threads.emplace_back([&] {
            auto& counter = metrics.counter("events");
            for (auto count = 0; count < 1'000; count++) {
                counter.add();
            }
        });
    }
    threads.clear();

    EXPECT_EQ(metrics.counter("events").value(), 12'000U);
}

TEST(Metrics, TellsPrometheusFamiliesTogether) {
    auto metrics = Metrics{};
    metrics.counter("calls_total{function=\"a\"}").add(2);
    metrics.counter("calls_total_b").add(1);
    metrics.counter(Metrics::labelled("calls_total", {{"function", "b\"\n"}})).add(3);
    metrics.gauge("runs").set(-4);

    EXPECT_EQ(metrics.to_prometheus("x_"),
              "# TYPE x_calls_total counter\n"
              "x_calls_total{function=\"a\"} 2\n"
              "x_calls_total{function=\"b\\\" \"} 3\n"
              "# TYPE x_calls_total_b counter\n"
              "x_calls_total_b 1\n"
              "# TYPE x_runs gauge\n"
              "x_runs -4\n");
}

TEST(Metrics, AHistogramCountsUpToEachBound) {
    auto metrics = Metrics{};
    auto& taken = metrics.histogram("took_seconds{of=\"a\"}");
    for (auto nanos : {50'000, 50'001, 1'000'000, 2'000'000'000}) {
        taken.add(Nanos{nanos});
    }
    taken.add(std::chrono::minutes{2});

    auto text = metrics.to_prometheus("");

    EXPECT_THAT(text, ::testing::StartsWith("# TYPE took_seconds histogram\n"
                                            "took_seconds_bucket{of=\"a\",le=\"5e-05\"} 1\n"
                                            "took_seconds_bucket{of=\"a\",le=\"0.0001\"} 2\n"));
    EXPECT_THAT(text, ::testing::HasSubstr("{of=\"a\",le=\"60\"} 4\n"));
    EXPECT_THAT(text, ::testing::HasSubstr("{of=\"a\",le=\"+Inf\"} 5\n"
                                           "took_seconds_sum{of=\"a\"} 122.001100001\n"
                                           "took_seconds_count{of=\"a\"} 5\n"));
}

TEST(MetricsDeathTest, ANameIsNotBothCounterAndGauge) {
    auto metrics = Metrics{};
    metrics.counter("events");

    EXPECT_DEATH(metrics.gauge("events"), "a gauge is nothing else");
}

} // namespace
} // namespace sluice::observe
