#include "connector/nats/internal/wire/silence.h"

#include <gtest/gtest.h>

namespace sluice::connector::nats::internal::wire {

using namespace std::chrono_literals;

TEST(Silence, AsksTwiceBeforeItGivesUp) {
    auto silence = Silence{0s};

    EXPECT_EQ(silence.check(9s), Silence::Verdict::Wait);
    EXPECT_EQ(silence.check(10s), Silence::Verdict::Ping);
    EXPECT_EQ(silence.check(11s), Silence::Verdict::Wait);
    EXPECT_EQ(silence.check(20s), Silence::Verdict::Ping);
    EXPECT_EQ(silence.check(30s), Silence::Verdict::Lost);
}

TEST(Silence, EndsWithWhateverIsHeard) {
    auto silence = Silence{0s};
    EXPECT_EQ(silence.check(10s), Silence::Verdict::Ping);
    EXPECT_EQ(silence.check(20s), Silence::Verdict::Ping);

    silence.hear(29s);

    EXPECT_EQ(silence.check(38s), Silence::Verdict::Wait);
    EXPECT_EQ(silence.check(39s), Silence::Verdict::Ping);
}

TEST(Silence, DoesNotCountWhenNobodyListened) {
    auto silence = Silence{0s};

    EXPECT_EQ(silence.check(500s), Silence::Verdict::Ping);
    EXPECT_EQ(silence.check(501s), Silence::Verdict::Wait);
}

} // namespace sluice::connector::nats::internal::wire
