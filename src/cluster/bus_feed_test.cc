#include "cluster/bus_feed.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cluster/bus_event.h"
#include "engine/keys.h"
#include "engine/run_records.h"
#include "event/message.h"
#include "store/memory/memory_store.h"

namespace sluice::cluster {
namespace {

constexpr auto feed_wait_max = std::chrono::seconds{30};
constexpr auto fed_shard = ShardId{0};

/// What a test and the feed's thread share.
struct World {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::uint64_t> resumed; ///< Positions, in order.
    std::size_t sources = 0;
    std::deque<Error> faults;        ///< Of the next reads.
    std::deque<event::Chunk> chunks; ///< Of the next reads.
    std::vector<std::uint64_t> confirmed;
    std::vector<std::uint64_t> taken; ///< Numbers of events, and of moves.
    bool is_held = false;             ///< Reads wait.
    std::atomic<bool> holds_moves = false;
    std::vector<engine::Done> held;
    bool is_stopped = false;

    void wait_until(auto&& is_so) {
        auto lock = std::unique_lock{mutex};
        EXPECT_TRUE(changed.wait_for(lock, feed_wait_max, is_so));
    }

    void change(auto&& how) {
        auto lock = std::lock_guard{mutex};
        how();
        changed.notify_all();
    }
};

class FakeSource final : public event::Source {
public:
    explicit FakeSource(World& world) : world_(world) {}

    std::string_view name() const override { return "fake"; }
    Result<std::vector<std::string>> partitions() override { return std::vector<std::string>{}; }

    Result<void> resume(std::string_view /*partition*/, std::uint64_t position) override {
        world_.change([&] { world_.resumed.push_back(position); });
        return {};
    }

    Result<event::Chunk> read(std::size_t /*bytes_max*/, Nanos wait) override {
        auto lock = std::unique_lock{world_.mutex};
        world_.changed.wait_for(lock, wait, [] { return false; });
        world_.changed.wait_for(lock, feed_wait_max, [&] { return !world_.is_held; });
        if (!world_.chunks.empty() && !world_.resumed.empty()) {
            auto chunk = std::move(world_.chunks.front());
            world_.chunks.pop_front();
            return chunk;
        }
        if (world_.faults.empty()) {
            return event::Chunk{};
        }
        auto error = world_.faults.front();
        world_.faults.pop_front();
        return std::unexpected(error);
    }

    void confirm(std::string_view /*partition*/, std::uint64_t position) override {
        world_.change([&] { world_.confirmed.push_back(position); });
    }

private:
    World& world_;
};

class FakeBus final : public event::Bus {
public:
    explicit FakeBus(World& world) : world_(world) {}

    std::string partition(ShardId /*shard*/) const override { return "p"; }
    Result<void> create(std::uint16_t /*shards*/) override { return {}; }
    Result<std::unique_ptr<event::Source>> open_source() override {
        world_.change([&] { ++world_.sources; });
        return std::make_unique<FakeSource>(world_);
    }
    Result<std::unique_ptr<event::Producer>> open_producer() override { return nullptr; }
    Result<event::Ceiling> measure(ShardId /*shard*/, std::uint64_t /*events*/) override {
        return event::Ceiling{};
    }
    Result<void> remove(std::uint16_t /*shards*/) override { return {}; }

private:
    World& world_;
};

class BusFeedTest : public ::testing::Test {
protected:
    void commit_position(std::uint64_t position) {
        auto batch = store_.make_batch();
        batch->put(engine::keys::position(fed_shard, "p"), engine::number_record(position));
        ASSERT_TRUE(store_.commit(*batch));
    }

    void take(engine::Input&& input) {
        if (auto* events = std::get_if<engine::EventsInput>(&input)) {
            world_.change([&] {
                world_.taken.insert(world_.taken.end(), events->numbers.begin(),
                                    events->numbers.end());
            });
            events->done(engine::Receipt{});
        } else if (auto* move = std::get_if<engine::MoveInput>(&input)) {
            world_.change([&] { world_.taken.push_back(move->number); });
            if (!world_.holds_moves) {
                move->done(Value{});
            } else {
                world_.change([&] { world_.held.push_back(std::move(move->done)); });
            }
        }
    }

    /// Some events; of a source that only counts they are not numbered.
    static event::Chunk chunk_of(std::uint64_t first, std::size_t count, bool is_numbered) {
        auto builder = event::ChunkBuilder{};
        for (auto number = first; number < first + count; ++number) {
            auto json = fmt::format(
                R"({{"specversion":"1.0","id":"{}","source":"/t","type":"t","run":"r"}})", number);
            builder.add(number, event::Message{.body = json});
        }
        return builder.take("p", is_numbered);
    }

    void wait_until_resumed(std::vector<std::uint64_t> positions) {
        world_.wait_until([&] { return world_.resumed == positions; });
    }

    World world_;
    FakeBus bus_{world_};
    store::memory::MemoryStore store_{1};
    Seal seal_{engine::Secret{}};
    observe::NullDiagnostics diagnostics_;
    BusFeed feed_{
        {.bus = bus_,
         .store = store_,
         .seal = seal_,
         .diagnostics = diagnostics_,
         .take = [this](engine::Input&& input) { take(std::move(input)); },
         .stop = [this](const Error&) { world_.change([&] { world_.is_stopped = true; }); },
         .reread_wait = std::chrono::milliseconds{1}}};
};

TEST_F(BusFeedTest, ReadsAShardAnewThatWentAndCameBackMeanwhile) {
    feed_.add(fed_shard);
    wait_until_resumed({0});
    world_.change([&] { world_.is_held = true; });
    commit_position(7);

    feed_.remove(fed_shard);
    feed_.add(fed_shard);
    world_.change([&] { world_.is_held = false; });

    wait_until_resumed({0, 7});
}

TEST_F(BusFeedTest, GoesOnFromWhatIsCommittedWhereTheBusRefusesItsPosition) {
    feed_.add(fed_shard);
    wait_until_resumed({0});
    commit_position(7);

    world_.change([&] { world_.faults = {{Errc::NotFound, "what came next is gone"}}; });

    wait_until_resumed({0, 7});
    EXPECT_FALSE(world_.is_stopped);
}

TEST_F(BusFeedTest, StopsWhenTheBusRefusesForGood) {
    feed_.add(fed_shard);
    world_.change([&] { world_.faults.assign(100, {Errc::NotFound, "what came next is gone"}); });

    world_.wait_until([&] { return world_.is_stopped; });
    EXPECT_GT(world_.sources, 2U);
}

TEST_F(BusFeedTest, ConfirmsAMessageBetweenShardsOnceItIsCommitted) {
    auto builder = event::ChunkBuilder{};
    auto json =
        to_bus_json(engine::ConfirmInput{.from = fed_shard, .to = fed_shard, .number = 1}, seal_);
    builder.add(1, event::Message{.body = json});
    world_.holds_moves = true;
    world_.change([&] { world_.chunks.push_back(builder.take("p")); });
    feed_.add(fed_shard);
    world_.wait_until([&] { return !world_.held.empty(); });

    world_.change([&] { world_.chunks.push_back(chunk_of(2, 1, true)); });
    world_.wait_until([&] { return world_.held.size() == 2; });
    EXPECT_TRUE(world_.confirmed.empty());

    world_.held[0](Value{});
    world_.wait_until([&] { return !world_.confirmed.empty(); });
    EXPECT_EQ(world_.confirmed.front(), 1U);
}

TEST_F(BusFeedTest, CountsOnWhereTheBusOnlyCounts) {
    commit_position(7);
    world_.change([&] { world_.chunks.push_back(chunk_of(1, 2, false)); });

    feed_.add(fed_shard);

    world_.wait_until([&] { return !world_.confirmed.empty() && world_.confirmed.back() == 2; });
    EXPECT_EQ(world_.taken, (std::vector<std::uint64_t>{8, 9, 9}));
}

} // namespace
} // namespace sluice::cluster
