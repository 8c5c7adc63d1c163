#include "connector/kafka/internal/record_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/kafka/testing/batch_writer.h"

namespace sluice::connector::kafka::internal {
namespace {

using testing::abort_mark;
using testing::BatchWriter;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Step = RecordCursor::Step;

std::string batch(std::int64_t offset, std::vector<BatchWriter::Record> records,
                  Packing packing = Packing::None) {
    return BatchWriter{.base_offset = offset, .records = std::move(records), .packing = packing}
        .bytes();
}

struct All {
    std::vector<std::int64_t> offsets{};
    std::vector<std::string> values{};
    Step end = Step::End;
    Error fault{};
};

All read_all(std::string_view batches, std::int64_t from = 0, std::vector<Aborted> aborted = {}) {
    auto cursor = RecordCursor{batches, from, std::move(aborted), {}, {}};
    auto all = All{};
    auto record = Record{};
    for (all.end = cursor.next(record); all.end == Step::Record; all.end = cursor.next(record)) {
        all.offsets.push_back(record.offset);
        all.values.emplace_back(record.value);
    }
    all.fault = cursor.fault();
    return all;
}

TEST(RecordCursor, GivesTheRecordsOfAllBatchesInOrder) {
    auto bytes = batch(7, {{.value = "a"}, {.value = "b"}}) + batch(9, {{.value = "c"}});

    auto all = read_all(bytes);

    EXPECT_THAT(all.offsets, ElementsAre(7, 8, 9));
    EXPECT_THAT(all.values, ElementsAre("a", "b", "c"));
    EXPECT_EQ(all.end, Step::End);
    EXPECT_EQ(offset_behind(bytes, 7), 10);
}

TEST(RecordCursor, LeavesOutWhatLiesBeforeTheOffsetThatWasAskedFor) {
    auto all = read_all(batch(7, {{.value = "a"}, {.value = "b"}, {.value = "c"}}), 9);

    EXPECT_THAT(all.offsets, ElementsAre(9));
}

TEST(RecordCursor, PassesOverABatchThatWasCutOff) {
    auto bytes = batch(0, {{.value = "a"}}) + batch(1, {{.value = "b"}});
    bytes.pop_back();

    EXPECT_THAT(read_all(bytes).values, ElementsAre("a"));
    EXPECT_EQ(offset_behind(bytes, 0), 1);
}

TEST(RecordCursor, WhatCompactionLeftIsBehindTheOffsetsItHad) {
    auto bytes = BatchWriter{.base_offset = 5, .records = {}, .offsets = 10}.bytes();

    EXPECT_THAT(read_all(bytes).values, IsEmpty());
    EXPECT_EQ(offset_behind(bytes, 5), 15);
    EXPECT_EQ(offset_behind({}, 5), 5);
}

TEST(RecordCursor, TransactionsThatWereGivenUpDoNotCount) {
    auto part = [](std::int64_t offset, std::string value, std::int64_t producer) {
        return BatchWriter{.base_offset = offset,
                           .records = {{.value = std::move(value)}},
                           .producer = producer,
                           .is_transactional = true}
            .bytes();
    };
    auto bytes = part(0, "given up", 1) + part(1, "of another", 2) +
                 batch(2, {{.value = "plain"}}) + abort_mark(3, 1).bytes() +
                 part(4, "second try", 1);

    auto all = read_all(bytes, 0, {{.producer = 1, .first_offset = 0}});

    EXPECT_THAT(all.values, ElementsAre("of another", "plain", "second try"));
}

class Packings : public ::testing::TestWithParam<Packing> {};

TEST_P(Packings, AreUnpacked) {
    auto large = std::string(700'000, 'x');
    auto bytes = batch(3, {{.value = "a"}, {.value = large}}, GetParam());

    auto all = read_all(bytes);

    EXPECT_THAT(all.offsets, ElementsAre(3, 4));
    EXPECT_THAT(all.values, ElementsAre("a", large));
}

TEST_P(Packings, DamagedTheyAreTold) {
    auto bytes = batch(3, {{.value = "abcabcabcabc"}}, GetParam());
    bytes[61] = '\0';

    auto all = read_all(bytes);

    EXPECT_EQ(all.end, Step::Fault);
    EXPECT_EQ(all.fault.code, Errc::Corrupt);
}

INSTANTIATE_TEST_SUITE_P(Ways, Packings, ::testing::Values(Packing::Lz4, Packing::Zstd));

TEST(RecordCursor, WhatItDoesNotReadIsUnsupported) {
    for (auto packing : {Packing::Gzip, Packing::Snappy, Packing{7}}) {
        auto all = read_all(batch(0, {{.value = "a"}}, packing));
        EXPECT_EQ(all.end, Step::Fault);
        EXPECT_EQ(all.fault.code, Errc::Unsupported);
    }
    auto old = BatchWriter{.base_offset = 4, .records = {{.value = "a"}}, .format = 1}.bytes();

    EXPECT_EQ(read_all(old).fault.code, Errc::Unsupported);
    EXPECT_THAT(read_all(old).fault.message, HasSubstr("offset 4 is of an older format"));
    EXPECT_EQ(offset_behind(old, 4), 4) << "where its last record lies is not known";
}

TEST(RecordCursor, ADamagedRecordIsCorrupt) {
    auto bytes = batch(0, {{.value = "abc"}, {.value = "d"}});
    bytes[61] = '\x7F'; // The first record's length.

    EXPECT_EQ(read_all(bytes).fault.code, Errc::Corrupt);
}

TEST(HeaderCursor, GivesNamesAndValues) {
    auto bytes = batch(0, {{.value = "v", .headers = {{"ce_id", "7"}, {"content-type", ""}}}});
    auto cursor = RecordCursor{bytes, 0, {}, {}, {}};
    auto record = Record{};
    ASSERT_EQ(cursor.next(record), Step::Record);
    auto headers = HeaderCursor{record};
    auto name = std::string_view{};
    auto value = std::string_view{};

    ASSERT_TRUE(headers.next(name, value));
    EXPECT_EQ(name, "ce_id");
    EXPECT_EQ(value, "7");
    ASSERT_TRUE(headers.next(name, value));
    EXPECT_EQ(name, "content-type");
    EXPECT_FALSE(headers.next(name, value));
    EXPECT_TRUE(headers.is_at_end());
}

TEST(HeaderCursor, EndsWhereTheyAreDamaged) {
    auto record = Record{.headers = "\x0a", .header_count = 2};
    auto headers = HeaderCursor{record};
    auto name = std::string_view{};
    auto value = std::string_view{};

    EXPECT_FALSE(headers.next(name, value));
    EXPECT_FALSE(headers.is_at_end());
}

} // namespace
} // namespace sluice::connector::kafka::internal
