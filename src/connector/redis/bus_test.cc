#include "connector/redis/bus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/redis/testing/scene.h"

namespace sluice::connector::redis {
namespace {

using ::testing::HasSubstr;
using testing::numbers;
using testing::Scene;

class RedisBus : public ::testing::Test {
public:
    void SetUp() override {
        if (!resp::testing::is_redis_installed()) {
            GTEST_SKIP() << "redis-server is not installed";
        }
        scene.emplace();
        ASSERT_TRUE(scene->is_there()) << "redis-server does not start";
        auto opened = open_bus(scene->options(), diagnostics);
        ASSERT_TRUE(opened);
        bus = std::move(*opened);
    }

    observe::testing::CapturedDiagnostics diagnostics;
    std::optional<Scene> scene;
    std::unique_ptr<event::Bus> bus;
};

TEST_F(RedisBus, CarriesEventsFromEndToEnd) {
    ASSERT_TRUE(bus->create(4));
    ASSERT_TRUE(bus->create(4));
    EXPECT_EQ(bus->partition(ShardId{3}), "bus:events:3");
    auto producer = bus->open_producer();
    auto source = bus->open_source();
    ASSERT_TRUE(producer && source);
    for (auto shard = std::uint16_t{0}; shard < 4; ++shard) {
        ASSERT_TRUE((*source)->resume(bus->partition(ShardId{shard}), 0));
    }
    for (auto number = std::uint64_t{0}; number < 400; ++number) {
        auto shard = ShardId{static_cast<std::uint16_t>(number % 4)};
        (*producer)->send({bus->partition(shard), "", testing::event_json(number)},
                          [](const Result<void>& outcome) { EXPECT_TRUE(outcome); });
    }
    auto got = testing::read(**source, 400);

    std::ranges::sort(got.ids);
    EXPECT_EQ(got.ids, numbers(0, 400));
    ASSERT_TRUE((*producer)->flush(std::chrono::seconds{20}));
}

TEST_F(RedisBus, AnotherShapeIsAConflict) {
    ASSERT_TRUE(bus->create(4));

    auto other = bus->create(5);
    EXPECT_EQ(other.error().code, Errc::Conflict);
    EXPECT_THAT(other.error().message, HasSubstr("has 4 partitions, not 5"));
    ASSERT_TRUE(bus->remove(4));
    EXPECT_EQ(scene->tell("DBSIZE")->number(), 0);
    ASSERT_TRUE(scene->tell("SET", "bus:events:1", "x"));
    EXPECT_EQ(bus->create(5).error().code, Errc::Conflict);
}

TEST_F(RedisBus, MeasuresItsCeiling) {
    ASSERT_TRUE(bus->create(1));
    scene->add(bus->partition(ShardId{0}), 0, 2500);

    auto ceiling = bus->measure(ShardId{0}, 2500);
    ASSERT_TRUE(ceiling) << ceiling.error().message;
    EXPECT_GT(ceiling->position_events_per_second, 0);
    EXPECT_GT(ceiling->group_events_per_second, 0);
    EXPECT_EQ(bus->measure(ShardId{0}, 3000).error().code, Errc::NotFound);
}

} // namespace
} // namespace sluice::connector::redis
