#include "store/embedded/embedded_store.h"

#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/embedded/internal/keys.h"
#include "store/embedded/internal/settings.h"
#include "store/embedded/internal/status.h"
#include "store/embedded/open.h"
#include "store/embedded/testing/scratch_directory.h"
#include "store/testing/store_contract.h"

// Stores are opened in forked processes here.
extern "C" const char* __tsan_default_options() {
    return "die_after_fork=0";
}

namespace sluice::store::embedded {
namespace {

using store::testing::StoreContract;
using store::testing::StoreKind;
using testing::ScratchDirectory;

/// A store that takes its directory with it.
std::unique_ptr<Store> make(Durability durability) {
    static auto directories = std::vector<std::unique_ptr<ScratchDirectory>>{};
    directories.push_back(std::make_unique<ScratchDirectory>());
    return EmbeddedStore::open(directories.back()->path(),
                               {.durability = durability, .shard_count = 4, .reserve_bytes = 0})
        .value();
}

INSTANTIATE_TEST_SUITE_P(
    Embedded, StoreContract,
    ::testing::Values(StoreKind{"Strict", [] { return make(Durability::Strict); }},
                      StoreKind{"Relaxed", [] { return make(Durability::Relaxed); }}),
    store::testing::name_of_kind);

class EmbeddedStoreTest : public ::testing::Test {
protected:
    std::unique_ptr<EmbeddedStore> open(Options options = {}) const {
        auto store = EmbeddedStore::open(directory.path(), std::move(options));
        EXPECT_TRUE(store) << store.error().message;
        return std::move(store).value();
    }
    Error error_of_opening(Options options = {}) const {
        return EmbeddedStore::open(directory.path(), std::move(options)).error();
    }
    static Result<void> put(Store& store, std::string_view key, std::string_view value) {
        auto batch = store.make_batch();
        batch->put(key, value);
        return store.commit(*batch);
    }

    ScratchDirectory directory;
};

TEST_F(EmbeddedStoreTest, ACopyIsAStoreOfItsOwnAsOfThen) {
    auto folder = ScratchDirectory{};
    auto path = folder.path() / "copy";
    auto store = open({.reserve_bytes = 0});
    ASSERT_TRUE(put(*store, "a", "before"));
    ASSERT_TRUE(store->copy_to(path));
    ASSERT_TRUE(put(*store, "a", "after"));

    auto again = store->copy_to(path);
    auto copy = EmbeddedStore::open(path, {.reserve_bytes = 0});

    EXPECT_FALSE(again) << "a directory that exists is left alone";
    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_EQ((*copy)->get("a").value(), "before");
    EXPECT_EQ(store->get("a").value(), "after");
    ASSERT_TRUE(put(**copy, "a", "elsewhere"));
    EXPECT_EQ(store->get("a").value(), "after");
}

TEST_F(EmbeddedStoreTest, FindsEverythingAgain) {
    {
        auto store = open({.shard_count = 7});
        ASSERT_TRUE(store->acquire(std::vector{ShardId{3}}));
        auto batch = store->make_batch();
        batch->put("small", "value");
        batch->put("large", std::string(100'000, 'x'));
        batch->fence({ShardId{3}, Epoch{1}, CommitNumber{0}});
        ASSERT_TRUE(store->commit(*batch));
    }

    auto store = open({.shard_count = 64});

    EXPECT_EQ(store->get("small").value(), "value");
    EXPECT_EQ(store->get("large").value(), std::string(100'000, 'x'));
    EXPECT_EQ(store->shard_count(), 7) << "fixed when it was created";
    auto states = store->acquire(std::vector{ShardId{3}});
    EXPECT_EQ(states->front().epoch, Epoch{2});
    EXPECT_EQ(states->front().commit, CommitNumber{1});
    EXPECT_TRUE(store->recovery().cuts.empty());
    EXPECT_GT(store->disk_bytes(), 100'000);
}

TEST_F(EmbeddedStoreTest, TwoCannotHaveTheSameDirectory) {
    auto first = open();

    auto second = error_of_opening();
    auto reader = error_of_opening({.access = Access::ReadOnly});

    EXPECT_EQ(second.code, Errc::Conflict);
    EXPECT_EQ(second.message, "data directory " + directory.path().string() +
                                  " is in use by another sluice process");
    EXPECT_EQ(reader.code, Errc::Conflict);
}

TEST_F(EmbeddedStoreTest, AnotherProcessCannotHaveItEither) {
    auto first = open();

    auto child = ::fork();
    if (child == 0) {
        auto second = EmbeddedStore::open(directory.path());
        ::_exit(!second && second.error().code == Errc::Conflict ? 0 : 1);
    }
    auto status = 0;
    ::waitpid(child, &status, 0);

    EXPECT_EQ(status, 0);
}

TEST_F(EmbeddedStoreTest, ReadingOnlyTakesNoCommits) {
    ASSERT_TRUE(put(*open(), "a", "1"));

    auto store = open({.access = Access::ReadOnly});

    EXPECT_EQ(store->get("a").value(), "1");
    EXPECT_EQ(put(*store, "a", "2").error().code, Errc::Unsupported);
    EXPECT_FALSE(store->is_writable());
}

TEST_F(EmbeddedStoreTest, ReadingOnlyCreatesNothing) {
    EXPECT_FALSE(EmbeddedStore::open(directory.path(), {.access = Access::ReadOnly}));
    EXPECT_EQ(
        EmbeddedStore::open(directory.path() / "none", {.access = Access::ReadOnly}).error().code,
        Errc::NotFound);
    EXPECT_FALSE(std::filesystem::exists(directory.path() / "CURRENT"));
}

TEST_F(EmbeddedStoreTest, AStoreWhoseMakingWasInterruptedIsMade) {
    for (const auto* name : {"IDENTITY", "MANIFEST-000001", "000001.dbtmp"}) {
        std::ofstream{directory.path() / name} << "unfinished";
    }

    EXPECT_EQ(EmbeddedStore::check(directory.path()).error().code, Errc::NotFound);
    EXPECT_EQ(EmbeddedStore::open(directory.path(), {.access = Access::ReadOnly}).error().code,
              Errc::NotFound);
    EXPECT_TRUE(put(*open(), "a", "1"));
}

TEST_F(EmbeddedStoreTest, AStoreWithoutItsFirstRecordIsNoneYet) {
    rocksdb::DB* database = nullptr;
    auto settings = settings_for({});
    settings.create_if_missing = true;
    ASSERT_TRUE(rocksdb::DB::Open(settings, directory.path().string(), &database).ok());
    delete database;

    EXPECT_EQ(EmbeddedStore::check(directory.path()).error().code, Errc::NotFound);
    EXPECT_EQ(EmbeddedStore::open(directory.path(), {.access = Access::ReadOnly}).error().code,
              Errc::NotFound);
    EXPECT_TRUE(put(*open(), "a", "1"));
}

TEST_F(EmbeddedStoreTest, ANewerFormatIsRefused) {
    {
        static_cast<void>(open());
    }
    rocksdb::DB* database = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(settings_for({}), directory.path().string(), &database).ok());
    auto format = std::string{};
    Encoder{format}.u32(format_number + 1);
    ASSERT_TRUE(database->Put({}, slice(key_format), format).ok());
    delete database;

    auto error = error_of_opening();

    EXPECT_EQ(error.code, Errc::Unsupported);
    EXPECT_NE(error.message.find("has the store format 2, this release reads up to 1"),
              std::string::npos)
        << error.message;
}

TEST_F(EmbeddedStoreTest, AnotherProgramsDatabaseIsRefused) {
    auto settings = settings_for({});
    settings.create_if_missing = true;
    rocksdb::DB* database = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(settings, directory.path().string(), &database).ok());
    ASSERT_TRUE(database->Put({}, "key", "value").ok());
    delete database;

    EXPECT_EQ(error_of_opening().code, Errc::Corrupt);
}

TEST_F(EmbeddedStoreTest, UnderTheReserveNothingIsTaken) {
    class StandingClock final : public Clock {
    public:
        Time wall() const override { return {}; }
        Nanos steady() const override { return now; }
        Nanos now{0};
    };
    auto clock = StandingClock{};
    auto free_bytes = std::uint64_t{2000};
    auto store =
        open({.reserve_bytes = 1000, .clock = &clock, .free_bytes = [&] { return free_bytes; }});
    ASSERT_TRUE(put(*store, "a", "1"));
    EXPECT_TRUE(store->is_writable());

    free_bytes = 1000;
    clock.now += std::chrono::milliseconds{100};

    EXPECT_FALSE(store->is_writable());
    EXPECT_EQ(put(*store, "a", "2").error().code, Errc::NoSpace);
    EXPECT_EQ(store->get("a").value(), "1");

    free_bytes = 1001;
    clock.now += std::chrono::milliseconds{100};

    EXPECT_TRUE(put(*store, "a", "3"));
}

/// Commits until one fails, telling each success through the pipe; the limit on file sizes makes
/// writes fail like a full disk.
[[noreturn]] void commit_until_full(const std::filesystem::path& path, int pipe) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto limit = rlimit{200'000, 200'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto store = EmbeddedStore::open(path, {.reserve_bytes = 0});
    auto batch = store.value()->make_batch();
    for (auto number = std::uint8_t{0};; ++number) {
        batch->clear();
        batch->put(std::string(1, static_cast<char>(number)), std::string(10'000, 'x'));
        auto done = store.value()->commit(*batch);
        if (!done) {
            auto again = store.value()->commit(*batch);
            auto is_stopped = done.error().code == Errc::Io && again.error().code == Errc::Io;
            ::_exit(is_stopped ? 0 : 1);
        }
        static_cast<void>(!::write(pipe, &number, 1));
    }
}

TEST_F(EmbeddedStoreTest, AfterAFailedWriteEverythingAcknowledgedIsThere) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    auto child = ::fork();
    if (child == 0) {
        commit_until_full(directory.path(), ends[1]);
    }
    ::close(ends[1]);
    auto acknowledged = std::vector<std::uint8_t>(1000);
    auto count = ::read(ends[0], acknowledged.data(), 1);
    for (auto got = count; got > 0; count += got) {
        got = ::read(ends[0], acknowledged.data() + count, 100);
    }
    ::close(ends[0]);
    auto status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);

    auto store = open();

    EXPECT_GT(count, 5);
    for (auto at = 0; at < count; ++at) {
        auto key = std::string(1, static_cast<char>(acknowledged[static_cast<std::size_t>(at)]));
        EXPECT_EQ(store->get(key).value(), std::string(10'000, 'x'));
    }
}

TEST_F(EmbeddedStoreTest, ExportsEveryKeyInOrder) {
    auto store = open();
    for (auto key : {"b", "a", "c"}) {
        ASSERT_TRUE(put(*store, key, "1"));
    }
    auto text = std::string{};

    ASSERT_TRUE(store->export_to([&](auto key, auto value) -> Result<void> {
        text += std::string{key} + std::string{value};
        return {};
    }));

    EXPECT_EQ(text, "a1b1c1");
    EXPECT_EQ(store
                  ->export_to([](auto, auto) -> Result<void> {
                      return fail(Errc::Io, "the pipe is closed");
                  })
                  .error()
                  .code,
              Errc::Io);
}

TEST_F(EmbeddedStoreTest, CompactingFreesWhatWasRemoved) {
    auto store = open({.write_buffer_bytes = 1U << 16U});
    for (auto number = 0; number < 20; ++number) {
        ASSERT_TRUE(put(*store, "key" + std::to_string(number), std::string(50'000, 'x')));
    }
    auto batch = store->make_batch();
    batch->remove_range("key1", "key9");
    ASSERT_TRUE(store->commit(*batch));

    ASSERT_TRUE(store->compact());

    EXPECT_LT(store->disk_bytes(), 500'000);
    EXPECT_EQ(store->get("key0").value(), std::string(50'000, 'x'));
    EXPECT_TRUE(store->verify()->is_clean());
}

TEST_F(EmbeddedStoreTest, MemoryNeedsNoDirectory) {
    EXPECT_EQ(error_of_opening({.durability = Durability::Memory}).code, Errc::InvalidInput);

    auto store = open_store(directory.path(), {.durability = Durability::Memory, .shard_count = 5});

    ASSERT_TRUE(store);
    EXPECT_EQ((*store)->shard_count(), 5);
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST_F(EmbeddedStoreTest, OpensAStoreOfFormat1) {
    std::filesystem::copy(STORE_TESTDATA "/format-1", directory.path(),
                          std::filesystem::copy_options::recursive);

    auto store = open();

    EXPECT_EQ(store->created_by(), "0.1.0");
    EXPECT_EQ(store->shard_count(), 8);
    EXPECT_EQ(store->get("logged").value(), "in the log");
    EXPECT_EQ(store->get("small").value(), "in a table");
    EXPECT_EQ(store->get("large").value(), std::string(5000, 'x'));
    EXPECT_EQ(store->get("removed").value(), std::nullopt);
    auto states = store->acquire(std::vector{ShardId{5}, ShardId{6}});
    EXPECT_EQ(states->front().epoch, Epoch{3});
    EXPECT_EQ(states->front().commit, CommitNumber{2});
    EXPECT_EQ(states->back().epoch, Epoch{1});
}

} // namespace
} // namespace sluice::store::embedded
