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
    auto dispatcher = Dispatcher{{.shared = {{"f", {.sink = &sink, .concurrency = 1}}}},
                                 1,
                                 Secret{},
                                 [](const AnswerInput&) {}};
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

/// A dispatcher whose functions are changed while calls are there.
class ChangedFunctions : public ::testing::Test {
protected:
    static Call call_of(std::uint64_t index, std::string space = "default") {
        return {.run = {.space = std::move(space), .id = "r"},
                .key = {.fire = trigger::FireNumber{1}, .index = index},
                .task = {.target = "f"}};
    }
    void dispatch(std::uint64_t count) {
        for (auto index = std::uint64_t{0}; index < count; ++index) {
            auto calls = std::vector<Call>{};
            calls.push_back(call_of(index));
            dispatcher.dispatch(std::move(calls));
        }
    }
    static void answer_next(PatientSink& sink, event::Answer answer = {}) {
        auto done = std::move(sink.waiting.front());
        sink.waiting.erase(sink.waiting.begin());
        done(std::move(answer));
    }

    PatientSink before;
    PatientSink after;
    std::vector<AnswerInput> answers;
    Dispatcher dispatcher{{.shared = {{"f", {.sink = &before, .concurrency = 1}}}},
                          1,
                          Secret{},
                          [this](AnswerInput answer) { answers.push_back(std::move(answer)); }};
};

TEST_F(ChangedFunctions, CallsThatWaitGoToTheNewOneAndBegunOnesEndAsTheyBegan) {
    dispatch(2);

    dispatcher.set_function("", "f", {.sink = &after, .concurrency = 2});
    dispatcher.cancel({.id = "r"}, call_of(0).key);

    EXPECT_EQ(before.begun, std::vector<std::string>{"r/1/0"});
    EXPECT_EQ(before.cancelled.size(), 1U);
    EXPECT_EQ(after.begun, std::vector<std::string>{"r/1/1"});
    answer_next(before);
    answer_next(after);
    EXPECT_EQ(answers.size(), 2U);
}

TEST_F(ChangedFunctions, ARemovedOneEndsWhatItBeganAndFailsWhatWaits) {
    dispatch(2);

    dispatcher.remove_function("", "f");
    dispatcher.remove_function("", "f");
    dispatcher.remove_function("other", "f");

    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].attempt.key.index, 1U);
    EXPECT_EQ(answers[0].answer.error_kind, "unknown_function");
    answer_next(before);
    EXPECT_TRUE(answers[1].answer.is_success);
    dispatch(1);
    EXPECT_EQ(answers[2].answer.error_kind, "unknown_function");
    EXPECT_EQ(dispatcher.pending(), 0U);
}

TEST_F(ChangedFunctions, ANamespacesOwnGoesBeforeTheOneForAll) {
    dispatcher.set_function("team", "f", {.sink = &after});
    auto calls = std::vector<Call>{};
    calls.push_back(call_of(0));
    calls.push_back(call_of(1, "team"));

    dispatcher.dispatch(std::move(calls));

    EXPECT_EQ(before.begun, std::vector<std::string>{"r/1/0"});
    EXPECT_EQ(after.begun, std::vector<std::string>{"team/r/1/1"});
}

TEST_F(ChangedFunctions, ASinkGoesWithItsLastCall) {
    auto owned = std::make_shared<PatientSink>();
    auto watched = std::weak_ptr{owned};
    auto* sink = owned.get();
    dispatcher.set_function("", "f", {.sink = sink, .owner = std::move(owned)});
    dispatch(1);
    auto done = std::move(sink->waiting.front());

    dispatcher.set_function("", "f", {.sink = &after});

    EXPECT_FALSE(watched.expired());
    done({});
    EXPECT_TRUE(watched.expired());
}

TEST_F(ChangedFunctions, WhoAsksToBeLeftAloneIsNotCalledBefore) {
    dispatcher.set_function("", "f", {.sink = &before, .retry = {.attempts = 2, .jitter = 0}});
    dispatch(2);

    answer_next(before, {.is_success = false, .retry_after = std::chrono::seconds{7}});
    answer_next(before, {.is_success = false, .retry_after = std::chrono::hours{100}});

    EXPECT_EQ(answers[0].retry_after, std::chrono::seconds{7});
    EXPECT_EQ(answers[1].retry_after, std::chrono::hours{1});
}

} // namespace
} // namespace sluice::engine
