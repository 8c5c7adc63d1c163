#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/testing/waiting.h"
#include "store/memory/memory_store.h"
#include "store/testing/forwarding_store.h"
#include "value/json.h"

namespace sluice::engine {
namespace {

/// Commits wait while it is away.
class AbsentStore final : public store::testing::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    Result<void> commit(store::Batch& batch) override {
        auto lock = std::unique_lock{mutex_};
        ++waiting_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return !is_away_; });
        --waiting_;
        lock.unlock();
        return ForwardingStore::commit(batch);
    }

    void leave() { set_away(true); }
    void come_back() { set_away(false); }
    void await_commit() {
        auto lock = std::unique_lock{mutex_};
        changed_.wait(lock, [&] { return waiting_ > 0; });
    }

private:
    void set_away(bool is_away) {
        auto lock = std::lock_guard{mutex_};
        is_away_ = is_away;
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_away_ = false;
    int waiting_ = 0;
};

/// An engine that shares its store, with real threads.
class SharingTest : public ::testing::Test {
protected:
    SharingTest() {
        auto sharing = Sharing{
            .elsewhere = [](Input&& /*input*/) {},
            .send = [](const std::string& /*space*/, const std::vector<event::Event>& /*events*/,
                       const Accepted& /*done*/) {},
            .lost =
                [this](const std::vector<ShardId>& shards, const Error& /*error*/) {
                    lost_ += shards.size();
                    lost_.notify_all();
                }};
        engine_ = std::move(*Engine::open(store_, vocabulary_, clock_, diagnostics_,
                                          {.sharing = std::move(sharing)}));
        EXPECT_TRUE(engine_->adopt(take()));
        EXPECT_TRUE(engine_->catalog().add(
            "default", {.name = "wait", .form = *value::parse_json(R"({"name":"wait","triggers":[
                {"id":"end","on":"end","action":{"finish":{}}}]})")}));
    }

    /// As another process would, or this one anew.
    std::vector<std::pair<ShardId, store::ShardState>> take() {
        auto shards = std::vector<ShardId>{};
        for (auto at = std::uint16_t{0}; at < store_.shard_count(); ++at) {
            shards.emplace_back(at);
        }
        auto states = *store_.acquire(shards);
        auto taken = std::vector<std::pair<ShardId, store::ShardState>>{};
        for (auto at = std::size_t{0}; at < shards.size(); ++at) {
            taken.emplace_back(shards[at], states[at]);
        }
        return taken;
    }

    std::future<Result<Value>> start(const std::string& run) {
        auto promise = std::make_shared<std::promise<Result<Value>>>();
        engine_->start({.id = run, .definition = "wait"}, [promise](Result<Value> started) {
            promise->set_value(std::move(started));
        });
        return promise->get_future();
    }

    store::memory::MemoryStore memory_{4};
    AbsentStore store_{memory_};
    trigger::Vocabulary vocabulary_;
    SystemClock clock_;
    observe::NullDiagnostics diagnostics_;
    std::atomic<std::size_t> lost_ = 0;
    std::unique_ptr<Engine> engine_;
};

TEST_F(SharingTest, TellsThatItsShardsWereTakenByAnother) {
    ASSERT_TRUE(start("a").get());
    take();

    EXPECT_FALSE(start("b").get());

    lost_.wait(0);
    EXPECT_EQ(lost_, 4U);
}

TEST_F(SharingTest, KeepsWhatItTookAnewWhileACommitOfBeforeWasUnderWay) {
    store_.leave();
    auto before = start("a");
    store_.await_commit();

    engine_->lose_all({Errc::Unavailable, "not renewed"}, [] {});
    ASSERT_TRUE(engine_->adopt(take()));
    store_.come_back();

    EXPECT_FALSE(before.get());
    EXPECT_TRUE(start("b").get());
    EXPECT_EQ(lost_, 0U) << "what was lost had been given up before";
}

} // namespace
} // namespace sluice::engine
