#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"
#include "store/embedded/embedded_store.h"
#include "store/embedded/internal/log_reader.h"
#include "store/embedded/testing/sample_store.h"
#include "store/embedded/testing/scratch_directory.h"

namespace sluice::store::embedded {
namespace {

namespace fs = std::filesystem;
using testing::newest_file;
using testing::read_bytes;
using testing::read_store;
using testing::ScratchDirectory;
using testing::write_bytes;

/// A sample store, and fresh copies of it to be damaged.
class EmbeddedStoreDamage : public ::testing::Test {
protected:
    EmbeddedStoreDamage() : states(testing::write_sample_store(sample.path())) {
        log = newest_file(sample.path(), ".log").filename().string();
        log_bytes = read_bytes(sample.path() / log);
        auto reader = LogReader{log_bytes};
        while (reader.next()) {
            record_at.push_back(reader.record_at());
        }
        record_at.push_back(log_bytes.size());
    }

    const fs::path& fresh_copy() {
        fs::remove_all(copy.path());
        fs::copy(sample.path(), copy.path(), fs::copy_options::recursive);
        return copy.path();
    }
    const fs::path& copy_with_log(const std::string& bytes) {
        write_bytes(fresh_copy() / log, bytes);
        return copy.path();
    }
    /// The content once every record that ends before the offset is applied.
    const testing::Content& state_before(std::uint64_t offset) const {
        auto whole = std::count_if(record_at.begin() + 1, record_at.end(),
                                   [&](auto end) { return end <= offset; });
        return states[static_cast<std::size_t>(whole)];
    }
    /// Whatever the damage: found or harmless, and never read as something that was not written.
    void expect_safe(const fs::path& path, const std::string& what) const {
        SCOPED_TRACE(what);
        auto report = EmbeddedStore::check(path, {.reserve_bytes = 0});
        ASSERT_TRUE(report);
        auto reading = read_store(path);
        if (report->is_clean()) {
            EXPECT_EQ(reading.error, "");
            EXPECT_TRUE(reading.content == states.back()) << "the damage was not noticed";
        } else if (reading.error.empty()) {
            EXPECT_TRUE(std::find(states.begin(), states.end(), reading.content) != states.end())
                << "damaged data was used";
        }
    }

    ScratchDirectory sample;
    ScratchDirectory copy;
    std::vector<testing::Content> states;
    std::string log;
    std::string log_bytes;
    std::vector<std::uint64_t> record_at; // And the end.
};

TEST_F(EmbeddedStoreDamage, TheSampleIsWhole) {
    auto report = EmbeddedStore::check(fresh_copy());

    ASSERT_TRUE(report);
    EXPECT_TRUE(report->is_clean());
    EXPECT_GE(report->files, 4); // A table, a blob file, a log and the manifest.
    EXPECT_EQ(read_store(fresh_copy()).content, states.back());
    EXPECT_EQ(record_at.size(), states.size());
}

TEST_F(EmbeddedStoreDamage, ATornEndIsCutAndReported) {
    auto random = Random{1};
    for (auto tries = 0; tries < 20; ++tries) {
        auto size = random.below(log_bytes.size());
        auto store = EmbeddedStore::open(copy_with_log(log_bytes.substr(0, size)));
        ASSERT_TRUE(store) << "cut at " << size << ": " << store.error().message;
        auto cut = (*store)->recovery().cuts;
        auto found = testing::Content{};
        ASSERT_TRUE((*store)->export_to([&](auto key, auto value) -> Result<void> {
            found.emplace(key, value);
            return {};
        }));
        EXPECT_TRUE(found == state_before(size)) << "cut at " << size;
        auto is_between = std::find(record_at.begin(), record_at.end(), size) != record_at.end();
        ASSERT_EQ(cut.size(), is_between ? 0 : 1) << "cut at " << size;
        if (!is_between) {
            EXPECT_EQ(cut[0].file, log);
            EXPECT_EQ(cut[0].offset + cut[0].bytes, size);
        }
    }
}

TEST_F(EmbeddedStoreDamage, ZerosAndGarbageAtTheEndAreCut) {
    for (auto fill : {'\0', '\x01', '\xFF'}) {
        for (auto at : {record_at[5] + 3, record_at[6] - 40'000, record_at[5]}) {
            auto torn = log_bytes.substr(0, record_at[6]);
            std::fill(torn.begin() + static_cast<std::ptrdiff_t>(at), torn.end(), fill);
            auto whole = state_before(at);

            auto reading = read_store(copy_with_log(torn));

            EXPECT_EQ(reading.error, "");
            EXPECT_TRUE(reading.content == whole);
        }
    }
    auto reading = read_store(copy_with_log(log_bytes + std::string(100'000, '\0')));
    EXPECT_TRUE(reading.content == states.back());
}

TEST_F(EmbeddedStoreDamage, ALaterPieceOfATornCommitIsNoRecord) {
    // The second block of the large commit did not arrive, the ones behind it did.
    auto torn = log_bytes.substr(0, record_at[5]);
    auto hole_at = (record_at[4] / 32'768 + 1) * 32'768;
    std::fill_n(torn.begin() + static_cast<std::ptrdiff_t>(hole_at), 32'768, '\0');

    auto reading = read_store(copy_with_log(torn));

    EXPECT_EQ(reading.error, "");
    EXPECT_TRUE(reading.content == states[4]);
}

TEST_F(EmbeddedStoreDamage, DamageBeforeAReadableRecordIsRefusedAndNamed) {
    for (auto fill : {'\0', '\x02', '\xFF'}) {
        for (auto record : {0U, 2U, 4U}) {
            auto damaged = log_bytes;
            std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(record_at[record]), 12, fill);

            auto error = read_store(copy_with_log(damaged)).error;

            auto named = log + " is damaged at offset " + std::to_string(record_at[record]);
            EXPECT_NE(error.find(named), std::string::npos) << error;
            EXPECT_EQ(read_bytes(copy.path() / log), damaged) << "evidence stays";
        }
    }
}

TEST_F(EmbeddedStoreDamage, RecordsMissingWithoutATraceAreNoticed) {
    auto whole_block = log_bytes.substr(0, 32'768);
    std::fill(whole_block.begin() + static_cast<std::ptrdiff_t>(record_at[1]), whole_block.end(),
              '\0');
    auto zeroed = whole_block + log_bytes.substr(32'768);
    EXPECT_NE(read_store(copy_with_log(zeroed)).error.find("readable records follow"),
              std::string::npos);

    fresh_copy();
    {
        auto store = EmbeddedStore::open(copy.path()).value();
        auto batch = store->make_batch();
        batch->put("another", "log");
        ASSERT_TRUE(store->commit(*batch));
        batch->clear();
        batch->put("and another", "commit");
        ASSERT_TRUE(store->commit(*batch));
    }
    auto bytes = read_bytes(newest_file(copy.path(), ".log"));
    auto reader = LogReader{bytes};
    reader.next();
    reader.next();
    write_bytes(newest_file(copy.path(), ".log"), bytes.substr(reader.record_at()));
    EXPECT_NE(read_store(copy.path()).error.find("commits are missing"), std::string::npos);
}

TEST_F(EmbeddedStoreDamage, AnOperatorMayGiveUpWhatIsBehindTheDamage) {
    auto damaged = log_bytes;
    damaged[record_at[2] + 20'000] ^= 1;

    auto store = EmbeddedStore::open(copy_with_log(damaged), {.damage = Damage::Cut});

    ASSERT_TRUE(store) << store.error().message;
    ASSERT_EQ((*store)->recovery().cuts.size(), 1);
    EXPECT_EQ((*store)->recovery().cuts[0].offset, record_at[2]);
    store->reset();
    EXPECT_TRUE(read_store(copy.path()).content == states[2]);
}

TEST_F(EmbeddedStoreDamage, ReadingOnlyLeavesATornEndAlone) {
    auto torn = log_bytes.substr(0, record_at[6] - 5);
    copy_with_log(torn);

    auto store = EmbeddedStore::open(copy.path(), {.access = Access::ReadOnly});

    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ((*store)->recovery().cuts.size(), 1);
    EXPECT_EQ((*store)->get("last").value(), "logged5");
    EXPECT_EQ(read_bytes(copy.path() / log), torn);
}

TEST_F(EmbeddedStoreDamage, AMissingFileIsNoticed) {
    for (const auto& entry : fs::directory_iterator{sample.path()}) {
        auto name = entry.path().filename();
        fs::remove(fresh_copy() / name);
        expect_safe(copy.path(), "without " + name.string());
    }
}

TEST_F(EmbeddedStoreDamage, AFlippedBitIsNoticedOrHarmlessInEveryFile) {
    auto random = Random{2};
    for (const auto& entry : fs::directory_iterator{sample.path()}) {
        auto name = entry.path().filename().string();
        auto bytes = read_bytes(entry.path());
        auto tries = std::min<std::size_t>(bytes.size(), name.starts_with("OPTIONS") ? 4 : 20);
        for (auto number = std::size_t{0}; number < tries; ++number) {
            auto offset = number * bytes.size() / tries + random.below(bytes.size() / tries);
            auto flipped = bytes;
            flipped[offset] ^= static_cast<char>(1U << random.below(8));
            write_bytes(fresh_copy() / name, flipped);
            expect_safe(copy.path(), name + " at " + std::to_string(offset));
        }
    }
}

TEST_F(EmbeddedStoreDamage, AFlippedBitInTheManifestIsNoticedWhenTheLogIsEmpty) {
    // Opened once more and closed at once: all data hangs on the manifest.
    ASSERT_EQ(read_store(sample.path()).error, "");
    auto current = read_bytes(sample.path() / "CURRENT");
    auto name = current.substr(0, current.size() - 1);
    auto bytes = read_bytes(sample.path() / name);
    auto random = Random{3};
    for (auto offset = std::size_t{0}; offset < bytes.size(); offset += 1 + random.below(10)) {
        auto flipped = bytes;
        flipped[offset] ^= static_cast<char>(1U << random.below(8));
        write_bytes(fresh_copy() / name, flipped);
        expect_safe(copy.path(), name + " at " + std::to_string(offset));
    }
}

TEST_F(EmbeddedStoreDamage, DamagedTablesAreListedByName) {
    for (const auto* extension : {".sst", ".blob"}) {
        auto file = newest_file(fresh_copy(), extension);
        auto bytes = read_bytes(file);
        bytes[40] ^= 1;
        write_bytes(file, bytes);

        auto report = EmbeddedStore::check(copy.path());

        ASSERT_EQ(report->damaged.size(), 1);
        EXPECT_EQ(report->damaged[0].file, file.filename().string());
        EXPECT_EQ(report->damaged[0].reason, "it does not match its checksum");
    }
}

} // namespace
} // namespace sluice::store::embedded
