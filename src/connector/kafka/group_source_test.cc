#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/kafka/source.h"
#include "connector/kafka/testing/mock_cluster.h"
#include "connector/kafka/testing/reading.h"
#include "observe/testing/captured_diagnostics.h"

namespace sluice::connector::kafka {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::numbers;
using testing::Read;
using testing::read_some;

class KafkaGroup : public ::testing::Test {
protected:
    KafkaGroup() { cluster_.make_topic("orders", 2); }

    std::unique_ptr<event::Source> join(std::string_view strategy = "range") {
        auto options = cluster_.options();
        options.topics = {"orders"};
        options.group = "users";
        options.consume = Consume::Group;
        options.settings["partition.assignment.strategy"] = strategy;
        options.settings["session.timeout.ms"] = "6000";
        options.settings["heartbeat.interval.ms"] = "200";
        return std::move(*open_source("orders", options, diag_));
    }
    void put(int partition, std::uint64_t first, std::uint64_t last) {
        for (auto id = first; id <= last; ++id) {
            cluster_.put("orders", partition, testing::event_json(id));
        }
    }
    static void confirm_all(event::Source& source, const std::vector<Read>& reads) {
        for (const auto& read : reads) {
            source.confirm(read.partition, read.number);
        }
    }

    observe::testing::CapturedDiagnostics diag_;
    testing::MockCluster cluster_{1};
};

TEST_F(KafkaGroup, WhatWasConfirmedIsNotReadAgain) {
    put(0, 1, 4);
    {
        auto source = join();
        auto reads = read_some(*source, 4);
        ASSERT_EQ(reads.size(), 4);
        EXPECT_FALSE(reads[0].is_numbered);
        source->confirm("orders/0", 3);
    }
    auto source = join();

    auto reads = read_some(*source, 1);

    ASSERT_EQ(reads.size(), 1);
    EXPECT_EQ(reads[0].text, testing::event_json(4));
    EXPECT_EQ(reads[0].number, 1) << "numbers count what was read";
}

TEST_F(KafkaGroup, WhatWasNotConfirmedComesAgain) {
    put(1, 1, 2);
    {
        auto source = join();
        EXPECT_EQ(read_some(*source, 2).size(), 2);
    }
    auto source = join();

    EXPECT_EQ(read_some(*source, 2).size(), 2);
}

class KafkaRebalance : public KafkaGroup, public ::testing::WithParamInterface<const char*> {};

TEST_P(KafkaRebalance, MembersShareThePartitionsAndLoseNothing) {
    put(0, 1, 5);
    put(1, 6, 10);
    auto first = join(GetParam());
    auto before = read_some(*first, 10);
    ASSERT_EQ(before.size(), 10);
    confirm_all(*first, before);

    auto second = join(GetParam());
    auto owned = std::set<std::string>{};
    auto id = std::uint64_t{100};
    auto missing = std::set<std::string>{};
    auto end = SystemClock{}.steady() + Nanos{120s};
    // Both have one partition each when the second reads something.
    while (owned.empty() && SystemClock{}.steady() < end) {
        put(0, id, id);
        put(1, id + 1, id + 1);
        missing.insert({testing::event_json(id), testing::event_json(id + 1)});
        id += 2;
        for (auto* source : {first.get(), second.get()}) {
            auto reads = read_some(*source, 2, 300ms);
            for (const auto& read : reads) {
                EXPECT_EQ(read.fault, "");
                missing.erase(read.text);
                if (source == second.get()) {
                    owned.insert(read.partition);
                }
            }
            confirm_all(*source, reads);
        }
    }
    EXPECT_FALSE(owned.empty());
    while (!missing.empty() && SystemClock{}.steady() < end) {
        for (auto* source : {first.get(), second.get()}) {
            for (const auto& read : read_some(*source, 1, 200ms)) {
                missing.erase(read.text);
            }
        }
    }
    EXPECT_THAT(missing, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Strategies, KafkaRebalance,
                         ::testing::Values("range", "cooperative-sticky"), [](const auto& info) {
                             return std::string{info.param} == "range" ? "Eager" : "Cooperative";
                         });

TEST_F(KafkaGroup, WhatIsLeftComesAgainWithNumbersThatRise) {
    put(0, 1, 3);
    auto source = join();
    auto reads = read_some(*source, 3);
    ASSERT_THAT(numbers(reads), ElementsAre(1, 2, 3));
    source->confirm("orders/0", 1);

    source->leave("orders/0");
    put(0, 4, 4);
    EXPECT_THAT(read_some(*source, 1, 500ms), IsEmpty());
    ASSERT_TRUE(source->resume("orders/0", 0));
    auto again = read_some(*source, 3);

    ASSERT_EQ(again.size(), 3);
    EXPECT_EQ(again[0].text, testing::event_json(2));
    EXPECT_THAT(numbers(again), ElementsAre(4, 5, 6));
}

TEST_F(KafkaGroup, ClosingTakesLittleTimeWithoutABroker) {
    auto source = join();
    put(0, 1, 1);
    auto reads = read_some(*source, 1);
    rd_kafka_mock_broker_set_down(cluster_.get(), 1);
    confirm_all(*source, reads);
    auto begin = SystemClock{}.steady();

    source.reset();

    EXPECT_LT(SystemClock{}.steady() - begin, Nanos{10s});
}

} // namespace
} // namespace sluice::connector::kafka
