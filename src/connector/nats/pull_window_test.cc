#include "connector/nats/pull_window.h"

#include <gtest/gtest.h>

namespace sluice::connector::nats {

namespace {

constexpr auto bytes = std::size_t{1} << 20U;

PullWindow window_that_saw(std::size_t message_bytes) {
    auto window = PullWindow{};
    window.set_bytes(bytes);
    for (auto count = 0; count < 200; ++count) {
        window.take(message_bytes);
    }
    return window;
}

} // namespace

TEST(PullWindow, AsksOnceWhileThereIsNothing) {
    auto window = window_that_saw(300);

    EXPECT_TRUE(window.ask(1, 0, false));
    EXPECT_FALSE(window.ask(2, 0, false));
}

TEST(PullWindow, AsksAheadWhileThereIsMore) {
    auto window = window_that_saw(300);

    EXPECT_TRUE(window.ask(1, 0, true));
    EXPECT_TRUE(window.ask(2, 0, true));
    EXPECT_FALSE(window.ask(3, 0, true));
}

TEST(PullWindow, StopsWhileEnoughLiesUnread) {
    auto window = window_that_saw(300);

    EXPECT_FALSE(window.ask(1, bytes / 2 + 1, true));
    EXPECT_TRUE(window.ask(2, bytes / 4, true));
}

TEST(PullWindow, NeverAsksForMoreThanItMayHold) {
    auto window = window_that_saw(300);

    auto first = window.ask(1, 0, true);
    auto second = window.ask(2, 0, true);

    ASSERT_TRUE(first && second);
    EXPECT_LE(first->bytes_max + second->bytes_max, bytes);
    EXPECT_LE((first->messages + second->messages) * 300, bytes);
    EXPECT_GT(first->messages, 500);
}

TEST(PullWindow, AsksAgainWhenTheLastMessageOfARequestHasCome) {
    auto window = window_that_saw(300);
    auto first = window.ask(1, 0, true);
    std::ignore = window.ask(2, 0, true);

    for (auto count = std::uint64_t{0}; count < first->messages; ++count) {
        EXPECT_TRUE(window.has(1));
        window.take(300);
    }

    EXPECT_FALSE(window.has(1));
    EXPECT_TRUE(window.has(2));
    EXPECT_TRUE(window.ask(3, 0, true));
}

TEST(PullWindow, AsksForOneOfAnySizeWhenTheNextIsTooLarge) {
    auto window = window_that_saw(300);
    std::ignore = window.ask(1, 0, false);

    window.end_too_large(1);
    auto large = window.ask(2, 0, false);
    window.take(bytes * 3);
    auto next = window.ask(3, 0, false);

    ASSERT_TRUE(large && next);
    EXPECT_EQ(large->messages, 1);
    EXPECT_EQ(large->bytes_max, 0);
    EXPECT_NE(next->bytes_max, 0);
}

TEST(PullWindow, GoesOnAsBeforeWhenARequestWasFull) {
    auto window = window_that_saw(300);
    std::ignore = window.ask(1, 0, false);
    window.take(300);

    window.end_too_large(1);

    EXPECT_NE(window.ask(2, 0, false)->bytes_max, 0);
}

TEST(PullWindow, KeepsToTheBoundsOfAConsumer) {
    auto window = window_that_saw(300);
    window.set_bounds({.messages_max = 10, .bytes_max = 5000});

    auto asked = window.ask(1, 0, true);

    ASSERT_TRUE(asked);
    EXPECT_LE(asked->messages, 10);
    EXPECT_LE(asked->bytes_max, 5000);
}

} // namespace sluice::connector::nats
