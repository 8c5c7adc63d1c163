#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/kafka/bus.h"
#include "connector/kafka/source.h"
#include "connector/kafka/testing/reading.h"
#include "connector/kafka/testing/real_kafka.h"
#include "observe/testing/captured_diagnostics.h"

namespace sluice::connector::kafka {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Kafka 0.9, whose topics come to be when they are first written to.
class OldKafka : public ::testing::Test {
protected:
    void SetUp() override {
        if (!kafka_ || kafka_->options().version != Version::Kafka09) {
            GTEST_SKIP() << testing::RealKafka::why_not();
        }
    }

    std::optional<testing::RealKafka> kafka_ = testing::RealKafka::find();
    observe::testing::CapturedDiagnostics diag_;
};

TEST_F(OldKafka, IsWrittenToAndReadByPosition) {
    auto options = kafka_->options();
    auto bus = std::move(*open_bus(options, diag_));
    auto refused = bus->create(4);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("kafka-topics.sh"));

    auto producer = std::move(*bus->open_producer());
    for (auto id = 1U; id <= 5; ++id) {
        producer->send(
            {.to = bus->partition(ShardId{2}), .json = testing::event_json(id)},
            [](Result<void> result) { EXPECT_TRUE(result.has_value()) << result.error().message; });
    }
    auto flushed = producer->flush(40s);
    ASSERT_TRUE(flushed.has_value()) << flushed.error().message;
    EXPECT_TRUE(bus->create(4).has_value());
    kafka_->order("restart");
    auto source = std::move(*bus->open_source());
    ASSERT_TRUE(source->resume(bus->partition(ShardId{2}), 2));

    auto reads = testing::read_some(*source, 3, 40s);

    EXPECT_THAT(testing::numbers(reads), ElementsAre(3, 4, 5));
    EXPECT_EQ(reads[0].text, testing::event_json(3));
}

} // namespace
} // namespace sluice::connector::kafka
