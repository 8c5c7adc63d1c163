#include "connector/poll/queues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reactor/testing/manual_scheduler.h"

namespace sluice::connector::poll {
namespace {

using event::Answer;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ManualClock final : public Clock {
public:
    Time wall() const override { return Time{now}; }
    Nanos steady() const override { return now; }

    Nanos now = std::chrono::hours{1};
};

class PollQueues : public ::testing::Test {
protected:
    void add(const std::string& token, Nanos timeout = {}, const std::string& space = "default") {
        auto delivery = event::Delivery{};
        delivery.key = "key of " + token;
        delivery.token = token;
        delivery.target = "resize";
        delivery.payload = Value{token};
        delivery.timeout = timeout;
        delivery.space = space;
        delivery.run = "r";
        auto sink = Sink{{std::shared_ptr<Queues>{}, &queues}, function};
        sink.deliver(std::move(delivery), [this, token](Answer answer) {
            answers.push_back(token + ": " + answer.error_kind);
        });
    }

    std::function<void()> ask(std::size_t most = 1, Nanos wait = {},
                              const std::string& space = "default") {
        return queues.ask({.space = space, .function = "resize", .most = most, .wait = wait},
                          [this](std::vector<Task> tasks) { given.push_back(std::move(tasks)); });
    }

    std::vector<std::string> tokens_given() {
        auto tokens = std::vector<std::string>{};
        for (const auto& task : given.back()) {
            tokens.push_back(task.token);
        }
        return tokens;
    }

    void pass(Nanos time) {
        clock.now += time;
        scheduler.advance(time);
    }

    Function function{.lease = seconds{30}, .offers_max = 2};
    ManualClock clock;
    reactor::testing::ManualScheduler scheduler;
    std::vector<std::string> answers;
    std::vector<std::vector<Task>> given;
    Queues queues{clock, scheduler};
};

TEST_F(PollQueues, GivesTheOldestTasksFirst) {
    add("a");
    add("b");
    add("c");

    ask(2);
    EXPECT_THAT(tokens_given(), ElementsAre("a", "b"));
    ask(2);
    EXPECT_THAT(tokens_given(), ElementsAre("c"));
    ask(2);

    EXPECT_THAT(tokens_given(), IsEmpty());
    EXPECT_EQ(given[0][0].key, "key of a");
    EXPECT_EQ(given[0][0].input, Value{"a"});
    EXPECT_EQ(given[0][0].offer, 1U);
    EXPECT_EQ(given[0][0].lease_time, seconds{30});
}

TEST_F(PollQueues, WhoWaitsGetsTheNextAndWhoCameFirstIsFirst) {
    ask(5, seconds{10});
    ask(5, seconds{10});
    EXPECT_TRUE(given.empty());

    add("a");
    EXPECT_THAT(tokens_given(), ElementsAre("a"));
    pass(seconds{10});

    ASSERT_EQ(given.size(), 2U);
    EXPECT_THAT(tokens_given(), IsEmpty());
}

TEST_F(PollQueues, WhoWithdrawsGetsNothing) {
    auto withdraw = ask(1, seconds{10});
    withdraw();
    withdraw();
    ASSERT_EQ(given.size(), 1U);
    EXPECT_TRUE(scheduler.is_idle());

    add("a");
    EXPECT_EQ(given.size(), 1U);
    EXPECT_FALSE(ask());

    EXPECT_THAT(tokens_given(), ElementsAre("a"));
}

TEST_F(PollQueues, ANamespaceGetsItsOwn) {
    add("a", {}, "team");

    ask();
    EXPECT_THAT(tokens_given(), IsEmpty());
    ask(1, {}, "team");

    EXPECT_THAT(tokens_given(), ElementsAre("a"));
}

TEST_F(PollQueues, ATaskWhoseWorkerFallsSilentIsOfferedAgainAndThenFails) {
    add("a");
    ask();
    pass(seconds{29});
    ask();
    EXPECT_THAT(tokens_given(), IsEmpty());

    pass(seconds{1});
    ask();
    EXPECT_THAT(tokens_given(), ElementsAre("a"));
    EXPECT_EQ(given.back()[0].offer, 2U);
    EXPECT_EQ(given.back()[0].key, given[0][0].key);
    EXPECT_NE(given.back()[0].lease, given[0][0].lease);
    EXPECT_TRUE(answers.empty());
    pass(seconds{30});

    EXPECT_THAT(answers, ElementsAre("a: heartbeat"));
}

TEST_F(PollQueues, AHeartbeatHoldsTheLease) {
    add("a");
    ask();
    auto lease = given[0][0].lease;

    for (auto beat = 0; beat < 10; ++beat) {
        pass(seconds{20});
        EXPECT_TRUE(queues.heartbeat("a", beat % 2 == 0 ? lease : 0));
    }
    EXPECT_FALSE(queues.heartbeat("b", 0));
    EXPECT_TRUE(answers.empty());
    ask();

    EXPECT_THAT(tokens_given(), IsEmpty());
}

TEST_F(PollQueues, AWorkerHearsThatAnotherHasItsTask) {
    add("a");
    ask();
    pass(seconds{30});
    ask();

    EXPECT_FALSE(queues.heartbeat("a", given[0][0].lease));
    EXPECT_TRUE(queues.heartbeat("a", given[1][0].lease));
}

TEST_F(PollQueues, AWorkerThatIsHeardOfAgainKeepsATaskThatNobodyHas) {
    add("a");

    EXPECT_TRUE(queues.heartbeat("a", 77)); // As after a restart: the lease was another process's.
    ask();
    EXPECT_THAT(tokens_given(), IsEmpty());
    EXPECT_TRUE(queues.heartbeat("a", 77));
    EXPECT_FALSE(queues.heartbeat("a", 78));
    pass(seconds{30});
    ask();

    EXPECT_THAT(tokens_given(), ElementsAre("a"));
}

TEST_F(PollQueues, TheTimeoutCountsWaitingToo) {
    add("a", seconds{40});
    add("b", seconds{40});
    pass(seconds{15});
    ask();
    EXPECT_EQ(given[0][0].time_left, seconds{25});
    pass(seconds{25});

    EXPECT_THAT(answers, ElementsAre("a: timeout", "b: timeout"));
    ask();
    EXPECT_THAT(tokens_given(), IsEmpty());
    EXPECT_TRUE(scheduler.is_idle());
}

TEST_F(PollQueues, CancelTakesATaskOutWhereverItIs) {
    add("a");
    add("b");
    ask();

    queues.cancel("a");
    queues.cancel("b");
    queues.cancel("b");

    EXPECT_THAT(answers, ElementsAre("a: cancelled", "b: cancelled"));
    EXPECT_FALSE(queues.heartbeat("a", 0));
    EXPECT_TRUE(scheduler.is_idle());
}

TEST_F(PollQueues, ARemovedFunctionFailsWhatNobodyHas) {
    add("a");
    add("b");
    ask();

    queues.drop("default", "resize");

    EXPECT_THAT(answers, ElementsAre("b: unknown_function"));
    EXPECT_TRUE(queues.heartbeat("a", 0));
}

TEST_F(PollQueues, EndsWaitingWithoutTouchingTasksAndThenAll) {
    ask(1, seconds{10});
    queues.end_asking();
    EXPECT_THAT(tokens_given(), IsEmpty());
    add("a");
    add("b");
    ask(1, seconds{10});
    EXPECT_THAT(tokens_given(), ElementsAre("a"));
    EXPECT_TRUE(answers.empty());

    queues.stop();

    EXPECT_THAT(answers, ElementsAre("a: cancelled", "b: cancelled"));
    add("c");
    EXPECT_EQ(answers.back(), "c: cancelled");
    ask(1, seconds{10});
    EXPECT_THAT(tokens_given(), IsEmpty());
}

} // namespace
} // namespace sluice::connector::poll
