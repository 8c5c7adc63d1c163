#include "reactor/mailbox.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::reactor {
namespace {

constexpr auto long_ago = std::chrono::steady_clock::time_point::min();
constexpr auto asleep_at_once = MailboxOptions{.spin_max = Nanos{0}};

TEST(Mailbox, GivesOutEverythingThatArrivedInOrder) {
    auto mailbox = Mailbox<int>{};
    mailbox.push(1);
    mailbox.push(2);

    auto items = std::vector<int>{9};
    EXPECT_TRUE(mailbox.pop_all(items));

    EXPECT_EQ(items, (std::vector<int>{1, 2}));
    EXPECT_FALSE(mailbox.pop_all(items));
    EXPECT_TRUE(items.empty());
}

TEST(Mailbox, RefusesWhatIsOverTheBoundAndLeavesItWithTheCaller) {
    auto mailbox = Mailbox<std::unique_ptr<int>>{{.items_max = 1}};
    ASSERT_TRUE(mailbox.try_push(std::make_unique<int>(1)));

    auto refused = std::make_unique<int>(2);
    EXPECT_FALSE(mailbox.try_push(std::move(refused)));
    EXPECT_TRUE(mailbox.push_unbounded(std::make_unique<int>(3)));

    EXPECT_EQ(*refused, 2);
    auto items = std::vector<std::unique_ptr<int>>{};
    mailbox.pop_all(items);
    EXPECT_EQ(items.size(), 2U);
}

TEST(Mailbox, TellsADeadlineFromMailAndFromTheEnd) {
    auto mailbox = Mailbox<int>{};
    EXPECT_EQ(mailbox.wait(long_ago), Wake::Deadline);
    EXPECT_EQ(mailbox.wait(std::chrono::steady_clock::now() + std::chrono::milliseconds{1}),
              Wake::Deadline);

    mailbox.push(1);
    EXPECT_EQ(mailbox.wait(long_ago), Wake::Mail);
    mailbox.close();
    EXPECT_EQ(mailbox.wait(), Wake::Mail);

    auto items = std::vector<int>{};
    EXPECT_TRUE(mailbox.pop_all(items));
    EXPECT_EQ(mailbox.wait(), Wake::Closed);
}

TEST(Mailbox, AcceptsNothingOnceClosed) {
    auto mailbox = Mailbox<int>{};

    mailbox.close();
    mailbox.close();

    EXPECT_FALSE(mailbox.push(1));
    EXPECT_FALSE(mailbox.try_push(1));
    EXPECT_FALSE(mailbox.push_unbounded(1));
}

TEST(Mailbox, ClosingFreesAProducerThatWaitsForRoom) {
    auto mailbox = Mailbox<int>{{.items_max = 0}};
    auto accepted = true;
    auto producer = std::jthread{[&] { accepted = mailbox.push(1); }};

    mailbox.close();
    producer.join();

    EXPECT_FALSE(accepted);
}

/// Sends numbers from several threads through a mailbox; true when each sender's arrive once and in
/// order.
bool passes_all(MailboxOptions options, std::uint32_t senders, std::uint32_t count) {
    auto mailbox = Mailbox<std::pair<std::uint32_t, std::uint32_t>>{options};
    auto threads = std::vector<std::jthread>{};
    for (auto sender = 0U; sender < senders; sender++) {
        threads.emplace_back([&mailbox, sender, count] {
            for (auto number = 0U; number < count; number++) {
                mailbox.push({sender, number});
            }
        });
    }

    auto next = std::vector<std::uint32_t>(senders, 0);
    auto batch = std::vector<std::pair<std::uint32_t, std::uint32_t>>{};
    for (auto left = senders * count; left > 0; left -= batch.size()) {
        mailbox.wait();
        mailbox.pop_all(batch);
        for (auto [sender, number] : batch) {
            if (number != next[sender]++) {
                return false;
            }
        }
    }
    return true;
}

TEST(Mailbox, KeepsEachSendersOrderWhenTheReceiverSleepsAtOnce) {
    EXPECT_TRUE(passes_all(asleep_at_once, 4, 5'000));
}

RC_GTEST_PROP(Mailbox, KeepsEachSendersOrderUnderAnyBound, ()) {
    auto items_max = *rc::gen::inRange<std::size_t>(1, 50);
    auto spin_max = Nanos{*rc::gen::inRange(0, 30'000)};
    auto senders = *rc::gen::inRange(1U, 4U);
    RC_ASSERT(passes_all({.items_max = items_max, .spin_max = spin_max}, senders, 100));
}

} // namespace
} // namespace sluice::reactor
