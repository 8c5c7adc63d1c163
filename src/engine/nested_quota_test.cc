#include <gtest/gtest.h>

#include "engine/inspector.h"
#include "engine/testing/stepped_lane.h"
#include "trigger/state_image.h"

namespace sluice::engine {
namespace {

using std::chrono::seconds;
using trigger::Status;

/// A parent that starts a child, which there may be no room for.
class NestedQuotaTest : public ::testing::Test {
protected:
    NestedQuotaTest() {
        lane_.admit_nested = [this](const std::string& /*space*/) -> Result<std::shared_ptr<void>> {
            ++asked_;
            if (room_ == 0) {
                return fail(Errc::Unavailable, "as many runs as it may have");
            }
            --room_;
            return std::make_shared<int>();
        };
        lane_.define(R"({"name":"child","triggers":[
            {"id":"end","on":"sluice.run.started","action":{"finish":{"result":"done"}}}]})");
        lane_.define(R"({"name":"parent","triggers":[
            {"id":"begin","on":"sluice.run.started",
             "action":{"start":{"definition":"child","id":"c","subject":"c"}}},
            {"id":"cancel","on":"sluice.run.cancel","action":{"finish":{"error":"cancelled"}}},
            {"id":"well","on":{"type":"sluice.run.succeeded","subject":"c"},
             "action":{"finish":{"result":"${data.result}"}}},
            {"id":"badly","on":{"type":"sluice.run.failed","subject":"c"},
             "action":{"finish":{"error":"${data.error}"}}}]})");
    }

    trigger::RunProgress progress(const std::string& run = "p") {
        auto inspector = Inspector{lane_.store(), lane_.vocabulary()};
        return inspector.run({.id = run}).value()->progress;
    }

    testing::SteppedLane lane_;
    int room_ = 0;
    int asked_ = 0;
};

TEST_F(NestedQuotaTest, BeginsWhereThereIsRoom) {
    room_ = 1;
    lane_.start("p", "parent");

    EXPECT_EQ(progress().result, Value{"done"});
    EXPECT_EQ(asked_, 1);
}

TEST_F(NestedQuotaTest, IsPutOffUntilThereIs) {
    lane_.start("p", "parent");
    EXPECT_EQ(progress().status, Status::Running);
    lane_.advance(seconds{1});
    EXPECT_EQ(progress().status, Status::Running);
    EXPECT_EQ(asked_, 2);

    room_ = 1;
    lane_.advance(seconds{1});
    EXPECT_EQ(progress().status, Status::Running) << "the second pause is longer";
    lane_.advance(seconds{1});

    EXPECT_EQ(progress().result, Value{"done"});
}

TEST_F(NestedQuotaTest, IsPutOffAcrossARestart) {
    lane_.start("p", "parent");
    lane_.restart();
    room_ = 1;

    lane_.advance(seconds{2});

    EXPECT_EQ(progress().result, Value{"done"});
}

TEST_F(NestedQuotaTest, IsStartedOnceByAForkOfItsParent) {
    lane_.start("p", "parent");
    auto inspector = Inspector{lane_.store(), lane_.vocabulary()};
    auto last = inspector.run({.id = "p"}).value()->progress.events;
    auto past = std::move(state_at(inspector, {.id = "p"}, trigger::EventNumber{last})).value();
    trigger::prepare_fork(*past.state, "q", past.moment.steady);
    room_ = 9;

    lane_.take(ForkInput{.run = {.id = "q"},
                         .fork = {.image = trigger::encode_image(*past.state), .from = "p@2"},
                         .set = past.state->info.set,
                         .done = {}});
    EXPECT_EQ(asked_, 1);
    lane_.advance(seconds{2});

    EXPECT_EQ(progress("q").result, Value{"done"});
    EXPECT_EQ(asked_, 3);
}

TEST_F(NestedQuotaTest, IsNotStartedForAParentThatHasEnded) {
    lane_.start("p", "parent");
    lane_.take(CommandInput{.run = {.id = "p"},
                            .type = std::string{trigger::types::run_terminate},
                            .data = {},
                            .done = {}});
    room_ = 1;

    lane_.advance(seconds{60});

    EXPECT_EQ(asked_, 1);
}

} // namespace
} // namespace sluice::engine
