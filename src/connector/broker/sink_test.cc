#include "connector/broker/sink.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reactor/testing/manual_scheduler.h"

namespace sluice::connector::broker {
namespace {

using event::Answer;
using std::chrono::seconds;

constexpr auto wait_max = seconds{20};

/// What a broker was sent, which answers when the test says so; and the answers that calls got.
class Broker {
public:
    void add(event::Outgoing event, event::Producer::Done done) {
        change([&] {
            sent_.push_back(event);
            open_.push_back(std::move(done));
        });
    }

    void answer(Answer answer) {
        change([&] { answers_.push_back(std::move(answer)); });
    }

    void confirm(std::size_t count, const Result<void>& how = {}) {
        for (; count > 0; --count) {
            auto lock = std::unique_lock{mutex_};
            ASSERT_FALSE(open_.empty());
            auto done = std::move(open_.front());
            open_.pop_front();
            lock.unlock();
            done(how);
        }
    }

    /// What the next openings fail with, once for each.
    void fail_opening(Error error) {
        change([&] { opening_errors_.push_back(std::move(error)); });
    }

    std::optional<Error> opening_error() {
        auto lock = std::lock_guard{mutex_};
        ++openings_;
        if (opening_errors_.empty()) {
            return std::nullopt;
        }
        auto error = opening_errors_.front();
        opening_errors_.pop_front();
        return error;
    }

    /// The events, once there are so many.
    std::vector<event::Outgoing> sent(std::size_t count) {
        auto lock = std::unique_lock{mutex_};
        EXPECT_TRUE(changed_.wait_for(lock, wait_max, [&] { return sent_.size() >= count; }))
            << sent_.size();
        return sent_;
    }

    std::vector<Answer> answers(std::size_t count) {
        auto lock = std::unique_lock{mutex_};
        EXPECT_TRUE(changed_.wait_for(lock, wait_max, [&] { return answers_.size() >= count; }))
            << answers_.size();
        return answers_;
    }

    int openings() {
        auto lock = std::lock_guard{mutex_};
        return openings_;
    }

private:
    void change(const auto& how) {
        {
            auto lock = std::lock_guard{mutex_};
            how();
        }
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<event::Outgoing> sent_;
    std::deque<event::Producer::Done> open_;
    std::deque<Error> opening_errors_;
    std::vector<Answer> answers_;
    int openings_ = 0;
};

class FakeProducer final : public event::Producer {
public:
    explicit FakeProducer(Broker& broker) : broker_(broker) {}

    void send(event::Outgoing event, Done done) override {
        broker_.add(std::move(event), std::move(done));
    }
    Result<void> flush(Nanos /*wait*/) override { return {}; }

private:
    Broker& broker_;
};

class BrokerSinkTest : public ::testing::Test {
protected:
    std::shared_ptr<event::Sink> make() {
        return senders_.make(
            {.to = "orders", .open = [this]() -> Result<std::unique_ptr<event::Producer>> {
                 if (auto error = broker_.opening_error()) {
                     return std::unexpected(*error);
                 }
                 return std::make_unique<FakeProducer>(broker_);
             }});
    }

    void call(event::Sink& sink, int number, Value input = Value::object({{"type", "done"}}),
              Nanos timeout = Nanos{0}) {
        sink.deliver({.key = fmt::format("r/{}/0", number),
                      .token = fmt::format("t{}", number),
                      .target = "out",
                      .payload = std::move(input),
                      .timeout = timeout,
                      .space = "default",
                      .run = "r"},
                     [this](Answer answer) { broker_.answer(std::move(answer)); });
    }

    Broker broker_;
    reactor::testing::ManualScheduler timers_;
    Senders senders_{timers_};
};

TEST_F(BrokerSinkTest, ACallSucceedsWhenItsEventIsConfirmed) {
    auto sink = make();
    call(*sink, 1);

    auto sent = broker_.sent(1);
    EXPECT_TRUE(broker_.answers(0).empty());
    broker_.confirm(1);

    EXPECT_EQ(sent[0].to, "orders");
    EXPECT_EQ(sent[0].key, "r/1/0");
    EXPECT_TRUE(broker_.answers(1)[0].is_success);
}

TEST_F(BrokerSinkTest, ManyCallsGoTogetherAndInOrder) {
    constexpr auto count = 1000;
    auto sink = make();
    for (auto number = 0; number < count; ++number) {
        call(*sink, number);
    }

    auto sent = broker_.sent(count);
    broker_.confirm(count);

    EXPECT_EQ(broker_.openings(), 1);
    for (auto number = 0; number < count; ++number) {
        EXPECT_EQ(sent[static_cast<std::size_t>(number)].key, fmt::format("r/{}/0", number));
    }
    EXPECT_EQ(broker_.answers(count).size(), std::size_t{count});
}

TEST_F(BrokerSinkTest, ProducersGetNoMoreThanTheyTakeAtOnce) {
    auto sink = make();
    for (auto number = 0; number < 3000; ++number) {
        call(*sink, number);
    }

    EXPECT_EQ(broker_.sent(2048).size(), 2048U);
    broker_.confirm(2048);
    EXPECT_EQ(broker_.sent(3000).size(), 3000U);
    broker_.confirm(952);

    EXPECT_EQ(broker_.answers(3000).size(), 3000U);
}

TEST_F(BrokerSinkTest, SaysWhetherTryingAgainMayHelp) {
    auto sink = make();
    for (auto number = 1; number <= 3; ++number) {
        call(*sink, number);
    }
    broker_.sent(3);
    broker_.confirm(1, fail(Errc::Unavailable, "the broker is away"));
    broker_.confirm(1, fail(Errc::NotFound, "no queue takes it"));
    broker_.confirm(1, fail(Errc::LimitExceeded, "too large"));

    auto answers = broker_.answers(3);
    EXPECT_EQ(answers[0].error_kind, "unavailable");
    EXPECT_EQ(answers[0].error_message, "the broker is away");
    EXPECT_EQ(answers[1].error_kind, "refused");
    EXPECT_EQ(answers[2].error_kind, "invalid_input");
}

TEST_F(BrokerSinkTest, WhatIsNoEventIsNotSent) {
    auto sink = make();
    call(*sink, 1, Value{7});

    EXPECT_EQ(broker_.answers(1)[0].error_kind, "invalid_input");
    EXPECT_EQ(broker_.openings(), 0);
}

TEST_F(BrokerSinkTest, ABrokerThatCouldNotBeOpenedIsTriedAgain) {
    auto sink = make();
    broker_.fail_opening({Errc::Unavailable, "no way there"});
    call(*sink, 1);
    EXPECT_EQ(broker_.answers(1)[0].error_kind, "unavailable");

    call(*sink, 1);
    broker_.sent(1);
    broker_.confirm(1);

    EXPECT_TRUE(broker_.answers(2)[1].is_success);
}

TEST_F(BrokerSinkTest, WhoWaitsTooLongIsToldSo) {
    auto sink = make();
    call(*sink, 1, Value::object({{"type", "done"}}), seconds{5});
    broker_.sent(1);

    timers_.advance(seconds{5});

    auto answers = broker_.answers(1);
    EXPECT_EQ(answers[0].error_kind, "timeout");
    broker_.confirm(1);
    EXPECT_EQ(broker_.answers(1).size(), 1U);
}

TEST_F(BrokerSinkTest, ACancelledCallIsAnsweredOnce) {
    auto sink = make();
    call(*sink, 1);
    broker_.sent(1);

    sink->cancel("t1");
    sink->cancel("another");
    broker_.confirm(1);

    auto answers = broker_.answers(1);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].error_kind, "cancelled");
}

TEST_F(BrokerSinkTest, StoppedItAnswersWhatIsUnderWay) {
    auto sink = make();
    call(*sink, 1);
    broker_.sent(1);

    senders_.stop();
    call(*sink, 2);

    auto answers = broker_.answers(2);
    EXPECT_EQ(answers[0].error_kind, "unavailable");
    EXPECT_EQ(answers[1].error_kind, "unavailable");
    EXPECT_EQ(broker_.sent(1).size(), 1U);
}

TEST_F(BrokerSinkTest, AFunctionMayGoWithItsLastAnswer) {
    auto sink = make();
    auto* borrowed = sink.get();
    borrowed->deliver({.key = "r/1/0",
                       .token = "t1",
                       .payload = Value::object({{"type", "done"}}),
                       .space = "default",
                       .run = "r"},
                      [this, kept = std::move(sink)](Answer answer) mutable {
                          kept.reset();
                          broker_.answer(std::move(answer));
                      });
    broker_.sent(1);
    broker_.confirm(1);

    EXPECT_TRUE(broker_.answers(1)[0].is_success);
    call(*make(), 2);
    EXPECT_EQ(broker_.answers(2)[1].error_kind, "unavailable");
}

} // namespace
} // namespace sluice::connector::broker
