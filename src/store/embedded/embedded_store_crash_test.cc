#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "base/random.h"
#include "store/embedded/embedded_store.h"
#include "store/embedded/testing/fault_file_system.h"
#include "store/embedded/testing/scratch_directory.h"

// An opening that fails halfway leaves memory behind, in RocksDB.
extern "C" const char* __lsan_default_suppressions() {
    return "leak:librocksdb";
}

// The environment of these tests hands RocksDB's calls on in our code, so that a mutex seems to be
// left twice.
extern "C" const char* __tsan_default_suppressions() {
    return "mutex:rocksdb::";
}

namespace sluice::store::embedded {
namespace {

using testing::FaultFileSystem;
using testing::ScratchDirectory;
using testing::Tearing;
using Content = std::map<std::string, std::string>;

Content content_of(const Store& store) {
    auto content = Content{};
    auto cursor = store.scan({}, {});
    for (; cursor->is_valid(); cursor->next()) {
        content.emplace(cursor->key(), cursor->value());
    }
    EXPECT_TRUE(cursor->status());
    return content;
}

/// Fills a batch and says what the content is after it.
Content change_at_random(Random& random, Batch& batch, Content content) {
    for (auto count = 1 + random.below(4); count > 0; --count) {
        auto key = "key" + std::to_string(random.below(20));
        if (random.chance(0.2)) {
            batch.remove(key);
            content.erase(key);
            continue;
        }
        auto bytes = random.chance(0.1) ? random.below(90'000) : random.below(300);
        auto value = std::string(bytes, static_cast<char>('a' + random.below(26)));
        batch.put(key, value);
        content[key] = value;
    }
    return content;
}

/// One life after another in the same directory, each ended by lost power or a failed sync.
/// `possible` holds what may be found: the content at the last durable moment, and what came after
/// it without an acknowledged sync.
class CrashingLives {
public:
    CrashingLives(std::uint64_t seed, Durability durability)
        : random_(seed), durability_(durability) {}

    void run(int lives) {
        for (auto life = 0; life < lives && !::testing::Test::HasFailure(); ++life) {
            live();
        }
        auto store = EmbeddedStore::open(directory_.path());
        ASSERT_TRUE(store) << store.error().message;
        expect_possible(**store);
        EXPECT_TRUE((*store)->verify()->is_clean());
    }

private:
    void live() {
        auto tearing = durability_ == Durability::Strict ? Tearing::Anywhere : Tearing::AtTheEnd;
        auto system = std::make_shared<FaultFileSystem>(random_.next(), tearing);
        if (random_.chance(0.3)) {
            system->fail_sync_at(random_.below(60));
        } else {
            system->lose_power_at(random_.below(300));
        }
        auto env = testing::env_on(system);
        {
            auto store = EmbeddedStore::open(directory_.path(), {.durability = durability_,
                                                                 .reserve_bytes = 0,
                                                                 .env = env.get(),
                                                                 .write_buffer_bytes = 1U << 16U});
            if (store) {
                expect_possible(**store);
                commit_until_it_breaks(**store);
            } else {
                EXPECT_EQ(store.error().code, Errc::Io) << store.error().message;
            }
        }
        system->apply_loss();
    }

    void expect_possible(const Store& store) {
        auto found = content_of(store);
        auto is_known = std::find(possible_.begin(), possible_.end(), found) != possible_.end();
        EXPECT_TRUE(is_known) << found.size() << " keys are none of " << possible_.size()
                              << " possible states";
        // What opening found, it made durable.
        possible_ = {std::move(found)};
    }

    void commit_until_it_breaks(EmbeddedStore& store) {
        auto batch = store.make_batch();
        for (auto count = 0; count < 60; ++count) {
            batch->clear();
            auto next = change_at_random(random_, *batch, possible_.back());
            auto done = store.commit(*batch);
            possible_.push_back(std::move(next));
            if (!done) {
                EXPECT_EQ(store.commit(*batch).error().code, Errc::Io);
                return;
            }
            if (durability_ == Durability::Strict || (random_.chance(0.1) && store.sync())) {
                possible_.erase(possible_.begin(), std::prev(possible_.end()));
            }
        }
    }

    ScratchDirectory directory_;
    Random random_;
    Durability durability_;
    std::vector<Content> possible_{Content{}};
};

TEST(EmbeddedStoreCrash, KeepsEveryAcknowledgedCommitAndNoHalfOne) {
    for (auto seed = std::uint64_t{0}; seed < 200 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        CrashingLives{seed, Durability::Strict}.run(seed % 4 == 0 ? 2 : 1);
    }
}

TEST(EmbeddedStoreCrash, RelaxedLosesOnlyTheEndThatWasNotSynced) {
    for (auto seed = std::uint64_t{0}; seed < 30 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        CrashingLives{seed, Durability::Relaxed}.run(seed % 4 == 0 ? 2 : 1);
    }
}

} // namespace
} // namespace sluice::store::embedded
