#include "connector/kafka/internal/fetched_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/kafka/testing/batch_writer.h"
#include "event/frame_unpacker.h"

namespace sluice::connector::kafka::internal {
namespace {

using testing::BatchWriter;
using ::testing::ElementsAre;

class FetchedRecordsTest : public ::testing::Test {
protected:
    FetchedRecords fetched(const BatchWriter& batch, std::int64_t from = 0) {
        auto bytes = batch.bytes();
        auto size = bytes.size();
        answer_ = std::make_shared<const std::string>(
            bytes + std::string(event::Codec::padding_bytes, '\0'));
        auto part = Fetched{.batches = std::string_view{*answer_}.substr(0, size)};
        return {answer_, part, from, {}};
    }
    static std::vector<std::string> texts(const event::Chunk& chunk) {
        auto texts = std::vector<std::string>{};
        for (const auto& record : chunk.records) {
            texts.push_back(chunk.bytes->substr(record.begin, record.size));
        }
        return texts;
    }

    static std::string unpacked(const event::PackedText& packed) {
        auto unpacker = event::FrameUnpacker{};
        auto text = std::string{};
        auto used = std::size_t{0};
        for (auto frame : packed.frames) {
            used = unpacker.unpack(frame, text, used, packed.size).value();
            EXPECT_EQ(frame, "");
        }
        EXPECT_EQ(used, packed.size);
        return text;
    }

    std::shared_ptr<const std::string> answer_;
    event::ChunkBuilder builder_;
};

TEST_F(FetchedRecordsTest, EventsAsTheyLieAreNotCopied) {
    auto records = fetched({.base_offset = 4, .records = {{.value = "{1}"}, {.value = "{2}"}}});

    auto chunk = *records.take(builder_, 1000);

    EXPECT_EQ(chunk.bytes, answer_);
    EXPECT_THAT(texts(chunk), ElementsAre("{1}", "{2}"));
    EXPECT_EQ(chunk.records[0].number, 5U) << "the offset and one";
    EXPECT_TRUE(records.take(builder_, 1000)->records.empty());
}

TEST_F(FetchedRecordsTest, ComesInPiecesOfAboutWhatWasAskedFor) {
    auto records = fetched({.records = {{.value = "12345"}, {.value = "678"}, {.value = "9"}}});

    EXPECT_THAT(texts(*records.take(builder_, 6)), ElementsAre("12345"));
    EXPECT_THAT(texts(*records.take(builder_, 1)), ElementsAre("678")) << "at least one";
    EXPECT_THAT(texts(*records.take(builder_, 6)), ElementsAre("9"));
}

TEST_F(FetchedRecordsTest, WhatIsWrittenAnewKeepsItsPlace) {
    auto structured = std::pair{std::string{"content-type"},
                                std::string{"application/cloudevents+json; charset=utf-8"}};
    auto records = fetched({.records = {{.value = "{1}"},
                                        {.value = "{2}", .headers = {structured}},
                                        {.value = "{3}", .headers = {{"content-type", "text/css"}}},
                                        {.value = "{4}"}}});

    EXPECT_THAT(texts(*records.take(builder_, 1000)), ElementsAre("{1}"));
    auto made = *records.take(builder_, 1000);
    EXPECT_THAT(texts(made), ElementsAre("{2}", "{3}"));
    EXPECT_EQ(made.records[0].fault, "");
    EXPECT_NE(made.records[1].fault, "");
    EXPECT_THAT(texts(*records.take(builder_, 1000)), ElementsAre("{4}"));
}

TEST_F(FetchedRecordsTest, EventsLieInWhatWasUnpacked) {
    auto records =
        fetched({.records = {{.value = "{1}"}, {.value = "{2}"}}, .packing = Packing::Lz4});

    auto chunk = *records.take(builder_, 1000);

    EXPECT_NE(chunk.bytes, answer_);
    EXPECT_THAT(texts(chunk), ElementsAre("{1}", "{2}"));
    EXPECT_GE(chunk.bytes->size(), chunk.records[1].begin + 3 + event::Codec::padding_bytes);
}

TEST_F(FetchedRecordsTest, TellsWhatEventsWereUnpackedFrom) {
    auto bytes =
        BatchWriter{.records = {{.value = "{1}"}, {.value = "{2}"}}, .packing = Packing::Lz4}
            .bytes() +
        BatchWriter{.base_offset = 2, .records = {{.value = "{3}"}}, .packing = Packing::Zstd}
            .bytes();
    answer_ = std::make_shared<const std::string>(bytes);
    auto records = FetchedRecords{answer_, {.batches = *answer_}, 0, {}};

    auto chunk = *records.take(builder_, 1000);

    EXPECT_THAT(texts(chunk), ElementsAre("{1}", "{2}", "{3}"));
    ASSERT_TRUE(chunk.packed);
    EXPECT_EQ(chunk.packed->bytes, chunk.bytes);
    EXPECT_EQ(chunk.packed->events, 3U);
    EXPECT_EQ(unpacked(*chunk.packed), chunk.bytes->substr(0, chunk.packed->size));
    EXPECT_EQ(chunk.packed->owner, answer_);
}

TEST_F(FetchedRecordsTest, WhatWasUnpackedAtOnceStaysTogetherIfItIsNotTooLarge) {
    auto batch = BatchWriter{.packing = Packing::Lz4};
    batch.records.assign(10, {.value = std::string(100, 'x')});
    auto whole = fetched(batch);
    EXPECT_EQ(whole.take(builder_, 700)->records.size(), 10U);
    auto cut = fetched(batch);
    EXPECT_EQ(cut.take(builder_, 300)->records.size(), 3U);
}

TEST_F(FetchedRecordsTest, WhatWasNotPackedOrMuchTooWellIsNotTold) {
    auto thin =
        fetched({.records = {{.value = std::string(500'000, 'x')}}, .packing = Packing::Zstd});
    auto chunk = *thin.take(builder_, 1'000'000);
    EXPECT_EQ(chunk.records.size(), 1U);
    EXPECT_FALSE(chunk.packed);
    auto none = fetched({.records = {{.value = "{1}"}}});
    EXPECT_FALSE(none.take(builder_, 1000)->packed);
}

TEST_F(FetchedRecordsTest, PackedBatchesAmongOthersKeepTheirPlace) {
    auto bytes =
        BatchWriter{.base_offset = 0, .records = {{.value = "{1}"}}}.bytes() +
        BatchWriter{.base_offset = 1, .records = {{.value = "{2}"}}, .packing = Packing::Lz4}
            .bytes() +
        BatchWriter{.base_offset = 2, .records = {{.value = "{3}"}}, .packing = Packing::Zstd}
            .bytes() +
        BatchWriter{.base_offset = 3, .records = {{.value = "{4}"}}}.bytes();
    answer_ = std::make_shared<const std::string>(bytes);
    auto records = FetchedRecords{answer_, {.batches = *answer_}, 0, {}};

    EXPECT_THAT(texts(*records.take(builder_, 1000)), ElementsAre("{1}"));
    EXPECT_THAT(texts(*records.take(builder_, 1000)), ElementsAre("{2}", "{3}"));
    EXPECT_THAT(texts(*records.take(builder_, 1000)), ElementsAre("{4}"));
}

TEST_F(FetchedRecordsTest, WhatCameBeforeAFaultIsGivenFirst) {
    auto bytes = BatchWriter{.base_offset = 0, .records = {{.value = "{1}"}}}.bytes() +
                 BatchWriter{.base_offset = 1, .records = {{.value = "{2}"}}, .format = 1}.bytes();
    answer_ = std::make_shared<const std::string>(bytes);
    auto records = FetchedRecords{answer_, {.batches = *answer_}, 0, {}};

    EXPECT_THAT(texts(*records.take(builder_, 1000)), ElementsAre("{1}"));
    EXPECT_EQ(records.take(builder_, 1000).error().code, Errc::Unsupported);
}

} // namespace
} // namespace sluice::connector::kafka::internal
