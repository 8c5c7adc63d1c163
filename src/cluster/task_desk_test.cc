#include "cluster/task_desk.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/carried_task.h"
#include "connector/poll/queues.h"
#include "reactor/testing/manual_scheduler.h"

namespace sluice::cluster {
namespace {

using connector::poll::Desk;
using connector::poll::Question;
using connector::poll::Queues;
using connector::poll::Task;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ManualClock final : public Clock {
public:
    Time wall() const override { return Time{now}; }
    Nanos steady() const override { return now; }

    Nanos now = std::chrono::hours{1};
};

/// Two processes that have tasks, `a` and `b`, and a desk at the first.
class TaskDeskTest : public ::testing::Test {
protected:
    void SetUp() override { desk.set_peers({"b"}); }

    void add(Queues& queues, const std::string& token) {
        auto delivery = event::Delivery{};
        delivery.token = token;
        delivery.target = "resize";
        delivery.space = "default";
        delivery.payload = Value{token};
        auto sink = connector::poll::Sink{{std::shared_ptr<Queues>{}, &queues},
                                          {.lease = seconds{30}, .offers_max = 2}};
        sink.deliver(std::move(delivery), [](const event::Answer&) {});
    }

    std::function<void()> ask(std::size_t most = 1, Nanos wait = seconds{10}) {
        return desk.ask({.space = "default", .function = "resize", .most = most, .wait = wait},
                        [this](const std::vector<Task>& tasks) {
                            auto& tokens = given.emplace_back();
                            for (const auto& task : tasks) {
                                tokens.push_back(task.token);
                            }
                        });
    }

    void pass(Nanos time) {
        clock.now += time;
        timers.advance(time);
    }

    /// As another process would be asked, by bytes; cut off, it answers when it is heard again.
    std::function<void()> ask_peer(const std::string& address, const Question& question,
                                   PeerTasks done) {
        ++questions;
        auto carried = decode_question(encode_question(question));
        if (address != "b" || is_away || !carried) {
            done(fail(Errc::Unavailable, "nobody is there"));
            return {};
        }
        return b.ask(*carried, [this, done = std::move(done)](const auto& tasks) mutable {
            auto answer = [done = std::move(done), bytes = encode_tasks(tasks)]() mutable {
                done(decode_tasks(bytes));
            };
            if (is_slow) {
                under_way.emplace_back(std::move(answer));
            } else {
                answer();
            }
        });
    }

    ManualClock clock;
    reactor::testing::ManualScheduler timers;
    Queues a{clock, timers};
    Queues b{clock, timers};
    bool is_away = false;
    bool is_slow = false;
    std::size_t questions = 0;
    std::vector<std::move_only_function<void()>> under_way;
    std::vector<std::vector<std::string>> given;
    TaskDesk desk{a,
                  [this](const std::string& address, const Question& question, PeerTasks done) {
                      return ask_peer(address, question, std::move(done));
                  },
                  timers};
};

TEST_F(TaskDeskTest, GivesATaskThatAnotherProcessHas) {
    add(b, "t1");

    ask();

    EXPECT_THAT(given, ElementsAre(ElementsAre("t1")));
}

TEST_F(TaskDeskTest, WaitsForATaskOfEitherProcess) {
    ask();
    ask();
    EXPECT_THAT(given, IsEmpty());

    add(b, "t1");
    add(a, "t2");

    EXPECT_THAT(given, ElementsAre(ElementsAre("t1"), ElementsAre("t2")));
}

TEST_F(TaskDeskTest, TakesAsManyAsAreWantedAndNoMore) {
    for (const auto* token : {"t1", "t2", "t3", "t4"}) {
        add(b, token);
    }

    ask(3);

    EXPECT_THAT(given, ElementsAre(ElementsAre("t1", "t2", "t3")));
    ask(3);
    EXPECT_THAT(given.back(), ElementsAre("t4"));
}

TEST_F(TaskDeskTest, TakesNoMoreThanAreWantedWhereSeveralHaveSome) {
    is_slow = true;
    add(b, "t1");
    add(b, "t2");
    ask();
    add(a, "t3");
    while (!under_way.empty()) {
        for (auto& answer : std::exchange(under_way, {})) {
            answer();
        }
    }

    ASSERT_EQ(given.size(), 1U);
    EXPECT_THAT(given[0], ElementsAre("t3"));
    is_slow = false;
    ask(5);
    EXPECT_THAT(given.back(), ElementsAre("t1", "t2"));
}

TEST_F(TaskDeskTest, GoesWithoutWhenItsTimeIsOver) {
    ask(1, seconds{1});

    pass(seconds{1});

    EXPECT_THAT(given, ElementsAre(IsEmpty()));
    add(b, "t1");
    EXPECT_EQ(given.size(), 1U); // Nobody listens any more, so nobody takes it.
    ask();
    EXPECT_THAT(given.back(), ElementsAre("t1"));
}

TEST_F(TaskDeskTest, OneThatDoesNotWantToWaitGetsWhatIsThere) {
    add(b, "t1");
    ask(1, Nanos{0});
    EXPECT_THAT(given, ElementsAre(ElementsAre("t1")));

    ask(1, Nanos{0});
    pass(milliseconds{250});

    EXPECT_THAT(given.back(), IsEmpty());
}

TEST_F(TaskDeskTest, ATaskOnItsWayIsWaitedForThoughTheTimeIsOver) {
    is_slow = true;
    add(b, "t1");
    ask(1, seconds{1});
    auto told = std::move(under_way);
    under_way.clear();
    for (auto& answer : told) {
        answer();
    }

    pass(seconds{1});
    EXPECT_THAT(given, IsEmpty());
    for (auto& answer : under_way) {
        answer();
    }

    EXPECT_THAT(given, ElementsAre(ElementsAre("t1")));
}

TEST_F(TaskDeskTest, WhoIsGoneIsGivenNothing) {
    auto withdraw = ask();
    withdraw();
    EXPECT_THAT(given, ElementsAre(IsEmpty()));

    add(b, "t1");
    ask();

    EXPECT_THAT(given.back(), ElementsAre("t1"));
}

TEST_F(TaskDeskTest, AProcessThatCannotBeReachedIsAskedNowAndThen) {
    is_away = true;
    ask();
    auto before = questions;
    pass(milliseconds{400});
    EXPECT_EQ(questions, before);
    is_away = false;
    add(b, "t1");

    pass(milliseconds{200});

    EXPECT_THAT(given, ElementsAre(ElementsAre("t1")));
}

TEST_F(TaskDeskTest, ProcessesThatComeAreAskedAndThoseThatGoAreNot) {
    desk.set_peers({});
    add(b, "t1");
    ask();
    EXPECT_THAT(given, IsEmpty());

    desk.set_peers({"b"});

    EXPECT_THAT(given, ElementsAre(ElementsAre("t1")));
    desk.set_peers({});
    ask();
    add(b, "t2");
    EXPECT_EQ(given.size(), 1U);
    add(a, "t3");
    EXPECT_THAT(given.back(), ElementsAre("t3"));
}

TEST_F(TaskDeskTest, WhenItEndsWhoeverWaitsGoesWithout) {
    ask();

    desk.end_asking();

    EXPECT_THAT(given, ElementsAre(IsEmpty()));
    ask();
    EXPECT_EQ(given.size(), 2U);
}

TEST_F(TaskDeskTest, TwoDesksShareWhatIsThere) {
    auto others = std::vector<std::string>{};
    auto other = TaskDesk{b,
                          [this](const std::string&, const Question& question, PeerTasks done) {
                              return a.ask(question, [done = std::move(done)](auto tasks) mutable {
                                  done(std::move(tasks));
                              });
                          },
                          timers};
    other.set_peers({"a"});
    ask();
    other.ask({.space = "default", .function = "resize", .most = 1, .wait = seconds{10}},
              [&](const std::vector<Task>& tasks) {
                  for (const auto& task : tasks) {
                      others.push_back(task.token);
                  }
              });

    add(a, "t1");
    add(a, "t2");

    ASSERT_EQ(given.size(), 1U);
    ASSERT_EQ(others.size(), 1U);
    EXPECT_THAT((std::vector{given[0].at(0), others[0]}), UnorderedElementsAre("t1", "t2"));
}

TEST(CarriedTask, KeepsWhatATaskSays) {
    auto task = Task{.token = "k",
                     .function = "resize",
                     .run = "r",
                     .key = "r/1/0",
                     .input = Value::object({{"width", 10}}),
                     .attempt = 2,
                     .offer = 3,
                     .lease = 4,
                     .lease_time = seconds{30},
                     .time_left = seconds{5},
                     .trace = "00-1-2-01"};

    auto tasks = decode_tasks(encode_tasks({task}));

    ASSERT_TRUE(tasks) << tasks.error().message;
    ASSERT_EQ(tasks->size(), 1U);
    const auto& read = tasks->front();
    EXPECT_EQ(read.token, "k");
    EXPECT_EQ(read.key, "r/1/0");
    EXPECT_EQ(read.input, task.input);
    EXPECT_EQ(read.attempt, 2U);
    EXPECT_EQ(read.offer, 3U);
    EXPECT_EQ(read.lease, 4U);
    EXPECT_EQ(read.lease_time, Nanos{seconds{30}});
    EXPECT_EQ(read.time_left, Nanos{seconds{5}});
    EXPECT_EQ(read.trace, "00-1-2-01");
}

TEST(CarriedTask, RefusesBytesThatAreNone) {
    auto whole = encode_tasks({Task{.token = "k"}});
    for (auto size = std::size_t{0}; size < whole.size(); ++size) {
        EXPECT_FALSE(decode_tasks(std::string_view{whole}.substr(0, size)));
    }
    EXPECT_FALSE(decode_question("\x02"));
}

} // namespace
} // namespace sluice::cluster
