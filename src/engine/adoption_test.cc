#include <gtest/gtest.h>

#include "engine/inspector.h"
#include "engine/testing/stepped_lane.h"

namespace sluice::engine {
namespace {

/// A run that waits for the end of one with a given id, whoever started that.
class AdoptionTest : public ::testing::Test {
protected:
    AdoptionTest() {
        lane_.define(R"({"name":"child","triggers":[
            {"id":"end","on":"end","lifetime":"persistent","action":{"finish":{"result":"done"}}},
            {"id":"fail","on":"fail","lifetime":"persistent","action":{"finish":{"error":"told"}}}]})");
        lane_.define(R"({"name":"stranger","triggers":[{"id":"end","on":"end"}]})");
        lane_.define(R"({"name":"parent","triggers":[
            {"id":"begin","on":"sluice.run.started",
             "action":{"start":{"definition":"child","id":"c","subject":"c","adopt":true}}},
            {"id":"well","on":{"type":"sluice.run.succeeded","subject":"c"},
             "action":{"finish":{"result":"${data.result}"}}},
            {"id":"badly","on":{"type":"sluice.run.failed","subject":"c"},
             "action":{"finish":{"error":"${data.error}"}}}]})");
    }

    void send(const std::string& type) {
        auto event = event::Builder{std::to_string(++sent_), "test", type}.run("c").build();
        lane_.take(EventsInput{
            .shard = lane_.shard_of_run("c"), .space = "default", .events = {std::move(event)}});
    }

    trigger::RunProgress progress(const std::string& run) {
        auto inspector = Inspector{lane_.store(), lane_.vocabulary()};
        return inspector.run({.id = run}).value()->progress;
    }
    trigger::Status status(const std::string& run) { return progress(run).status; }

    testing::SteppedLane lane_;
    int sent_ = 0;
};

using trigger::Status;

TEST_F(AdoptionTest, StartsARunThatIsNotThere) {
    lane_.start("p", "parent");
    send("end");

    EXPECT_EQ(progress("p").result, Value{"done"});
}

TEST_F(AdoptionTest, TakesTheResultOfOneThatHasSucceeded) {
    lane_.start("c", "child");
    send("end");

    lane_.start("p", "parent");

    EXPECT_EQ(progress("p").result, Value{"done"});
}

TEST_F(AdoptionTest, WaitsForOneThatIsUnderWay) {
    lane_.start("c", "child");
    lane_.start("p", "parent");
    EXPECT_EQ(status("p"), Status::Running);

    lane_.restart();
    send("end");

    EXPECT_EQ(progress("p").result, Value{"done"});
}

TEST_F(AdoptionTest, ReopensOneThatHasFailed) {
    lane_.start("c", "child");
    send("fail");
    ASSERT_EQ(status("c"), Status::Failed);

    lane_.start("p", "parent");
    EXPECT_EQ(status("c"), Status::Running);
    send("end");

    EXPECT_EQ(progress("p").result, Value{"done"});
    auto inspector = Inspector{lane_.store(), lane_.vocabulary()};
    auto listed = inspector.list({.label = "sluice.parent=p"});
    ASSERT_EQ(listed->runs.size(), 1U);
    EXPECT_EQ(listed->runs.front().run.id, "c");
    for (const auto* run : {"p", "c"}) {
        EXPECT_EQ(replay(inspector, {.id = run}, {})->difference_count, 0U) << run;
    }
}

TEST_F(AdoptionTest, LeavesRunsOfOthersAlone) {
    lane_.start("p", "parent");
    lane_.start("q", "parent");
    EXPECT_EQ(status("q"), Status::Failed) << "it is under way for p";
    send("end");

    EXPECT_EQ(status("p"), Status::Succeeded);
}

TEST_F(AdoptionTest, TakesNoneOfAnotherDefinition) {
    lane_.start("c", "stranger");

    lane_.start("p", "parent");

    EXPECT_EQ(status("p"), Status::Failed);
    EXPECT_EQ(status("c"), Status::Running);
}

} // namespace
} // namespace sluice::engine
