#include <gtest/gtest.h>

#include "trigger/apply.h"
#include "trigger/firing.h"
#include "trigger/state_image.h"
#include "trigger/testing/decided_run.h"
#include "trigger/testing/state_bytes.h"

namespace sluice::trigger {
namespace {

/// Collects the data of its events, which name their place.
class Collect final : public Action {
public:
    Attempt<void> perform(Firing& firing) const override {
        auto index = static_cast<std::uint64_t>(firing.event().data().as_int());
        firing.record(Collected{.scope = firing.scope(),
                                .trigger = firing.trigger(),
                                .index = index,
                                .value = firing.event().id()});
        return {};
    }
};

class CollectedTest : public testing::DecidedRun {
protected:
    CollectedTest() {
        vocabulary_.actions["collect"] = [](const Value&, const ActionSite&,
                                            std::vector<Problem>&) {
            return std::make_shared<Collect>();
        };
    }

    void begin() {
        start(R"({"name":"t","triggers":[
            {"id":"begin","on":"sluice.run.started","action":{"open":"x"}},
            {"id":"item","on":"item","lifetime":"persistent","action":"collect"},
            {"id":"close","on":"close","action":{"close":"x"}},
            {"id":"end","on":"end","action":"finish"}]})");
    }

    Fate send_item(std::int64_t place, const std::string& scope) {
        auto made = event::Builder{"at " + std::to_string(place), "test", "item"};
        made.scope(scope).data(Value{place});
        return decide({.event = made.build(), .moment = moment_});
    }

    std::size_t collected(Incarnation scope) const {
        return state_.collected_by(scope, TriggerNumber{1}).size();
    }
};

TEST_F(CollectedTest, KeepsValuesAtTheirPlaces) {
    begin();

    send_item(70, "");
    send_item(2, "");

    auto values = state_.collected_by(root_scope, TriggerNumber{1});
    ASSERT_EQ(values.size(), 71U);
    EXPECT_EQ(values[2], Value{"at 2"});
    EXPECT_EQ(values[70], Value{"at 70"});
    EXPECT_TRUE(values[0].is_null());
}

TEST_F(CollectedTest, GoesWithItsScope) {
    begin();
    send_item(1, "x");
    send_item(2, "");
    ASSERT_EQ(collected(Incarnation{1}), 2U);

    send("close");

    EXPECT_EQ(collected(Incarnation{1}), 0U);
    EXPECT_EQ(collected(root_scope), 3U);
    send("end");
    EXPECT_TRUE(state_.collected.empty());
}

TEST_F(CollectedTest, IsInHistoryAndInImages) {
    begin();
    send_item(1, "x");
    send_item(65, "x");

    auto folded = RunState{};
    folded.id = "run";
    for (const auto& entry : entries()) {
        fold(folded, entry);
    }
    auto image = RunState{};
    image.id = "run";
    ASSERT_TRUE(decode_image(encode_image(state_), image));

    EXPECT_EQ(testing::state_text(folded), testing::state_text(state_));
    EXPECT_EQ(testing::state_text(image), testing::state_text(state_));
}

TEST_F(CollectedTest, AnEventFiresAsManyTriggersAsItMatches) {
    auto triggers = std::vector<Value>{};
    for (auto at = 0; at < 10'001; ++at) {
        triggers.push_back(Value::object({{"id", std::to_string(at)}, {"on", "go"}}));
    }
    start(value::to_json(
        Value::object({{"name", "t"}, {"triggers", Value::list(std::move(triggers))}})));

    EXPECT_EQ(send("go"), Fate::Fired);

    EXPECT_FALSE(state_.has_ended());
    EXPECT_EQ(state_.progress.fires, 10'001U);
}

TEST_F(CollectedTest, AnAnswerRenewsTheBudgetOfOwnEvents) {
    limits_.own_events_max = 3;
    start(R"({"name":"t","triggers":[
        {"id":"call","on":"sluice.run.started","action":{"invoke":{"function":"f","each":4}}},
        {"id":"tell","on":"sluice.task.succeeded","lifetime":"persistent",
         "action":[{"emit":"a"},{"emit":"a"}]},
        {"id":"hear","on":"a","lifetime":"persistent"}]})");

    for (auto index = std::uint64_t{0}; index < 4; ++index) {
        decide(task_arrival(state_, {.fire = FireNumber{1}, .index = index}, 1, {}, std::nullopt,
                            moment_));
    }

    EXPECT_FALSE(state_.has_ended());
    EXPECT_EQ(state_.progress.emitted, 8U);
}

} // namespace
} // namespace sluice::trigger
