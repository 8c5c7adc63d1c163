#include "cluster/node.h"

#include <atomic>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/token.h"
#include "observe/testing/captured_diagnostics.h"
#include "store/memory/memory_store.h"
#include "store/testing/forwarding_store.h"

namespace sluice::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto lease = Nanos{3s};
constexpr auto taking_wait_max = 60s;

Nanos steady_now() {
    return SystemClock{}.steady();
}

/// Of one member. A shard takes its time to be had, as one does that has much to be opened.
class SlowLeases final : public store::Leases {
public:
    SlowLeases(store::Store& store, Nanos wait) : store_(store), wait_(wait) {}

    Result<store::LeaseTable> renew(const store::Member& member, Nanos lasts) override {
        auto lock = std::lock_guard{mutex_};
        attempts_.push_back(steady_now());
        if (renewals_ == renewals_max_) {
            return fail(Errc::Unavailable, "it went away");
        }
        if (steady_now() > until_) {
            owners_.clear();
        }
        until_ = steady_now() + lasts;
        ++renewals_;
        return store::LeaseTable{.members = {member}, .owners = owners()};
    }

    Result<std::vector<std::pair<ShardId, store::ShardState>>> take(
        const store::Member& member, std::span<const ShardId> shards) override {
        auto taken = std::vector<std::pair<ShardId, store::ShardState>>{};
        for (auto shard : shards) {
            std::this_thread::sleep_for(wait_);
            auto lock = std::lock_guard{mutex_};
            owners_[shard] = member.id;
            taken.emplace_back(shard, TRY(store_.acquire(std::vector{shard})).front());
        }
        return taken;
    }

    Result<void> release(const store::Member& /*member*/,
                         std::span<const ShardId> shards) override {
        auto lock = std::lock_guard{mutex_};
        for (auto shard : shards) {
            owners_.erase(shard);
        }
        return {};
    }

    Result<void> leave(const store::Member& /*member*/) override { return {}; }
    Result<std::string> agree(std::string_view /*name*/, std::string_view proposal) override {
        return std::string{proposal};
    }

    /// After so many it is gone.
    void renew_at_most(std::uint64_t renewals) { renewals_max_ = renewals; }
    std::uint64_t renewals() const { return renewals_; }
    std::vector<Nanos> attempts() {
        auto lock = std::lock_guard{mutex_};
        return attempts_;
    }

private:
    std::vector<std::string> owners() const {
        auto listed = std::vector<std::string>(store_.shard_count());
        for (const auto& [shard, owner] : owners_) {
            listed[shard.raw()] = owner;
        }
        return listed;
    }

    store::Store& store_;
    Nanos wait_;
    std::mutex mutex_;
    std::map<ShardId, std::string> owners_;
    Nanos until_{0};
    std::atomic<std::uint64_t> renewals_ = 0;
    std::uint64_t renewals_max_ = ~std::uint64_t{0};
    std::vector<Nanos> attempts_;
};

class SharedStore final : public store::testing::ForwardingStore {
public:
    SharedStore(store::Store& store, store::Leases& leases)
        : ForwardingStore(store), leases_(leases) {}
    store::Leases* leases() override { return &leases_; }

private:
    store::Leases& leases_;
};

class SilentSource final : public event::Source {
public:
    std::string_view name() const override { return "silent"; }
    Result<std::vector<std::string>> partitions() override { return std::vector<std::string>{}; }
    Result<void> resume(std::string_view /*partition*/, std::uint64_t /*position*/) override {
        return {};
    }
    Result<event::Chunk> read(std::size_t /*bytes_max*/, Nanos wait) override {
        std::this_thread::sleep_for(wait);
        return event::Chunk{};
    }
    void confirm(std::string_view /*partition*/, std::uint64_t /*position*/) override {}
};

class IdleProducer final : public event::Producer {
public:
    void send(event::Outgoing /*event*/, Done done) override { done({}); }
    Result<void> flush(Nanos /*wait*/) override { return {}; }
};

class SilentBus final : public event::Bus {
public:
    std::string partition(ShardId shard) const override { return std::to_string(shard.raw()); }
    Result<void> create(std::uint16_t /*shards*/) override { return {}; }
    Result<std::unique_ptr<event::Source>> open_source() override {
        return std::make_unique<SilentSource>();
    }
    Result<std::unique_ptr<event::Producer>> open_producer() override {
        return std::make_unique<IdleProducer>();
    }
    Result<event::Ceiling> measure(ShardId /*shard*/, std::uint64_t /*events*/) override {
        return event::Ceiling{};
    }
    Result<void> remove(std::uint16_t /*shards*/) override { return {}; }
};

class NodeTest : public ::testing::Test {
protected:
    ~NodeTest() override {
        node_->stop();
        engine_->stop();
    }

    void wait_until(auto&& is_so) {
        while (!is_so() && steady_now() < end_) {
            std::this_thread::sleep_for(5ms);
        }
    }

    Nanos end_ = steady_now() + Nanos{taking_wait_max};
    store::memory::MemoryStore memory_{16};
    SlowLeases leases_{memory_, 200ms};
    SharedStore store_{memory_, leases_};
    trigger::Vocabulary vocabulary_;
    SystemClock clock_;
    observe::testing::CapturedDiagnostics diagnostics_;
    std::unique_ptr<Node> node_ = *Node::open(
        store_, vocabulary_, std::make_unique<SilentBus>(), *engine::load_secret(store_),
        diagnostics_, {.address = "127.0.0.1:1", .lease = lease, .stop = [](auto&) {}});
    std::unique_ptr<engine::Engine> engine_ = *engine::Engine::open(
        store_, vocabulary_, clock_, diagnostics_, {.sharing = node_->sharing()});
};

TEST_F(NodeTest, RenewsItsLeaseWhileItTakesShardsForLongerThanThat) {
    node_->start(*engine_);
    wait_until([&] { return node_->state().owned == 16; });
    wait_until([&, before = leases_.renewals()] { return leases_.renewals() >= before + 2; });

    EXPECT_EQ(node_->state().owned, 16U);
    EXPECT_THAT(diagnostics_.lines(), Each(Not(HasSubstr("given up"))));
}

TEST_F(NodeTest, AsksAStoreThatWentAwayWhileItTookShardsNowAndThen) {
    leases_.renew_at_most(1);

    node_->start(*engine_);
    wait_until([&] { return leases_.attempts().size() >= 4; });

    auto attempts = leases_.attempts();
    ASSERT_GE(attempts.size(), 4U);
    EXPECT_GT(attempts[3] - attempts[1], lease / 6);
}

} // namespace
} // namespace sluice::cluster
