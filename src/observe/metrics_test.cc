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

TEST(MetricsDeathTest, ANameIsNotBothCounterAndGauge) {
    auto metrics = Metrics{};
    metrics.counter("events");

    EXPECT_DEATH(metrics.gauge("events"), "a counter is no gauge");
}

} // namespace
} // namespace sluice::observe
