#include "server/event_router.h"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/engine_fixture.h"
#include "event/builder.h"
#include "value/json.h"

namespace sluice::server {
namespace {

using event::Builder;
using ::testing::HasSubstr;

class EventRouterTest : public engine::testing::EngineFixture {
protected:
    void SetUp() override {
        EngineFixture::SetUp();
        open_router({});
        define("pair", R"({"name": "pair", "triggers": [
            {"id": "both", "on": "item", "condition": {"count": 2},
             "action": {"finish": {"result": "two came"}}}]})");
    }

    void open_router(EventRouter::Options options) {
        documents_ = std::move(*Documents::open(store_, {"route"}));
        router_ = std::move(*EventRouter::open(*engine_, *documents_, options));
    }

    void put(const std::string& name, const std::string& json) {
        auto done = router_->put("default", name, value::parse_json(json).value());
        ASSERT_TRUE(done) << done.error().message;
    }

    std::expected<Routed, Problem> take(std::vector<Event> events) {
        auto promise = std::promise<std::expected<Routed, Problem>>{};
        router_->take("default", std::move(events),
                      [&](auto routed) { promise.set_value(std::move(routed)); });
        return promise.get_future().get();
    }

    static Event item(const std::string& id, const std::string& subject) {
        return Builder{id, "/test", "item"}.subject(subject).data(Value{id}).build();
    }

    Value state_of(const std::string& run) {
        auto read = [](const trigger::RunState* state) -> Result<Value> {
            return state == nullptr
                       ? Value{"none"}
                       : Value::object({{"status", to_string(state->progress.status)},
                                        {"input", state->info.input},
                                        {"labels", state->info.labels},
                                        {"duplicates",
                                         static_cast<std::int64_t>(state->progress.duplicates)}});
        };
        return *engine::testing::wait_for<Value>(
            [&](auto done) { engine_->query({.id = run}, read, std::move(done)); });
    }

    std::unique_ptr<Documents> documents_;
    std::unique_ptr<EventRouter> router_;
};

const auto pair_route = std::string{R"({"filter": {"exact": {"type": "item"}},
    "to": {"run": {"key": "subject"}, "definition": "pair", "labels": {"team": "a"}}})"};

TEST_F(EventRouterTest, StartsARunIfThereIsNoneAndSendsItTheEvent) {
    put("pairs", pair_route);

    auto first = take({item("1", "r1")});
    ASSERT_TRUE(first) << first.error().detail;
    EXPECT_EQ(first->parts.at(0).run, "r1");
    EXPECT_EQ(*state_of("r1").find("input"), Value{"1"});
    EXPECT_EQ(state_of("r1").find("labels")->find("team")->as_string(), "a");
    ASSERT_TRUE(take({item("2", "r1")}));

    EXPECT_EQ(*wait_end("r1").find("result"), Value{"two came"});
}

TEST_F(EventRouterTest, TakesAnEventOnceHoweverOftenItComes) {
    put("pairs", pair_route);
    ASSERT_TRUE(take({item("1", "r1")}));

    auto again = take({item("1", "r1")});

    ASSERT_TRUE(again);
    EXPECT_EQ(again->parts.at(0).fate, trigger::Fate::Duplicate);
    EXPECT_EQ(*state_of("r1").find("status"), Value{"running"});
}

TEST_F(EventRouterTest, StartsARunForEachEventOnce) {
    put("new", R"({"filter": {}, "to": {"definition": "pair", "input": "event"}})");

    auto first = take({item("1", "x"), item("2", "x")});
    auto again = take({item("1", "x")});

    ASSERT_TRUE(first && again);
    EXPECT_NE(first->parts.at(0).run, first->parts.at(1).run);
    EXPECT_EQ(again->parts.at(0).run, first->parts.at(0).run);
    EXPECT_EQ(again->parts.at(0).fate, trigger::Fate::Duplicate);
    EXPECT_EQ(*state_of(first->parts[0].run).find("input")->find("id"), Value{"1"});
}

TEST_F(EventRouterTest, SendsAnEventToEveryRunOnce) {
    start("fixed", "pair");
    put("a", R"({"filter": {}, "to": {"run": {"key": "target"}}})");
    put("b", pair_route);
    put("c", R"({"filter": {}, "to": {"run": {"key": "subject"}}})");
    auto event = Builder{"1", "/test", "item"}.subject("r1").attribute("target", "fixed").build();

    auto routed = take({event});

    ASSERT_TRUE(routed) << routed.error().detail;
    ASSERT_EQ(routed->parts.size(), 2U);
    EXPECT_EQ(routed->parts[0].run, "fixed");
    EXPECT_EQ(routed->parts[1].run, "r1");
    EXPECT_EQ(routed->parts[1].fate, trigger::Fate::Activated);
}

TEST_F(EventRouterTest, RefusesABatchWholeWhenOneEventFindsNoRun) {
    put("pairs", pair_route);

    auto routed = take({item("1", "r1"), Builder{"2", "/test", "other"}.build()});

    ASSERT_FALSE(routed);
    EXPECT_EQ(routed.error().code, "no_route");
    EXPECT_THAT(routed.error().detail, HasSubstr("event 2 names no run"));
    EXPECT_EQ(state_of("r1"), Value{"none"});
}

TEST_F(EventRouterTest, SaysWhichKeyIsMissing) {
    put("pairs", pair_route);
    auto routed = take({Builder{"1", "/test", "item"}.build()});
    ASSERT_FALSE(routed);
    EXPECT_THAT(routed.error().detail, HasSubstr("has no subject"));
}

TEST_F(EventRouterTest, RefusesBeforeItStartsAnything) {
    put("a", pair_route);
    put("b", R"({"filter": {}, "to": {"definition": "none"}})");
    auto routed = take({item("1", "r1")});
    ASSERT_FALSE(routed);
    EXPECT_EQ(routed.error().status, 404);
    EXPECT_THAT(routed.error().detail, HasSubstr("route b"));
    EXPECT_EQ(state_of("r1"), Value{"none"});

    ASSERT_TRUE(router_->remove("default", "b"));
    auto reserved =
        take({Builder{"1", "/test", "sluice.timer"}.run("r1").build(), item("2", "r1")});
    ASSERT_FALSE(reserved);
    EXPECT_EQ(state_of("r1"), Value{"none"});
}

TEST_F(EventRouterTest, LeavesRunsAloneThatItMayNotStart) {
    put("a", R"({"filter": {}, "to": {"run": {"key": "subject"}}})");
    auto routed = take({item("1", "r1")});
    ASSERT_TRUE(routed);
    EXPECT_EQ(routed->parts.at(0).fate, trigger::Fate::NoSuchRun);
}

TEST_F(EventRouterTest, StartsNoMoreRunsThanTheNamespaceMayHave) {
    documents_ = std::move(*Documents::open(store_, {"route", "quota"}));
    auto quotas = Quotas::open(*documents_, store_, *engine_, clock_).value();
    ASSERT_TRUE(quotas->set("default", Value::object({{"running_runs", 1}})));
    router_ = std::move(*EventRouter::open(*engine_, *documents_, {.quotas = quotas.get()}));
    put("pairs", pair_route);
    ASSERT_TRUE(take({item("1", "r1")}));

    auto refused = take({item("1", "r2")});

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, 429);
    EXPECT_EQ(state_of("r2"), Value{"none"});
    EXPECT_TRUE(take({item("2", "r1")}));
}

TEST_F(EventRouterTest, DropsWhatNobodyWantsWhereThatIsSaid) {
    open_router({.accepts_unrouted = true});
    auto routed = take({Builder{"1", "/test", "other"}.build()});
    ASSERT_TRUE(routed);
    EXPECT_EQ(routed->unrouted, 1U);
}

TEST_F(EventRouterTest, FindsItsRoutesAgainAfterARestart) {
    put("pairs", pair_route);
    open_router({});
    EXPECT_TRUE(take({item("1", "r1")}));

    ASSERT_TRUE(router_->remove("default", "pairs"));
    EXPECT_FALSE(take({item("2", "r1")}));
    EXPECT_FALSE(router_->remove("default", "pairs"));
    EXPECT_FALSE(router_->put("default", "x", Value::object({})));
}

TEST_F(EventRouterTest, StartsNoMoreRunsThanTheQuotaHasRoomFor) {
    auto clock = SystemClock{};
    documents_ = std::move(*Documents::open(store_, {"route", "quota"}));
    auto quotas = std::move(*Quotas::open(*documents_, store_, *engine_, clock));
    ASSERT_TRUE(quotas->set("default", Value::object({{"running_runs", 1}})));
    router_ = std::move(*EventRouter::open(*engine_, *documents_, {.quotas = quotas.get()}));
    put("pairs", pair_route);

    ASSERT_TRUE(take({item("1", "r1")}));
    auto refused = take({item("1", "r2")});

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "quota_exceeded");
    EXPECT_TRUE(take({item("2", "r1")}));
    router_.reset();
}

} // namespace
} // namespace sluice::server
