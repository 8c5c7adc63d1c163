#include "server/intake/engine_actions.h"

#include <optional>

#include <gtest/gtest.h>

#include "engine/testing/engine_fixture.h"

namespace sluice::server::intake {
namespace {

class EngineActionsTest : public engine::testing::EngineFixture {
protected:
    void SetUp() override {
        EngineFixture::SetUp();
        define("waits", R"({"name": "waits", "triggers": [
            {"id": "end", "on": "end", "action": "finish"}]})");
        documents_ = std::move(*Documents::open(store_, {"route", std::string{Quotas::kind}}));
        quotas_ = std::move(*Quotas::open(*documents_, store_, *engine_, clock_));
        router_ = std::move(*EventRouter::open(*engine_, *documents_, {.quotas = quotas_.get()}));
    }
    void TearDown() override { engine_->stop(); }

    template <typename Act>
    std::optional<Errc> code_of(Act act) {
        auto done = engine::testing::wait_for<void>(act);
        return done ? std::nullopt : std::optional{done.error().code};
    }
    std::optional<Errc> start(const std::string& run) {
        return code_of([&](auto done) {
            actions().start({.id = run, .definition = "waits"}, std::move(done));
        });
    }
    std::optional<Errc> send(const std::string& id) {
        return code_of([&](auto done) {
            actions().send("default", event::Builder{id, "test", "tick"}.run("r1").build(),
                           std::move(done));
        });
    }
    EngineActions actions() { return {*engine_, *router_, quotas_.get()}; }

    std::unique_ptr<Documents> documents_;
    std::unique_ptr<Quotas> quotas_;
    std::unique_ptr<EventRouter> router_;
};

TEST_F(EngineActionsTest, KeepToTheQuotaOfTheNamespace) {
    ASSERT_TRUE(quotas_->set(
        "default",
        Value::object({{"running_runs", 1}, {"events_rate", "1/h"}, {"events_burst", 1}})));

    EXPECT_EQ(start("r1"), std::nullopt);
    EXPECT_EQ(start("r2"), Errc::Unavailable) << "a schedule tries again what is unavailable";
    EXPECT_EQ(send("a"), std::nullopt);
    EXPECT_EQ(send("b"), Errc::Unavailable);
}

} // namespace
} // namespace sluice::server::intake
