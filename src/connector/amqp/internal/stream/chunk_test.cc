#include "connector/amqp/internal/stream/chunk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/amqp/testing/stream_bytes.h"

namespace sluice::connector::amqp::internal::stream {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using testing::batch_bytes;
using testing::chunk_bytes;
using testing::entry_bytes;

std::vector<std::string> entries_of(Chunk& chunk) {
    auto entries = std::vector<std::string>{};
    auto entry = Entry{};
    for (auto next = chunk.next(entry); next && *next; next = chunk.next(entry)) {
        entries.push_back(fmt::format("{}+{} {}", entry.offset, entry.records, entry.bytes));
    }
    return entries;
}

TEST(Chunk, HasMessagesWithTheirOffsets) {
    auto bytes = chunk_bytes({.first_offset = 40, .entries = {entry_bytes("a"), entry_bytes("")}});

    auto chunk = Chunk::parse(bytes);

    ASSERT_TRUE(chunk) << chunk.error().message;
    EXPECT_TRUE(chunk->has_messages());
    EXPECT_EQ(chunk->end_offset(), 42);
    EXPECT_THAT(entries_of(*chunk), ElementsAre("40+1 a", "41+1 "));
}

TEST(Chunk, TakesBatchesApart) {
    auto bytes =
        chunk_bytes({.first_offset = 7,
                     .entries = {entry_bytes("a"), batch_bytes({"b", "c"}), entry_bytes("d")},
                     .records = 4});

    auto chunk = Chunk::parse(bytes);

    ASSERT_TRUE(chunk);
    EXPECT_THAT(entries_of(*chunk), ElementsAre("7+1 a", "8+1 b", "9+1 c", "10+1 d"));
}

TEST(Chunk, LeavesWhatIsCompressedAsItIs) {
    auto bytes = chunk_bytes({.first_offset = 7,
                              .entries = {batch_bytes({"b", "c"}, 1), entry_bytes("d")},
                              .records = 3});
    auto chunk = Chunk::parse(bytes);
    auto entry = Entry{};

    ASSERT_TRUE(chunk);
    ASSERT_EQ(chunk->next(entry), true);

    EXPECT_EQ(entry.compression, Compression::Gzip);
    EXPECT_EQ(entry.offset, 7);
    EXPECT_EQ(entry.records, 2);
    ASSERT_EQ(chunk->next(entry), true);
    EXPECT_EQ(entry.offset, 9);
    EXPECT_EQ(chunk->next(entry), false);
}

TEST(Chunk, TellsTheStreamsOwnRecords) {
    auto bytes = chunk_bytes({.entries = {entry_bytes("tracking")}, .type = 2});

    auto chunk = Chunk::parse(bytes);

    ASSERT_TRUE(chunk);
    EXPECT_FALSE(chunk->has_messages());
}

TEST(Chunk, RefusesWhatDoesNotMatchItsChecksum) {
    auto bytes = chunk_bytes({.first_offset = 40, .entries = {entry_bytes("abc")}});
    bytes.back() ^= 1;

    auto chunk = Chunk::parse(bytes);

    ASSERT_FALSE(chunk);
    EXPECT_EQ(chunk.error().code, Errc::Corrupt);
    EXPECT_THAT(chunk.error().message, HasSubstr("chunk 40 does not match its checksum"));
}

TEST(Chunk, RefusesWhatIsCutShort) {
    auto bytes = chunk_bytes({.entries = {entry_bytes("abc")}});

    for (auto size = std::size_t{0}; size < bytes.size(); ++size) {
        EXPECT_FALSE(Chunk::parse(std::string_view{bytes}.substr(0, size)));
    }
}

TEST(Chunk, RefusesEntriesThatAreCutShortOrNotAsMany) {
    auto short_entry = entry_bytes("abc").substr(0, 6);
    auto short_batch = batch_bytes({"abc"}).substr(0, 9);
    auto entry = Entry{};

    for (const auto& bad : {short_entry, short_batch, std::string{"\x80"}, std::string{}}) {
        auto bytes = chunk_bytes({.entries = {bad}});
        auto chunk = Chunk::parse(bytes);
        ASSERT_TRUE(chunk);
        EXPECT_FALSE(chunk->next(entry));
    }
    auto bytes = chunk_bytes({.entries = {entry_bytes("abc")}, .records = 2});
    auto chunk = Chunk::parse(bytes);
    ASSERT_TRUE(chunk);
    EXPECT_EQ(chunk->next(entry), true);
    EXPECT_FALSE(chunk->next(entry)) << "it says two";
}

} // namespace

} // namespace sluice::connector::amqp::internal::stream
