#include "engine/internal/shard_clock.h"

#include <gtest/gtest.h>

namespace sluice::engine {
namespace {

using namespace std::chrono_literals;

/// A machine's clocks, set by hand.
class SetClock final : public Clock {
public:
    Time wall() const override { return wall_; }
    Nanos steady() const override { return steady_; }

    void pass(Nanos by) { pass(by, by); }
    void pass(Nanos wall, Nanos steady) {
        wall_ += wall;
        steady_ += steady;
    }
    void set_wall(Nanos by) { wall_ += by; }
    void boot() { steady_ = 5s; }

private:
    Time wall_{1'000'000h};
    Nanos steady_{77s};
};

class ShardClockTest : public ::testing::Test {
protected:
    void SetUp() override {
        shard_.start({});
        begin_ = shard_.now();
    }

    Nanos civil() { return shard_.now().time - begin_.time; }
    Nanos steady() { return shard_.now().steady - begin_.steady; }
    /// How far civil time is behind the wall clock.
    Nanos behind() { return clock_.wall() - shard_.now().time; }

    void pass(Nanos by, Nanos step = 1s) {
        for (auto left = by; left > 0s; left -= step) {
            clock_.pass(step);
            shard_.now();
        }
    }

    void restart(Nanos after) {
        auto mark = shard_.mark();
        clock_.pass(after);
        clock_.boot();
        next_.start(mark);
    }

    SetClock clock_;
    ShardClock shard_{clock_};
    ShardClock next_{clock_};
    trigger::Moment begin_;
};

TEST_F(ShardClockTest, FollowsTheClocks) {
    pass(1h);

    EXPECT_EQ(civil(), 1h);
    EXPECT_EQ(steady(), 1h);
}

TEST_F(ShardClockTest, AWallClockSetTenSecondsAheadIsCaughtUpWithSlowly) {
    clock_.set_wall(10s);
    EXPECT_EQ(civil(), 0s);

    pass(50s);
    EXPECT_EQ(civil(), 55s);
    EXPECT_EQ(steady(), 55s);

    pass(50s);
    EXPECT_EQ(behind(), 0s);
    EXPECT_EQ(steady(), 110s);

    pass(50s);
    EXPECT_EQ(civil(), 160s);
    EXPECT_EQ(steady(), 160s);
}

TEST_F(ShardClockTest, AWallClockSetTwoHoursAheadMovesCivilTimeOnly) {
    clock_.set_wall(2h);
    pass(1s);

    EXPECT_EQ(civil(), 2h + 1s);
    EXPECT_EQ(steady(), 1s);

    pass(1h);
    EXPECT_EQ(civil(), 3h + 1s);
    EXPECT_EQ(steady(), 1h + 1s);
}

TEST_F(ShardClockTest, AWallClockSetTwoHoursBackNeitherTurnsTimeBackNorStopsIt) {
    clock_.set_wall(-2h);
    EXPECT_EQ(civil(), 0s);

    pass(10h, 1min);
    EXPECT_EQ(civil(), 9h);
    EXPECT_EQ(behind(), -1h);
    EXPECT_EQ(steady(), 10h);

    pass(10h, 1min);
    EXPECT_EQ(behind(), 0s);
    pass(1h, 1min);
    EXPECT_EQ(civil(), 19h);
    EXPECT_EQ(steady(), 21h);
}

TEST_F(ShardClockTest, AWallClockSetTenSecondsBackIsWaitedForSlowly) {
    clock_.set_wall(-10s);

    pass(50s);
    EXPECT_EQ(civil(), 45s);
    EXPECT_EQ(steady(), 45s);
    pass(50s);
    EXPECT_EQ(behind(), 0s);
}

TEST_F(ShardClockTest, ADriftOfTheMonotonicClockIsFollowed) {
    for (auto second = 0; second < 86'400; ++second) {
        clock_.pass(1s, 1s + 100us);
        shard_.now();
    }

    EXPECT_LE(behind(), 1ms);
    EXPECT_GE(behind(), -1ms);
    EXPECT_LE(steady(), 24h + 1ms);
    EXPECT_GE(steady(), 24h - 1ms);
}

TEST_F(ShardClockTest, NeverGoesBackWhateverTheWallClockShows) {
    auto last = shard_.now();
    for (auto by : {-1s, 50s, -59s, 61s, -7200s, 7200s, 3s, -3s, -100s}) {
        clock_.set_wall(by);
        for (auto step = 0; step < 10; ++step) {
            clock_.pass(Nanos{step});
            auto now = shard_.now();
            EXPECT_GE(now.time, last.time);
            EXPECT_GE(now.steady, last.steady);
            last = now;
        }
    }
}

TEST_F(ShardClockTest, ARestartAddsTheWallTimeThatPassed) {
    pass(1h);
    restart(30min);

    EXPECT_EQ(next_.now().time - begin_.time, 90min);
    EXPECT_EQ(next_.now().steady - begin_.steady, 90min);
}

TEST_F(ShardClockTest, ARestartKeepsWhatSettingTheWallClockLeft) {
    clock_.set_wall(-2h);
    pass(10h, 1min);
    restart(30min);

    auto now = next_.now();
    EXPECT_EQ(now.time - begin_.time, 9h + 30min);
    EXPECT_EQ(now.steady - begin_.steady, 10h + 30min);

    clock_.pass(1h);
    EXPECT_EQ(next_.now().time - now.time, 54min);
    EXPECT_EQ(next_.now().steady - now.steady, 1h);
}

TEST_F(ShardClockTest, ARestartAfterAJumpAheadKeepsSteadyTimeOutOfIt) {
    clock_.set_wall(2h);
    pass(1s);
    restart(1min);

    EXPECT_EQ(next_.now().time - begin_.time, 2h + 1min + 1s);
    EXPECT_EQ(next_.now().steady - begin_.steady, 1min + 1s);
}

TEST_F(ShardClockTest, AWallClockSetBackDuringARestartTurnsNothingBack) {
    pass(1h);
    auto mark = shard_.mark();
    clock_.set_wall(-2h);
    next_.start(mark);

    EXPECT_EQ(next_.now().time, mark.civil);
    EXPECT_EQ(next_.now().steady, mark.steady);
}

} // namespace
} // namespace sluice::engine
