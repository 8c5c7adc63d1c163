#include "engine/dispatcher.h"

#include <gtest/gtest.h>

namespace sluice::engine {
namespace {

/// Answers when it is told to.
class PatientSink final : public event::Sink {
public:
    void deliver(event::Delivery delivery, Done done) override {
        begun.push_back(std::move(delivery.key));
        waiting.push_back(std::move(done));
    }
    void cancel(std::string_view token) override { cancelled.emplace_back(token); }

    std::vector<std::string> begun;
    std::vector<Done> waiting;
    std::vector<std::string> cancelled;
};

TEST(Dispatcher, ForgetsACallThatIsCancelledBeforeItsTurn) {
    auto sink = PatientSink{};
    auto dispatcher = Dispatcher{
        {{"f", {.sink = &sink, .concurrency = 1}}}, 1, Secret{}, [](const AnswerInput&) {}};
    auto calls = std::vector<Call>{};
    for (auto index = std::uint64_t{0}; index < 4; ++index) {
        calls.push_back({.run = {.id = "r"},
                         .key = {.fire = trigger::FireNumber{1}, .index = index},
                         .task = {.target = "f"}});
    }
    auto keys = std::vector{calls[0].key, calls[1].key, calls[2].key, calls[3].key};
    dispatcher.dispatch(std::move(calls));

    dispatcher.cancel({.id = "r"}, keys[1]);
    dispatcher.cancel({.id = "r"}, keys[1]);
    dispatcher.cancel({.id = "other"}, keys[2]);
    EXPECT_EQ(dispatcher.pending(), 3U);
    for (auto at = std::size_t{0}; at < sink.waiting.size(); ++at) {
        std::exchange(sink.waiting[at], {})({});
    }

    EXPECT_EQ(sink.begun, (std::vector<std::string>{"r/1/0", "r/1/2", "r/1/3"}));
    EXPECT_TRUE(sink.cancelled.empty());
    EXPECT_EQ(dispatcher.pending(), 0U);
}

} // namespace
} // namespace sluice::engine
