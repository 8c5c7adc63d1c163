#include "cluster/ordered_sender.h"

#include <vector>

#include <gtest/gtest.h>

#include "reactor/virtual_time.h"

namespace sluice::cluster {
namespace {

/// Keeps what it was given until it is told what becomes of it.
class HeldProducer final : public event::Producer {
public:
    void send(event::Outgoing event, Done done) override {
        sent.push_back(event.json);
        waiting.push_back(std::move(done));
    }
    Result<void> flush(Nanos /*wait*/) override { return {}; }

    void answer(const Result<void>& result) {
        for (auto& done : std::exchange(waiting, {})) {
            done(result);
        }
    }

    std::vector<std::string> sent;
    std::vector<Done> waiting;
};

class OrderedSenderTest : public ::testing::Test {
protected:
    void send(const std::string& text, const std::string& to = "p") {
        sender_->send({.to = to, .key = {}, .json = text});
    }

    void pass(Nanos by) {
        time_.advance(by);
        while (time_.step()) {
        }
    }

    HeldProducer producer_;
    reactor::VirtualTime time_{Time{}};
    std::shared_ptr<OrderedSender> sender_ = std::make_shared<OrderedSender>(producer_, time_);
};

TEST_F(OrderedSenderTest, SendsAtOnceAndForgetsWhatArrived) {
    send("1");
    send("2");
    EXPECT_EQ(producer_.sent, (std::vector<std::string>{"1", "2"}));
    producer_.answer({});
    pass(std::chrono::seconds{5});
    EXPECT_EQ(producer_.sent.size(), 2U);
}

TEST_F(OrderedSenderTest, SendsAgainInOrderWhatFailedAndAllBehindIt) {
    send("1");
    send("2");
    auto first = std::move(producer_.waiting.front());
    producer_.waiting.erase(producer_.waiting.begin());
    first(fail(Errc::Unavailable, "away"));
    send("3"); // Waits: it must not overtake.
    producer_.answer({});
    EXPECT_EQ(producer_.sent, (std::vector<std::string>{"1", "2"}));

    pass(std::chrono::seconds{1});
    EXPECT_EQ(producer_.sent, (std::vector<std::string>{"1", "2", "1", "2", "3"}));
    producer_.answer({});
    pass(std::chrono::seconds{5});
    EXPECT_EQ(producer_.sent.size(), 5U);
}

// A broker that comes back may lose one that was sent to it too early, and confirm the next.
TEST_F(OrderedSenderTest, SendsAgainWhatOvertookOneThatFailed) {
    send("1");
    send("2");
    send("3");
    auto first = std::move(producer_.waiting.front());
    producer_.waiting.erase(producer_.waiting.begin());
    producer_.answer({});
    first(fail(Errc::Unavailable, "not confirmed"));

    pass(std::chrono::seconds{1});
    EXPECT_EQ(producer_.sent, (std::vector<std::string>{"1", "2", "3", "1", "2", "3"}));
    producer_.answer({});
    pass(std::chrono::seconds{5});
    EXPECT_EQ(producer_.sent.size(), 6U);
}

TEST_F(OrderedSenderTest, DoesNotLetOneDestinationWaitForAnother) {
    send("1", "left");
    producer_.answer(fail(Errc::Unavailable, "away"));
    send("2", "right");
    EXPECT_EQ(producer_.sent, (std::vector<std::string>{"1", "2"}));
}

} // namespace
} // namespace sluice::cluster
