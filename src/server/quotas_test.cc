#include "server/quotas.h"

#include <atomic>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/sink.h"
#include "store/memory/memory_store.h"
#include "trigger/trigger_set.h"

namespace sluice::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

class QuotaClock final : public Clock {
public:
    Time wall() const override { return Time{steady()}; }
    Nanos steady() const override { return now.load(); }

    std::atomic<Nanos> now = Nanos{seconds{1'000}};
};

/// Never answers.
class SilentSink final : public event::Sink {
public:
    ~SilentSink() override = default;
    void deliver(event::Delivery, Done done) override { kept_.push_back(std::move(done)); }
    void cancel(std::string_view) override {}

private:
    std::vector<Done> kept_;
};

class QuotasTest : public ::testing::Test {
protected:
    QuotasTest() {
        engine_ = std::move(engine::Engine::open(
                                store_, vocabulary_, system_, diagnostics_,
                                {.functions = {{"slow", {.sink = &sink_, .concurrency = 1}}}}))
                      .value();
        documents_ = std::move(Documents::open(store_, {"quota"})).value();
        open();
    }

    void open() {
        quotas_ = std::move(Quotas::open(*documents_, store_, *engine_, clock_)).value();
    }
    void set(std::initializer_list<value::Member> members) {
        ASSERT_TRUE(quotas_->set("team", Value::object(members)));
    }
    void define(std::string name) {
        auto form = Value::object(
            {{"name", name},
             {"triggers",
              Value::list({Value::object(
                  {{"id", "begin"},
                   {"on", "sluice.run.started"},
                   {"action", Value::object({{"invoke", Value::object({{"function", "slow"},
                                                                       {"each", 3}})}})}})})}});
        ASSERT_TRUE(engine_->catalog().add("team", {.name = std::move(name), .form = form}));
    }
    void start(std::string id, std::string definition = {}) {
        auto done = std::promise<bool>{};
        engine_->start({.space = "team", .id = std::move(id), .definition = std::move(definition)},
                       [&](const Result<Value>& started) { done.set_value(started.has_value()); });
        ASSERT_TRUE(done.get_future().get());
    }
    void end(std::string id) {
        auto done = std::promise<bool>{};
        engine_->command({.space = "team", .id = std::move(id)}, "sluice.run.terminate", Value{},
                         [&](const Result<Value>& ended) { done.set_value(ended.has_value()); });
        ASSERT_TRUE(done.get_future().get());
    }

    store::memory::MemoryStore store_;
    trigger::Vocabulary vocabulary_;
    SystemClock system_;
    observe::NullDiagnostics diagnostics_;
    QuotaClock clock_;
    SilentSink sink_;
    std::unique_ptr<engine::Engine> engine_;
    std::unique_ptr<Documents> documents_;
    std::unique_ptr<Quotas> quotas_;
};

TEST_F(QuotasTest, BoundTheEventsOfASecond) {
    set({{"events_rate", "10/s"}, {"events_burst", 20}});

    EXPECT_FALSE(quotas_->refuse_events("team", 20));
    auto problem = quotas_->refuse_events("team", 15);
    ASSERT_TRUE(problem);
    EXPECT_EQ(problem->status, 429);
    EXPECT_EQ(problem->code, "quota_exceeded");
    EXPECT_EQ(*problem->headers.find("Retry-After"), "2");
    EXPECT_FALSE(quotas_->refuse_events("other", 1'000));
    clock_.now = clock_.now.load() + milliseconds{1'500};
    EXPECT_FALSE(quotas_->refuse_events("team", 15));
}

TEST_F(QuotasTest, AreThereAgainAndGoWhenRemoved) {
    set({{"events_rate", "1/s"}});

    open();

    EXPECT_FALSE(quotas_->refuse_events("team", 1));
    EXPECT_TRUE(quotas_->refuse_events("team", 1));
    EXPECT_EQ(*quotas_->find("team"), Value::object({{"events_rate", "1/s"}}));
    ASSERT_TRUE(quotas_->remove("team"));
    EXPECT_FALSE(quotas_->refuse_events("team", 1));
    EXPECT_FALSE(quotas_->find("team"));
}

TEST_F(QuotasTest, BoundTheRunsThatRun) {
    start("before");
    set({{"running_runs", 2}});

    auto second = quotas_->admit_start("team");
    ASSERT_TRUE(second);
    auto refused = quotas_->admit_start("team");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().detail, HasSubstr("2 runs of the namespace team are running"));
    start("second");
    second->reset();
    end("before");
    EXPECT_FALSE(quotas_->admit_start("team")) << "counted a moment ago";
    clock_.now = clock_.now.load() + seconds{1};

    EXPECT_TRUE(quotas_->admit_start("team"));
    EXPECT_TRUE(quotas_->admit_start("other"));
}

TEST_F(QuotasTest, AStartUnderWayCountsThoughItsRunIsNotListed) {
    set({{"running_runs", 1}});
    auto under_way = quotas_->admit_start("team");
    ASSERT_TRUE(under_way);
    clock_.now = clock_.now.load() + seconds{1};

    EXPECT_FALSE(quotas_->admit_start("team"));
    under_way->reset();
    clock_.now = clock_.now.load() + seconds{1};

    EXPECT_TRUE(quotas_->admit_start("team"));
}

TEST_F(QuotasTest, BoundTheDefinitions) {
    define("one");
    set({{"definitions", 1}});

    EXPECT_FALSE(quotas_->refuse_definition("team", "one"));
    EXPECT_TRUE(quotas_->refuse_definition("team", "two"));
    EXPECT_FALSE(quotas_->refuse_definition("other", "two"));
}

TEST_F(QuotasTest, BoundTheTasksThatWait) {
    set({{"waiting_tasks", 2}});
    EXPECT_FALSE(quotas_->refuse_events("team", 1));
    define("busy");
    start("r", "busy");
    while (engine_->waiting_tasks("team") < 2) {
        std::this_thread::yield();
    }

    EXPECT_TRUE(quotas_->refuse_events("team", 1));
    EXPECT_FALSE(quotas_->admit_start("team"));
    EXPECT_FALSE(quotas_->refuse_events("other", 1));
}

TEST_F(QuotasTest, RefuseWhatTheyCannotMean) {
    for (const auto& [name, value] : std::initializer_list<value::Member>{
             {"runs", 1}, {"running_runs", 0}, {"events_rate", "often"}, {"definitions", "1"}}) {
        EXPECT_EQ(quotas_->set("team", Value::object({{name, value}})).error().code,
                  Errc::InvalidInput)
            << name;
    }
    EXPECT_FALSE(quotas_->find("team"));
}

} // namespace
} // namespace sluice::server
