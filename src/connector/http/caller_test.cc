#include "connector/http/caller.h"

#include <condition_variable>
#include <future>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "http/server.h"
#include "observe/diagnostics.h"
#include "reactor/testing/manual_scheduler.h"

namespace sluice::connector::http {
namespace {

using event::Answer;
using event::Delivery;
using sluice::http::Exchange;
using sluice::http::Request;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Time as a scheduler's, which passes when the test says so.
class SteppedClock final : public Clock {
public:
    Time wall() const override { return Time{now}; }
    Nanos steady() const override { return now; }

    std::atomic<Nanos> now{Nanos{0}};
};

/// A function behind a real server, and the caller of it.
class HttpCaller : public ::testing::Test {
protected:
    void SetUp() override { open(caller_); }

    void open(std::shared_ptr<Caller>& caller, CallerOptions options = {}) {
        caller = std::make_shared<Caller>(clock_, scheduler_, std::move(options));
        caller->open("http://callback");
    }

    /// Of a function that answers what `next_` says.
    std::future<Answer> call(Caller& caller, std::string token = "token", Nanos timeout = {},
                             Nanos heartbeat = {}) {
        auto function = Function{.url = *sluice::http::parse_url(
                                     fmt::format("http://127.0.0.1:{}/f?x=1", server_->port())),
                                 .heartbeat = heartbeat};
        auto delivery = Delivery{};
        delivery.key = "r/1/0";
        delivery.token = std::move(token);
        delivery.target = "f";
        delivery.payload = 7;
        delivery.timeout = timeout;
        auto promise = std::promise<Answer>{};
        auto answer = promise.get_future();
        auto sink = Sink{caller_of(caller), std::move(function)};
        sink.deliver(std::move(delivery), [promise = std::move(promise)](Answer given) mutable {
            promise.set_value(std::move(given));
        });
        return answer;
    }
    std::future<Answer> call() { return call(*caller_); }

    std::shared_ptr<Caller> caller_of(Caller& caller) {
        return {std::shared_ptr<Caller>{}, &caller};
    }

    void handle(Request request, std::shared_ptr<Exchange> exchange) {
        auto lock = std::unique_lock{mutex_};
        seen_.push_back(std::move(request));
        arrived_.notify_all();
        auto response = next_;
        if (!response) {
            held_.push_back(std::move(exchange));
            return;
        }
        lock.unlock();
        exchange->answer(*response);
    }

    void await_requests(std::size_t count) {
        auto lock = std::unique_lock{mutex_};
        arrived_.wait(lock, [&] { return seen_.size() >= count; });
    }

    void pass(Nanos time) {
        clock_.now = clock_.now.load() + time;
        scheduler_.advance(time);
    }

    SteppedClock clock_;
    reactor::testing::ManualScheduler scheduler_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<Request> seen_;
    std::optional<sluice::http::Response> next_ = sluice::http::Response{.body = "42"};
    std::vector<std::shared_ptr<Exchange>> held_;
    observe::NullDiagnostics diagnostics_;
    std::unique_ptr<sluice::http::Server> server_ = *sluice::http::Server::open(
        {},
        [this](Request request, std::shared_ptr<Exchange> exchange) {
            handle(std::move(request), std::move(exchange));
        },
        diagnostics_);
    std::shared_ptr<Caller> caller_;
};

TEST_F(HttpCaller, AsksForItsFunctionAtEachCall) {
    auto key = std::string{"old"};
    auto sink = Sink{caller_, [&]() -> Result<Function> {
                         if (key.empty()) {
                             return fail(Errc::NotFound, "there is no secret key");
                         }
                         auto url = fmt::format("http://127.0.0.1:{}/", server_->port());
                         return Function{.url = *sluice::http::parse_url(url),
                                         .headers = {{"Authorization", key}}};
                     }};
    auto deliver = [&] {
        auto promise = std::promise<Answer>{};
        auto answer = promise.get_future();
        auto delivery = Delivery{};
        delivery.key = "r/1/0";
        delivery.token = "token";
        delivery.target = "f";
        sink.deliver(std::move(delivery),
                     [&](Answer given) { promise.set_value(std::move(given)); });
        return answer.get();
    };

    deliver();
    key = "new";
    deliver();
    key = "";
    auto refused = deliver();

    ASSERT_EQ(seen_.size(), 2U);
    EXPECT_EQ(*seen_[0].headers.find("Authorization"), "old");
    EXPECT_EQ(*seen_[1].headers.find("Authorization"), "new");
    EXPECT_EQ(refused.error_kind, "secret");
}

TEST_F(HttpCaller, PostsTheInputAndTakesTheAnswer) {
    auto answer = call().get();

    EXPECT_TRUE(answer.is_success) << answer.error_message;
    EXPECT_EQ(answer.result, Value{42});
    EXPECT_EQ(seen_[0].target, "/f?x=1");
    EXPECT_EQ(seen_[0].body, "7");
    EXPECT_EQ(*seen_[0].headers.find("Sluice-Callback"), "http://callback/v1/tasks/token");
}

TEST_F(HttpCaller, WaitsUntilCallbacksCouldComeIn) {
    auto closed = Caller{clock_, scheduler_, {}};
    auto answer = call(closed);
    EXPECT_TRUE(seen_.empty());

    closed.open("");

    EXPECT_EQ(answer.get().result, Value{42});
    EXPECT_EQ(seen_[0].headers.find("Sluice-Callback"), nullptr);
}

TEST_F(HttpCaller, GivesUpAtTheTimeout) {
    next_.reset();

    auto answer = call(*caller_, "token", milliseconds{20}).get();

    EXPECT_EQ(answer.error_kind, "timeout");
}

TEST_F(HttpCaller, CancelEndsACallUnderWay) {
    next_.reset();
    auto answer = call();
    await_requests(1);

    caller_->cancel("other");
    caller_->cancel("token");
    caller_->cancel("token");

    EXPECT_EQ(answer.get().error_kind, "cancelled");
}

TEST_F(HttpCaller, StopAnswersWhatIsUnderWayAndWhatComesAfter) {
    next_.reset();
    auto before = call();
    await_requests(1);

    caller_->stop();

    EXPECT_EQ(before.get().error_kind, "cancelled");
    EXPECT_EQ(call().get().error_kind, "cancelled");
}

TEST_F(HttpCaller, Answered202ItWaitsUntilItIsSettledByToken) {
    next_ = {.status = 202};
    auto answer = call();
    await_requests(1);
    auto again = call(); // On the same connection: the first 202 has been read when this arrives.
    await_requests(2);

    EXPECT_EQ(answer.wait_for(seconds{0}), std::future_status::timeout);
    caller_->cancel("token");

    EXPECT_EQ(answer.get().error_kind, "cancelled");
    EXPECT_EQ(again.get().error_kind, "cancelled");
}

TEST_F(HttpCaller, TheTimeoutHoldsForALaterAnswerToo) {
    next_ = {.status = 202};
    auto answer = call(*caller_, "token", seconds{30});
    while (scheduler_.is_idle()) {
        std::this_thread::yield();
    }

    pass(seconds{29});
    EXPECT_TRUE(caller_->heartbeat("token"));
    pass(seconds{1});

    EXPECT_EQ(answer.get().error_kind, "timeout");
    EXPECT_FALSE(caller_->heartbeat("token"));
}

TEST_F(HttpCaller, WhoAnswersLaterMustBeHeardFrom) {
    next_ = {.status = 202};
    auto answer = call(*caller_, "token", seconds{300}, seconds{10});
    while (scheduler_.is_idle()) {
        std::this_thread::yield();
    }

    pass(seconds{9});
    EXPECT_TRUE(caller_->heartbeat("token"));
    pass(seconds{9});
    EXPECT_EQ(answer.wait_for(seconds{0}), std::future_status::timeout);
    pass(seconds{1});

    EXPECT_EQ(answer.get().error_kind, "heartbeat");
}

TEST_F(HttpCaller, LaterIsNoAnswerWhereNobodyListens) {
    auto alone = Caller{clock_, scheduler_, {}};
    alone.open("");
    next_ = {.status = 202};

    EXPECT_EQ(call(alone).get().error_kind, "bad_output");
}

TEST_F(HttpCaller, GoesToNoPrivateAddressUnlessItMay) {
    auto guarded = std::shared_ptr<Caller>{};
    open(guarded, {.may_reach = sluice::http::is_public_address});

    auto answer = call(*guarded).get();

    EXPECT_EQ(answer.error_kind, "forbidden_address");
    EXPECT_TRUE(seen_.empty());
}

TEST_F(HttpCaller, AnAnswerHasABound) {
    auto bounded = std::shared_ptr<Caller>{};
    open(bounded, {.answer_bytes_max = 100});
    next_ = {.body = std::string(200, '1')};

    EXPECT_EQ(call(*bounded).get().error_kind, "bad_output");
}

TEST_F(HttpCaller, SaysThatNobodyIsThere) {
    auto port = server_->port();
    server_.reset();
    server_ = *sluice::http::Server::open({}, [](auto, auto) {}, diagnostics_);
    auto sink =
        Sink{caller_, {.url = *sluice::http::parse_url(fmt::format("http://127.0.0.1:{}/", port))}};
    auto promise = std::promise<Answer>{};
    auto answer = promise.get_future();

    sink.deliver({.key = "r/1/0"}, [&](Answer given) { promise.set_value(std::move(given)); });

    EXPECT_EQ(answer.get().error_kind, "unreachable");
}

} // namespace
} // namespace sluice::connector::http
