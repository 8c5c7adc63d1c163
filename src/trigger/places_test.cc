#include "trigger/internal/places.h"

#include <gtest/gtest.h>

#include "trigger/state_image.h"
#include "trigger/testing/decided_run.h"
#include "trigger/testing/state_bytes.h"

namespace sluice::trigger {
namespace {

constexpr auto sequential = R"({"name":"nightly","strategy":"sequential","timeout":"1h","triggers":[
    {"id":"begin","on":"sluice.run.started","action":{"invoke":"work"}},
    {"id":"again","on":"sluice.run.reopened","lifetime":"persistent","action":{"invoke":"work"}},
    {"id":"end","on":"end","action":"finish"}]})";

class PlacesTest : public testing::DecidedRun {
protected:
    Fate answer(const Value& reply, std::uint64_t asked = 1) {
        return decide(reply_arrival(state_, places::asker("run", asked), "definition/nightly",
                                    Value::object({{"reply", reply}}), moment_));
    }
    Fate give(std::uint64_t asked = 1) {
        return answer(Value::object({{"place", places::given}}), asked);
    }
    Fate withdraw() {
        auto error = Value::object({{"kind", "superseded"}, {"message", "there is a newer one"}});
        return answer(Value::object({{"place", places::withdrawn}, {"error", error}}));
    }
    Fate command(std::string_view type) {
        return decide(command_arrival(state_, type, Value::object({}), moment_));
    }

    /// Types of what was sent to the definition's standing run.
    std::vector<std::string> told() {
        auto types = std::vector<std::string>{};
        for (const auto& effect : journal_.effects) {
            if (const auto* sent = std::get_if<Sent>(&effect)) {
                EXPECT_EQ(sent->target, "definition/nightly");
                types.push_back(
                    std::string{value::parse_json(sent->json)->find("type")->as_string()});
            }
        }
        return types;
    }

    void expect_folded() {
        auto folded = RunState{};
        folded.id = state_.id;
        for (const auto& entry : entries()) {
            fold(folded, entry);
        }
        EXPECT_EQ(testing::state_bytes(folded), testing::state_bytes(state_));
    }
};

using Told = std::vector<std::string>;

TEST_F(PlacesTest, ARunWaitsForItsPlaceAndBeginsWithIt) {
    start(sequential);
    EXPECT_EQ(state_.progress.status, Status::Queued);
    EXPECT_TRUE(state_.tasks.empty());
    EXPECT_TRUE(state_.timers.empty()) << "time in the queue does not count";

    EXPECT_EQ(give(), Fate::Handled);

    EXPECT_EQ(state_.progress.status, Status::Running);
    EXPECT_EQ(state_.tasks.size(), 1U);
    EXPECT_EQ(state_.timers.size(), 1U);
    EXPECT_EQ(told(), Told{"sluice.place.wanted"});
    expect_folded();
}

TEST_F(PlacesTest, EventsWaitWithItInTheirOrder) {
    start(sequential);

    EXPECT_EQ(send("end"), Fate::Parked);
    give();

    EXPECT_EQ(state_.progress.status, Status::Succeeded);
    EXPECT_EQ(state_.progress.fires, 2U);
    EXPECT_EQ(told(), (Told{"sluice.place.wanted", "sluice.place.left"}));
}

TEST_F(PlacesTest, OneThatIsCancelledInTheQueueLeavesIt) {
    start(sequential);

    command(types::run_cancel);

    EXPECT_EQ(state_.progress.status, Status::Cancelled);
    EXPECT_FALSE(state_.place);
    EXPECT_EQ(told(), (Told{"sluice.place.wanted", "sluice.place.left"}));
    EXPECT_EQ(give(), Fate::Late) << "it was on its way";
}

TEST_F(PlacesTest, EveryEndGivesThePlaceBack) {
    start(sequential);
    give();

    command(types::run_terminate);

    EXPECT_EQ(told().back(), "sluice.place.left");
    EXPECT_FALSE(state_.place);
    expect_folded();
}

TEST_F(PlacesTest, APlaceThatIsWithdrawnCancelsTheRun) {
    start(sequential);

    withdraw();

    EXPECT_EQ(state_.progress.status, Status::Cancelled);
    EXPECT_EQ(*state_.progress.error.find("kind"), Value{"superseded"});
}

TEST_F(PlacesTest, ItMayBeWithdrawnWhileTheRunGoesOn) {
    start(sequential);
    give();

    withdraw();

    EXPECT_EQ(state_.progress.status, Status::Cancelled);
    EXPECT_EQ(told().back(), "sluice.place.left");
    expect_folded();
}

TEST_F(PlacesTest, AReopenedRunAsksAgain) {
    start(sequential);
    give();
    command(types::run_terminate);

    command(types::run_reopened);
    EXPECT_EQ(state_.progress.status, Status::Queued);
    EXPECT_EQ(give(1), Fate::Late) << "an answer to what it asked before";
    give(2);

    EXPECT_EQ(state_.progress.status, Status::Running);
    EXPECT_EQ(state_.tasks.size(), 1U);
    EXPECT_EQ(told(), (Told{"sluice.place.wanted", "sluice.place.left", "sluice.place.wanted"}));
    expect_folded();
}

TEST_F(PlacesTest, AnImageHasThePlace) {
    start(sequential);
    give();
    auto image = RunState{};

    ASSERT_TRUE(decode_image(encode_image(state_), image));

    ASSERT_TRUE(image.place);
    EXPECT_TRUE(image.place->is_given);
}

TEST_F(PlacesTest, ImagesOfTheFormatBeforeHaveNone) {
    start(R"({"name":"plain","triggers":[{"id":"end","on":"end"}]})");
    auto image = encode_image(state_);
    image.front() = 4;
    image.pop_back(); // That there is no place.
    auto read = RunState{};

    ASSERT_TRUE(decode_image(image, read));

    EXPECT_EQ(read.info.definition, "test");
    EXPECT_FALSE(read.place);
}

TEST(StrategyForm, IsReadAsItIsWritten) {
    for (const auto* text : {R"("sequential")", R"("first_only")", R"("last_only")",
                             R"("latest_only")", R"("parallel")", R"({"parallel":5})"}) {
        auto problems = std::vector<Problem>{};

        auto strategy = parse_strategy(*value::parse_json(text), "strategy", problems);

        EXPECT_TRUE(problems.empty()) << text;
        EXPECT_EQ(value::to_json(to_form(strategy)), text);
    }
}

TEST(StrategyForm, OthersAreRefusedWithWhatToWrite) {
    for (const auto* text : {R"("latest")", R"({"parallel":0})", R"({"parallel":1001})",
                             R"({"sequential":3})", R"({"parallel":1,"limit":2})", "3"}) {
        auto problems = std::vector<Problem>{};

        parse_strategy(*value::parse_json(text), "strategy", problems);

        ASSERT_EQ(problems.size(), 1U) << text;
        EXPECT_NE(problems.front().message.find("{parallel: 5}"), std::string::npos);
    }
}

} // namespace
} // namespace sluice::trigger
