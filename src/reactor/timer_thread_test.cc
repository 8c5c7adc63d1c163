#include "reactor/timer_thread.h"

#include <chrono>
#include <future>
#include <vector>

#include <gtest/gtest.h>

#include "reactor/testing/manual_scheduler.h"

namespace sluice::reactor {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(TimerThread, RunsTasksByTheirDueTime) {
    auto order = std::vector<int>{};
    auto last = std::promise<void>{};
    auto timers = TimerThread{};

    timers.after(milliseconds{20}, [&] {
        order.push_back(2);
        last.set_value();
    });
    timers.after(milliseconds{1}, [&] { order.push_back(1); });
    last.get_future().wait();

    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(TimerThread, NeverRunsWhatWasCancelled) {
    auto has_run = false;
    auto timers = TimerThread{};
    auto id = timers.after(hours{1}, [&] { has_run = true; });

    EXPECT_TRUE(timers.cancel(id));
    EXPECT_FALSE(timers.cancel(id));

    EXPECT_FALSE(has_run);
}

TEST(TimerThread, AcceptsTheLongestDelayAndDropsItAtTheEnd) {
    auto has_run = false;
    {
        auto timers = TimerThread{};
        timers.after(Nanos::max(), [&] { has_run = true; });
        auto soon = std::promise<void>{};
        timers.after(Nanos{0}, [&] { soon.set_value(); });
        soon.get_future().wait();
    }
    EXPECT_FALSE(has_run);
}

TEST(TimerThread, ATaskMaySetTheNext) {
    auto done = std::promise<void>{};
    auto timers = TimerThread{};

    timers.after(Nanos{0}, [&] { timers.after(Nanos{0}, [&] { done.set_value(); }); });

    done.get_future().wait();
}

TEST(ManualScheduler, RunsWhatIsDueAndNothingElse) {
    auto order = std::vector<int>{};
    auto scheduler = testing::ManualScheduler{};
    scheduler.after(seconds{2}, [&] { order.push_back(2); });
    scheduler.after(seconds{1}, [&] { order.push_back(1); });
    auto third = scheduler.after(seconds{3}, [&] { order.push_back(3); });

    scheduler.advance(seconds{2});
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    EXPECT_TRUE(scheduler.cancel(third));
    scheduler.advance(seconds{9});

    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    EXPECT_TRUE(scheduler.is_idle());
}

} // namespace
} // namespace sluice::reactor
