#include "connector/amqp/internal/queue_lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/amqp/internal/bytes.h"
#include "connector/amqp/internal/table.h"

namespace sluice::connector::amqp::internal {

namespace {

using ::testing::HasSubstr;

/// Frames as the library hands them out.
class QueueLaneTest : public ::testing::Test {
protected:
    Result<bool> deliver(QueueLane& lane, std::uint64_t tag, std::string_view consumer = "tag") {
        delivery_.delivery_tag = tag;
        delivery_.consumer_tag = bytes_of(consumer);
        auto frame = amqp_frame_t{};
        frame.frame_type = AMQP_FRAME_METHOD;
        frame.payload.method = {.id = AMQP_BASIC_DELIVER_METHOD, .decoded = &delivery_};
        return lane.take(frame);
    }
    Result<bool> header(QueueLane& lane, std::uint64_t size, std::int64_t offset = -1) {
        headers_.clear();
        properties_ = {};
        if (offset >= 0) {
            headers_.number("x-stream-offset", offset);
            properties_._flags = AMQP_BASIC_HEADERS_FLAG;
            properties_.headers = headers_.view();
        }
        auto frame = amqp_frame_t{};
        frame.frame_type = AMQP_FRAME_HEADER;
        frame.payload.properties.body_size = size;
        frame.payload.properties.decoded = &properties_;
        return lane.take(frame);
    }
    static Result<bool> body(QueueLane& lane, std::string_view part) {
        auto frame = amqp_frame_t{};
        frame.frame_type = AMQP_FRAME_BODY;
        frame.payload.body_fragment = bytes_of(part);
        return lane.take(frame);
    }
    void message(QueueLane& lane, std::uint64_t tag, std::int64_t offset, std::string_view text) {
        ASSERT_TRUE(deliver(lane, tag));
        ASSERT_TRUE(header(lane, text.size(), offset));
        auto done = body(lane, text);
        ASSERT_TRUE(done && *done);
    }

    static Lane::Settings stream(std::uint64_t position) {
        return {.name = "q", .position = position};
    }

private:
    amqp_basic_deliver_t delivery_{};
    amqp_basic_properties_t properties_{};
    Table headers_;
};

TEST_F(QueueLaneTest, PutsAMessageTogether) {
    auto lane = QueueLane{stream(0), "tag", 1};

    ASSERT_TRUE(deliver(lane, 1));
    ASSERT_TRUE(header(lane, 6, 0));
    EXPECT_EQ(body(lane, "abc"), false);
    EXPECT_EQ(body(lane, "def"), true);
    ASSERT_TRUE(deliver(lane, 2));
    EXPECT_EQ(header(lane, 0, 1), true) << "nothing comes behind an empty one";

    auto chunk = lane.take_chunk();
    ASSERT_EQ(chunk.records.size(), 2);
    EXPECT_EQ(chunk.bytes->substr(0, 6), "abcdef");
    EXPECT_EQ(chunk.records[1].number, 2);
}

TEST_F(QueueLaneTest, PassesOverWhatWasRead) {
    auto lane = QueueLane{stream(5), "tag", 1};

    message(lane, 1, 4, "five");
    message(lane, 2, 5, "six");

    EXPECT_EQ(lane.first_number(), 5);
    EXPECT_EQ(lane.count(), 1);
    EXPECT_EQ(lane.position(), 6);
    EXPECT_FALSE(lane.has_gap());
}

TEST_F(QueueLaneTest, TellsOfGaps) {
    auto lane = QueueLane{stream(5), "tag", 1};

    message(lane, 1, 7, "eight");
    message(lane, 2, 20, "twenty-one");

    EXPECT_EQ(lane.take_gap(), 5);
    EXPECT_EQ(lane.take_gap(), 0);
    EXPECT_EQ(lane.count(), 2);
}

TEST_F(QueueLaneTest, DropsWhatWasMeantForAnEarlierConsumer) {
    auto lane = QueueLane{stream(0), "tag", 1};

    ASSERT_TRUE(deliver(lane, 9, "earlier"));
    ASSERT_TRUE(header(lane, 1, 3));
    EXPECT_EQ(body(lane, "x"), true);

    EXPECT_EQ(lane.count(), 0);
    EXPECT_EQ(lane.last_tag(), 0);
}

TEST_F(QueueLaneTest, KeepsTheBeginningOfWhatIsTooLarge) {
    auto settings = stream(0);
    settings.limits.event_bytes_max = 10'000;
    auto lane = QueueLane{settings, "tag", 1};

    ASSERT_TRUE(deliver(lane, 1));
    ASSERT_TRUE(header(lane, 20'000, 0));
    EXPECT_EQ(body(lane, std::string(10'000, 'x')), false);
    EXPECT_EQ(body(lane, std::string(10'000, 'y')), true);

    auto chunk = lane.take_chunk();
    ASSERT_EQ(chunk.records.size(), 1);
    EXPECT_THAT(chunk.records[0].fault, HasSubstr("20000 bytes: at most 10000"));
    EXPECT_LT(chunk.records[0].size, 5000);
}

TEST_F(QueueLaneTest, CountsDeliveriesOnFromItsPosition) {
    auto settings = stream(100);
    settings.numbering = Numbering::ByDelivery;
    auto lane = QueueLane{settings, "tag", 1};

    message(lane, 1, -1, "a");
    message(lane, 2, 7, "b"); // It came out of a stream, by way of somebody else.

    auto chunk = lane.take_chunk();
    EXPECT_FALSE(chunk.is_numbered);
    EXPECT_EQ(chunk.records[1].number, 102);
    EXPECT_EQ(lane.tag_of(102), 2);
    EXPECT_EQ(lane.tag_of(100), 0) << "of an earlier connection";
}

TEST_F(QueueLaneTest, FindsOutThatAStreamIsNone) {
    auto lane = QueueLane{stream(0), "tag", 1};
    auto beyond_settings = stream(10);
    beyond_settings.is_beyond = true;
    auto beyond = QueueLane{beyond_settings, "tag", 1};

    ASSERT_TRUE(deliver(lane, 1));
    EXPECT_FALSE(header(lane, 1));
    ASSERT_TRUE(deliver(beyond, 1));
    EXPECT_EQ(header(beyond, 1, 0).error().code, Errc::NotFound);
}

} // namespace

} // namespace sluice::connector::amqp::internal
