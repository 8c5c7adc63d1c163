#include "store/embedded/internal/wal_scan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "store/embedded/internal/crc32c.h"
#include "store/embedded/internal/log_reader.h"

namespace sluice::store::embedded {
namespace {

std::string little_endian(std::uint64_t number, int bytes) {
    auto text = std::string{};
    for (auto at = 0; at < bytes; ++at) {
        text.push_back(static_cast<char>(number >> (8 * at)));
    }
    return text;
}

/// Writes a log as RocksDB does.
class LogWriter {
public:
    void add(std::string_view record) {
        auto is_first = true;
        while (true) {
            auto left = 32'768 - file.size() % 32'768;
            if (left < 7) {
                file.append(left, '\0');
                left = 32'768;
            }
            auto piece = record.substr(0, left - 7);
            record.remove_prefix(piece.size());
            auto type = record.empty() ? (is_first ? '\1' : '\4') : (is_first ? '\2' : '\3');
            add_fragment(type, piece);
            is_first = false;
            if (record.empty()) {
                return;
            }
        }
    }
    void add_batch(std::uint64_t sequence, std::uint32_t count, std::size_t bytes = 0) {
        add(little_endian(sequence, 8) + little_endian(count, 4) + std::string(bytes, 'x'));
    }

    std::string file;

private:
    void add_fragment(char type, std::string_view bytes) {
        auto checked = std::string(1, type) + std::string{bytes};
        file +=
            little_endian(masked(crc32c(checked)), 4) + little_endian(bytes.size(), 2) + checked;
    }
};

TEST(LogReader, GivesBackRecordsOfAnySize) {
    auto writer = LogWriter{};
    auto sizes = {0, 1, 32'748, 32'761, 32'762, 5, 100'000, 32'754 - 100'000 % 32'768, 3};
    for (auto size : sizes) {
        writer.add(std::string(static_cast<std::size_t>(std::max(size, 0)), 'r'));
    }
    auto reader = LogReader{writer.file};

    for (auto size : sizes) {
        auto record = reader.next();
        ASSERT_TRUE(record) << reader.damage()->reason;
        EXPECT_EQ(record->size(), static_cast<std::size_t>(std::max(size, 0)));
    }
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.damage());
}

RC_GTEST_PROP(LogReader, FindsEveryFlippedBitOrLosesNothing, (std::uint64_t seed)) {
    auto random = Random{seed};
    auto writer = LogWriter{};
    for (auto number = 0; number < 5; ++number) {
        writer.add(std::string(random.below(50'000), 'r'));
    }
    auto flipped = writer.file;
    flipped[random.below(flipped.size())] ^= static_cast<char>(1U << random.below(8));

    auto whole = LogReader{writer.file};
    auto reader = LogReader{flipped};
    while (auto record = reader.next()) {
        RC_ASSERT(*record == *whole.next());
    }

    RC_ASSERT(reader.damage().has_value() || !whole.next());
}

TEST(WalScan, FollowsTheSequenceOverFiles) {
    auto first = LogWriter{};
    first.add_batch(11, 2);
    first.add_batch(13, 1, 70'000);
    auto second = LogWriter{};
    second.add_batch(14, 5);

    auto scan = WalScan{10};
    scan.add("1.log", first.file);
    scan.add("2.log", "");
    scan.add("3.log", second.file);

    EXPECT_FALSE(scan.fault());
    EXPECT_TRUE(scan.cuts().empty());
}

TEST(WalScan, TheFirstLogMayBeginBeforeTheTables) {
    auto log = LogWriter{};
    log.add_batch(5, 2);

    auto scan = WalScan{10};
    scan.add("1.log", log.file);

    EXPECT_FALSE(scan.fault());
}

TEST(WalScan, AGapAfterTheTablesIsAFault) {
    auto log = LogWriter{};
    log.add_batch(12, 2);

    auto scan = WalScan{10};
    scan.add("1.log", log.file);

    ASSERT_TRUE(scan.fault());
    EXPECT_EQ(scan.fault()->reason, "change 12 where change 11 was expected: commits are missing");
}

TEST(WalScan, ATornEndBeforeAnotherFilesRecordsIsAFault) {
    auto first = LogWriter{};
    first.add_batch(1, 1);
    auto torn_at = first.file.size();
    first.add_batch(2, 1);
    auto second = LogWriter{};
    second.add_batch(2, 1);

    auto scan = WalScan{0};
    scan.add("1.log", first.file.substr(0, torn_at + 9));
    scan.add("2.log", second.file);

    ASSERT_TRUE(scan.fault());
    EXPECT_EQ(scan.fault()->file, "1.log");
    EXPECT_EQ(scan.fault()->offset, torn_at);
    EXPECT_TRUE(scan.cuts().empty());
}

TEST(WalScan, ATornEndAndGarbageInTheNextFileAreCut) {
    auto first = LogWriter{};
    first.add_batch(1, 1);

    auto scan = WalScan{0};
    scan.add("1.log", first.file + "torn");
    scan.add("2.log", std::string(100, '\0'));

    EXPECT_FALSE(scan.fault());
    ASSERT_EQ(scan.cuts().size(), 2);
    EXPECT_EQ(scan.cuts()[0].offset, first.file.size());
    EXPECT_EQ(scan.cuts()[1].bytes, 100);
}

TEST(ManifestScan, ReadsWhatChangesSayOfLogs) {
    auto manifest = LogWriter{};
    manifest.add(
        std::string("\x01\x03"
                    "abc",
                    5));
    manifest.add(std::string("\x02\x08\x09\x00\x03\x0B\x04\x90\x4E\x67\xFF", 11));
    manifest.add(std::string("\x09\x00\x03\x0C\x04\x0A", 6));

    auto scan = scan_manifest("MANIFEST", manifest.file);

    EXPECT_FALSE(scan.fault);
    EXPECT_FALSE(scan.cut);
    EXPECT_EQ(scan.oldest_log, 8);
    EXPECT_EQ(scan.last_sequence, 10'000);
}

} // namespace
} // namespace sluice::store::embedded
