#include "engine/engine.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/inspector.h"
#include "engine/internal/crash_marker.h"
#include "engine/testing/engine_fixture.h"
#include "value/json.h"

namespace sluice::engine {
namespace {

class EngineTest : public testing::EngineFixture {
protected:
    Result<Value> remove(const std::string& run, WhenRunning when_running) {
        return testing::wait_for<Value>(
            [&](auto done) { engine_->remove({.id = run}, when_running, std::move(done)); });
    }

    /// Whether no other run is left, once every message has come.
    bool wait_until_alone(const std::string& run) {
        auto inspector = Inspector{store_, vocabulary_};
        for (auto tries = 0; tries < 10'000; ++tries) {
            auto page = inspector.list({});
            auto is_alone = run.empty() ? page->runs.empty()
                                        : page->runs.size() == 1 && page->runs[0].run.id == run;
            if (is_alone) {
                return true;
            }
            // Each answer waits for a commit, so this gives way to what is under way.
            auto answered = testing::wait_for<Value>([&](auto done) {
                auto nothing = [](const trigger::RunState*) -> Result<Value> { return Value{}; };
                engine_->query({.id = "none"}, nothing, std::move(done));
            });
            EXPECT_TRUE(answered);
        }
        return false;
    }

    /// Keys of the store but those of retention, which go by themselves.
    std::map<std::string, std::string> keys_left() {
        auto left = std::map<std::string, std::string>{};
        for (auto cursor = store_.scan({}, {}); cursor->is_valid(); cursor->next()) {
            if (cursor->key()[2] != 'G') {
                left.emplace(cursor->key(), cursor->value());
            }
        }
        return left;
    }
};

TEST_F(EngineTest, RunsATaskAndFinishesWithItsResult) {
    define("echo", R"({"name":"echo","triggers":[
        {"id":"begin","on":"sluice.run.started","action":{"invoke":{"function":"echo","input":"${run.input}"}}},
        {"id":"end","on":{"type":"sluice.task.succeeded","subject":"echo"},
         "action":{"finish":{"result":"${data.result}"}}}]})");

    auto ending = start_and_wait("r1", "echo", Value{42});

    EXPECT_EQ(value::to_json(ending), R"({"status":"succeeded","result":42,"error":null})");
    expect_replays("r1");
}

TEST_F(EngineTest, StartsARunAndTellsOfItsEnd) {
    define("echo", R"({"name":"echo","triggers":[
        {"id":"begin","on":"sluice.run.started","action":{"invoke":{"function":"echo","input":"${run.input}"}}},
        {"id":"end","on":{"type":"sluice.task.succeeded","subject":"echo"},
         "action":{"finish":{"result":"${data.result}"}}}]})");
    define("brief", R"({"name":"brief","triggers":[
        {"id":"all","on":"sluice.run.started","action":{"finish":{"result":"${run.input}"}}}]})");
    auto run = [&](const std::string& id, const std::string& definition, Done started) {
        return testing::wait_for<Value>([&](auto ended) {
            engine_->run({.id = id, .definition = definition, .input = Value{7}},
                         std::move(started), std::move(ended));
        });
    };
    auto heard = std::make_shared<std::vector<std::string>>();
    auto hear = [heard](const Result<Value>& started) {
        heard->push_back(started ? value::to_json(*started) : started.error().message);
    };
    auto expected = std::string{R"({"status":"succeeded","result":7,"error":null})"};

    EXPECT_EQ(value::to_json(*run("r1", "echo", hear)), expected);
    EXPECT_EQ(value::to_json(*run("r1", "echo", hear)), expected);
    EXPECT_EQ(value::to_json(*run("r2", "brief", {})), expected);
    EXPECT_EQ(run("r3", "missing", hear).error().code, Errc::NotFound);
    EXPECT_EQ(run("r 4", "brief", {}).error().code, Errc::InvalidInput);

    ASSERT_EQ(heard->size(), 3);
    EXPECT_EQ((*heard)[0], R"({"run":"r1","existing":false})");
    EXPECT_EQ((*heard)[1], R"({"run":"r1","existing":true})");
    expect_replays("r1");
}

// Runs that have ended leave their memory to those that begin.
TEST_F(EngineTest, ARunBeginsWithNothingOfAnother) {
    define("rich", R"({"name":"rich","context":{"seen":""},"triggers":[
        {"id":"note","on":"item","lifetime":"persistent","action":[
            {"set":{"run":{"seen":"${run.context.seen + event.id}"}}},
            {"schedule":{"timer":"t","after":"1h"}}]},
        {"id":"end","on":"item","condition":{"count":2},
         "action":{"finish":{"result":"${run.context.seen}"}}}]})");
    for (auto at = 0; at < 200; ++at) {
        auto id = fmt::format("r{}", at);
        start(id, "rich");
        send(id, {"a", "b"}, "item");
        ASSERT_EQ(value::to_json(wait_end(id)),
                  R"({"status":"succeeded","result":"ab","error":null})");
    }

    expect_replays("r0");
    expect_replays("r199");
}

TEST_F(EngineTest, JoinsEventsAndDropsDuplicates) {
    define("join", R"({"name":"join","triggers":[
        {"id":"joined","on":"item","condition":{"count":3},"action":{"finish":{"result":"${trigger.fired}"}}}]})");
    start("r1", "join");

    auto first = send("r1", {"a", "b", "a"}, "item");
    auto last = send("r1", {"c"}, "item");

    EXPECT_EQ(first, (std::vector{trigger::Fate::Activated, trigger::Fate::Activated,
                                  trigger::Fate::Duplicate}));
    EXPECT_EQ(last, std::vector{trigger::Fate::Fired});
    EXPECT_EQ(value::to_json(wait_end("r1")), R"({"status":"succeeded","result":1,"error":null})");
    expect_replays("r1");
}

TEST_F(EngineTest, FansOutInSlicesAndJoinsAll) {
    define("fan", R"({"name":"fan","triggers":[
        {"id":"begin","on":"sluice.run.started",
         "action":{"invoke":{"function":"echo","subject":"part","each":5000,"input":"${index}"}}},
        {"id":"end","on":{"type":"sluice.task.succeeded","subject":"part"},
         "condition":{"count":5000},"action":{"finish":{"result":"done"}}}]})");

    auto ending = start_and_wait("r1", "fan");

    EXPECT_EQ(value::to_json(ending), R"({"status":"succeeded","result":"done","error":null})");
    expect_replays("r1");
}

TEST_F(EngineTest, RetriesAFailedTask) {
    define("retry", R"({"name":"retry","triggers":[
        {"id":"begin","on":"sluice.run.started","action":{"invoke":"third_time"}},
        {"id":"end","on":{"type":"sluice.task.succeeded"},
         "action":{"finish":{"result":"${data.attempt}"}}}]})");

    auto ending = start_and_wait("r1", "retry");

    EXPECT_EQ(value::to_json(ending), R"({"status":"succeeded","result":3,"error":null})");
    expect_replays("r1");
}

TEST_F(EngineTest, FailsARunWhoseTaskFailsUnseen) {
    define("fails", R"({"name":"fails","triggers":[
        {"id":"begin","on":"sluice.run.started","action":{"invoke":"fail"}}]})");

    auto ending = start_and_wait("r1", "fails");

    EXPECT_EQ(*ending.find("status"), Value{"failed"});
    EXPECT_EQ(*ending.find("error")->find("kind"), Value{"task_failed"});
}

TEST_F(EngineTest, NestsRuns) {
    define("child", R"({"name":"child","triggers":[
        {"id":"end","on":"sluice.run.started","action":{"finish":{"result":"${run.input + 1}"}}}]})");
    define("parent", R"({"name":"parent","triggers":[
        {"id":"begin","on":"sluice.run.started","action":{"start":{"definition":"child","input":41,"spread":true}}},
        {"id":"end","on":"sluice.run.succeeded","action":{"finish":{"result":"${data.result}"}}}]})");

    auto ending = start_and_wait("r1", "parent");

    EXPECT_EQ(value::to_json(ending), R"({"status":"succeeded","result":42,"error":null})");
    expect_replays("r1");
    expect_replays("r1.1.0~spread");
}

TEST_F(EngineTest, FiresATimer) {
    define("timer", R"({"name":"timer","triggers":[
        {"id":"begin","on":"sluice.run.started","action":{"schedule":{"timer":"t","after":"5ms"}}},
        {"id":"end","on":{"type":"sluice.timer.fired","subject":"t"},"action":"finish"}]})");

    auto ending = start_and_wait("r1", "timer");

    EXPECT_EQ(*ending.find("status"), Value{"succeeded"});
    expect_replays("r1");
}

TEST_F(EngineTest, GoesOnWhereAnEarlierEngineStopped) {
    define("join", R"({"name":"join","triggers":[
        {"id":"joined","on":"item","condition":{"count":2},"action":"finish"}]})");
    start("r1", "join");
    send("r1", {"a"}, "item");
    engine_->stop();
    engine_.reset();

    open();
    auto fates = send("r1", {"a", "b"}, "item");

    EXPECT_EQ(fates, (std::vector{trigger::Fate::Duplicate, trigger::Fate::Fired}));
    EXPECT_EQ(*wait_end("r1").find("status"), Value{"succeeded"});
    expect_replays("r1");
}

TEST_F(EngineTest, RebuildsTheStateAfterAnyEventFromHistory) {
    define("join", R"({"name":"join","triggers":[
        {"id":"joined","on":"item","condition":{"count":3},"action":"finish"}]})");
    start("r1", "join");
    send("r1", {"a", "b", "c"}, "item");
    wait_end("r1");

    auto inspector = Inspector{store_, vocabulary_};
    auto state = state_at(inspector, {.id = "r1"}, trigger::EventNumber{3});

    ASSERT_TRUE(state) << state.error().message;
    const auto& past = *state->state;
    EXPECT_EQ(past.find_trigger(trigger::root_scope, trigger::TriggerNumber{0})->progress, 2U);
    EXPECT_FALSE(past.has_ended());
}

TEST_F(EngineTest, ForksARunAtAnEvent) {
    define("join", R"({"name":"join","triggers":[
        {"id":"joined","on":"item","condition":{"count":3},"action":{"finish":{"result":"${run.id}"}}}]})");
    start("r1", "join");
    send("r1", {"a", "b", "c"}, "item");
    wait_end("r1");

    auto forked = testing::wait_for<Value>([&](auto done) {
        engine_->fork({.id = "r1"}, trigger::EventNumber{3}, "r2", std::move(done));
    });
    ASSERT_TRUE(forked) << forked.error().message;
    auto fates = send("r2", {"z"}, "item");

    EXPECT_EQ(fates, std::vector{trigger::Fate::Fired});
    EXPECT_EQ(*wait_end("r2").find("result"), Value{"r2"});
    expect_replays("r2");
    // The fork counts on from the event it was forked at.
    auto inspector = Inspector{store_, vocabulary_};
    auto past = state_at(inspector, {.id = "r2"}, trigger::EventNumber{4});
    ASSERT_TRUE(past) << past.error().message;
    EXPECT_TRUE(past->state->has_ended());
    EXPECT_EQ(state_at(inspector, {.id = "r2"}, trigger::EventNumber{2}).error().code,
              Errc::NotFound);
}

TEST_F(EngineTest, RemovesARunWithAllThatItStarted) {
    define("leaf", R"({"name":"leaf","triggers":[
        {"id":"end","on":"sluice.run.started","action":"finish"}]})");
    define("child", R"({"name":"child","triggers":[
        {"id":"begin","on":"sluice.run.started","action":{"start":{"definition":"leaf","spread":true}}},
        {"id":"end","on":"sluice.run.succeeded","action":"finish"}]})");
    define("parent", R"({"name":"parent","triggers":[
        {"id":"begin","on":"sluice.run.started","action":{"start":{"definition":"child","each":3}}},
        {"id":"end","on":"sluice.run.succeeded","condition":{"count":3},"action":"finish"}]})");
    start_and_wait("r1", "parent");
    start_and_wait("r2", "leaf");

    auto removed = remove("r1", WhenRunning::Refuse);

    ASSERT_TRUE(removed) << removed.error().message;
    EXPECT_TRUE(wait_until_alone("r2"));
    for (const auto& [key, value] : keys_left()) {
        EXPECT_EQ(key.find("r1"), std::string::npos);
    }
}

TEST_F(EngineTest, RemovesARunningRunOnlyWhenItIsToBeTerminated) {
    define("waits",
           R"({"name":"waits","triggers":[{"id":"never","on":"never","action":"finish"}]})");
    define("parent", R"({"name":"parent","triggers":[
        {"id":"begin","on":"sluice.run.started","action":{"start":{"definition":"waits","each":3,"spread":true}}},
        {"id":"cancelled","on":"sluice.run.cancel"}]})");
    start("r1", "parent");

    auto refused = remove("r1", WhenRunning::Refuse);
    auto removed = remove("r1", WhenRunning::Terminate);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Conflict);
    ASSERT_TRUE(removed) << removed.error().message;
    EXPECT_TRUE(wait_until_alone(""));
}

TEST_F(EngineTest, WaitsForTheLastGenerationOfANestedRun) {
    define("child", R"({"name":"child","triggers":[
        {"id":"again","on":"sluice.run.started","filter":"run.generation < 5",
         "action":[{"invoke":"echo"},{"continue":{"input":"${run.input + 1}"}}]},
        {"id":"end","on":"sluice.run.started","filter":"run.generation == 5",
         "action":{"finish":{"result":"${run.input}"}}}]})");
    define("parent", R"({"name":"parent","triggers":[
        {"id":"begin","on":"sluice.run.started","action":{"start":{"definition":"child","input":10}}},
        {"id":"end","on":"sluice.run.succeeded","action":{"finish":{"result":"${data.result}"}}}]})");

    auto ending = start_and_wait("r1", "parent");

    EXPECT_EQ(value::to_json(ending), R"({"status":"succeeded","result":14,"error":null})");
    expect_replays("r1");
    expect_replays("r1~1.0");
}

TEST_F(EngineTest, SetsAsideAnEventThatStoppedTheProcessTwice) {
    define("join", R"({"name":"join","triggers":[
        {"id":"joined","on":"item","condition":{"count":2},"action":"finish"}]})");
    start("r1", "join");
    engine_.reset();
    auto path = std::filesystem::temp_directory_path() /
                ("sluice-engine-marker-" + std::to_string(::getpid()));
    for (auto stops = 0; stops < 2; ++stops) {
        auto dying = std::move(*CrashMarker::open(path));
        dying->begin(0, CrashMarker::print_of("r1", "test", "poison"));
    }

    open(path);
    auto fates = send("r1", {"a", "poison", "b"}, "item");

    EXPECT_EQ(fates,
              (std::vector{trigger::Fate::Activated, trigger::Fate::Failed, trigger::Fate::Fired}));
    EXPECT_EQ(*wait_end("r1").find("status"), Value{"succeeded"});
    expect_replays("r1");
    std::filesystem::remove(path);
}

TEST_F(EngineTest, RefusesTypesThatAreTheEnginesOwn) {
    auto events =
        std::vector{event::Builder{"1", "test", "sluice.task.succeeded"}.run("r").build()};
    auto fates = testing::wait_for<Receipt>(
        [&](auto done) { engine_->send("default", std::move(events), std::move(done)); });

    ASSERT_FALSE(fates);
    EXPECT_EQ(fates.error().code, Errc::InvalidInput);
}

} // namespace
} // namespace sluice::engine
