#include "connector/amqp/internal/stream/stream_lane.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/amqp/testing/stream_bytes.h"

namespace sluice::connector::amqp::internal::stream {

namespace {

using testing::chunk_bytes;
using testing::chunk_of;
using testing::entry_bytes;
using ::testing::HasSubstr;
using testing::message_bytes;

constexpr auto all = std::numeric_limits<std::size_t>::max();
constexpr auto prefetch = std::uint16_t{2000};

StreamLane lane_behind(std::uint64_t position) {
    return StreamLane{{.name = "s", .position = position}, 1, prefetch};
}

void take(StreamLane& lane, const std::string& bytes) {
    auto begun = lane.begin(bytes);
    ASSERT_TRUE(begun) << begun.error().message;
    EXPECT_EQ(lane.unpack(all), true);
}

TEST(StreamLane, NumbersAreOffsetsAndOne) {
    auto lane = lane_behind(0);

    take(lane, chunk_of(0, {"a", "b"}));
    take(lane, chunk_of(2, {"c"}));

    auto chunk = lane.take_chunk();
    ASSERT_EQ(chunk.records.size(), 3);
    EXPECT_EQ(chunk.records[0].number, 1);
    EXPECT_EQ(chunk.records[2].number, 3);
    EXPECT_EQ(chunk.bytes->substr(0, 3), "abc");
    EXPECT_EQ(lane.position(), 3);
}

TEST(StreamLane, PassesOverWhatComesBeforeThePosition) {
    auto lane = lane_behind(12);

    take(lane, chunk_of(10, {"a", "b", "c"}));

    auto chunk = lane.take_chunk();
    ASSERT_EQ(chunk.records.size(), 1);
    EXPECT_EQ(chunk.records[0].number, 13);
    EXPECT_EQ(lane.first_number(), 11);
    EXPECT_FALSE(lane.has_gap());
}

TEST(StreamLane, UnpacksAsMuchAsIsWanted) {
    auto lane = lane_behind(0);
    auto bytes = chunk_of(0, std::vector<std::string>(10, std::string(100, 'x')));
    ASSERT_TRUE(lane.begin(bytes));

    EXPECT_EQ(lane.unpack(250), false);
    EXPECT_EQ(lane.count(), 3);
    EXPECT_EQ(lane.unpack(1), false);
    EXPECT_EQ(lane.count(), 4);
    EXPECT_EQ(lane.unpack(all), true);
    EXPECT_EQ(lane.count(), 10);
}

TEST(StreamLane, NoticesAGap) {
    auto lane = lane_behind(5);

    take(lane, chunk_of(8, {"a"}));

    EXPECT_TRUE(lane.has_gap());
    EXPECT_EQ(lane.take_gap(), 5);
}

TEST(StreamLane, RefusesAStreamThatEndsBeforeThePosition) {
    auto lane = lane_behind(100);
    auto bytes = chunk_of(5, {"a"});

    auto begun = lane.begin(bytes);

    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, Errc::NotFound);
    EXPECT_THAT(begun.error().message, HasSubstr("was made anew"));
}

TEST(StreamLane, RefusesWhatMustNotCome) {
    auto lane = StreamLane{{.name = "s", .position = 10, .is_beyond = true}, 1, prefetch};
    auto bytes = chunk_of(9, {"a"});

    ASSERT_TRUE(lane.begin(bytes));
    auto unpacked = lane.unpack(all);

    ASSERT_FALSE(unpacked);
    EXPECT_EQ(unpacked.error().code, Errc::NotFound);
}

TEST(StreamLane, AProbeWantsTheFirstNumberAlone) {
    auto lane = StreamLane{{.name = "s", .is_probe = true}, 1, 1};

    EXPECT_EQ(lane.take_credit(), 1);
    take(lane, chunk_of(41, {"a", "b"}));

    EXPECT_EQ(lane.first_number(), 42);
    EXPECT_EQ(lane.count(), 0);
    EXPECT_EQ(lane.take_credit(), 0);
}

TEST(StreamLane, SetsAsideWhatItCannotRead) {
    auto lane = lane_behind(0);

    take(lane,
         chunk_bytes({.entries = {entry_bytes("no message"), testing::batch_bytes({"a", "b"}, 3),
                                  entry_bytes(message_bytes("{}"))},
                      .records = 4}));

    auto chunk = lane.take_chunk();
    ASSERT_EQ(chunk.records.size(), 3);
    EXPECT_THAT(chunk.records[0].fault, HasSubstr("AMQP 1.0"));
    EXPECT_EQ(chunk.records[1].number, 3);
    EXPECT_THAT(chunk.records[1].fault, HasSubstr("messages 2 to 3 are compressed by lz4"));
    EXPECT_EQ(chunk.records[2].number, 4);
    EXPECT_EQ(chunk.records[2].fault, "");
}

TEST(StreamLane, PassesOverTheStreamsOwnRecords) {
    auto lane = lane_behind(5);

    take(lane, chunk_bytes({.first_offset = 2, .entries = {entry_bytes("tracking")}, .type = 1}));

    EXPECT_EQ(lane.first_number(), 0);
    EXPECT_EQ(lane.count(), 0);
}

TEST(StreamLane, CreditIsAboutThePrefetchInMessages) {
    auto lane = lane_behind(0);

    auto first = lane.take_credit();
    EXPECT_GT(first, 1) << "nobody knows yet how large chunks are";
    EXPECT_EQ(lane.take_credit(), 0) << "they have not come yet";
    for (auto at = std::uint16_t{0}; at < first; ++at) {
        take(lane, chunk_of(at * 100, std::vector<std::string>(100, "x")));
    }
    EXPECT_EQ(lane.take_credit(), prefetch / 100);
    take(lane, chunk_of(5000, std::vector<std::string>(100, "x")));
    EXPECT_EQ(lane.take_credit(), 0) << "a few at a time";
    take(lane, chunk_of(6000, std::vector<std::string>(3000, "x")));
    EXPECT_EQ(lane.take_credit(), 0) << "chunks have become large";
}

TEST(StreamLane, AChunkThatIsWrongMayComeRightAgain) {
    auto lane = lane_behind(0);
    auto bytes = chunk_of(0, {"a"});
    bytes.back() ^= 1;

    auto begun = lane.begin(bytes);

    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, Errc::Unavailable);
    EXPECT_THAT(begun.error().message, HasSubstr("stream s: chunk 0 does not match"));
}

} // namespace

} // namespace sluice::connector::amqp::internal::stream
