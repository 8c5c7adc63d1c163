#include "connector/process/worker_pool.h"

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/testing/captured_diagnostics.h"
#include "reactor/testing/manual_scheduler.h"

namespace sluice::connector::process {
namespace {

using event::Answer;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;

/// Does this with every line, whose id and input are in variables; `answer` says a result.
Function worker(const std::string& body, Pool pool = {}) {
    return {.argv = {"/bin/sh", "-c",
                     "answer() { echo \"{\\\"id\\\":$id,\\\"result\\\":$1}\"; }\n"
                     "while read -r line; do\n"
                     "id=${line#*\\\"id\\\":}; id=${id%%[,\\}]*}\n"
                     "input=${line#*\\\"input\\\":}; input=${input%%[,\\}]*}\n" +
                         body + "\ndone"},
            .pool = pool};
}

class WorkerPoolTest : public ::testing::Test {
protected:
    ~WorkerPoolTest() override {
        if (pool) {
            pool->stop();
        }
        runner.reset();
    }

    void open(Function function) {
        pool = std::make_shared<WorkerPool>(Services{*runner, timers, diagnostics}, "work",
                                            std::move(function));
    }

    std::future<Answer> deliver(Value input = {}, std::string token = "token") {
        auto promise = std::promise<Answer>{};
        auto answer = promise.get_future();
        auto delivery = event::Delivery{.key = "team/r7/1/0",
                                        .token = std::move(token),
                                        .target = "work",
                                        .payload = std::move(input)};
        delivery.timeout = timeout;
        pool->deliver(std::move(delivery), [promise = std::move(promise)](Answer given) mutable {
            promise.set_value(std::move(given));
        });
        return answer;
    }
    Answer call(Value input = {}) { return deliver(std::move(input)).get(); }

    Nanos timeout{0};
    reactor::testing::ManualScheduler timers;
    observe::testing::CapturedDiagnostics diagnostics;
    std::unique_ptr<reactor::ProcessRunner> runner =
        std::move(reactor::ProcessRunner::create(
                      {.output_bytes_max = 100'000, .grace = milliseconds{50}}))
            .value();
    std::shared_ptr<WorkerPool> pool;
};

TEST_F(WorkerPoolTest, KeepsAWorkerForTheNextCall) {
    open(worker("answer $$"));

    auto first = call();
    auto second = call();

    EXPECT_TRUE(first.is_success) << first.error_message;
    EXPECT_EQ(first.result, second.result);
    EXPECT_EQ(pool->size(), 1U);
}

TEST_F(WorkerPoolTest, ReplacesAWorkerAfterItsCalls) {
    open(worker("answer $$", {.calls = 2}));

    auto first = call();
    auto second = call();
    auto third = call();

    EXPECT_EQ(first.result, second.result);
    EXPECT_TRUE(third.is_success);
    EXPECT_NE(third.result, first.result);
}

TEST_F(WorkerPoolTest, EndsAWorkerThatHasNothingToDo) {
    open(worker("answer $$", {.idle = seconds{60}}));
    auto first = call();

    timers.advance(seconds{59});
    auto second = call();
    timers.advance(seconds{59});
    auto third = call();
    timers.advance(seconds{60});
    auto fourth = call();

    EXPECT_EQ(first.result, second.result);
    EXPECT_EQ(first.result, third.result);
    EXPECT_NE(first.result, fourth.result);
}

TEST_F(WorkerPoolTest, StartsNoMoreThanTheMaximum) {
    open(worker("case $input in 1) ;; *) answer $input;; esac", {.max = 2}));
    auto first = deliver(1, "a");
    auto second = deliver(1, "b");
    auto third = deliver(3, "c");
    EXPECT_EQ(pool->size(), 2U);

    pool->cancel("a");

    EXPECT_EQ(first.get().error_kind, "cancelled");
    EXPECT_EQ(third.get().result, Value{3});
    EXPECT_EQ(second.wait_for(seconds{0}), std::future_status::timeout);
}

TEST_F(WorkerPoolTest, ACallThatWaitsCanBeCancelled) {
    open(worker("case $input in 1) ;; *) answer $input;; esac"));
    auto first = deliver(1, "a");
    auto second = deliver(2, "b");

    pool->cancel("b");

    EXPECT_EQ(second.get().error_kind, "cancelled");
    EXPECT_EQ(first.wait_for(seconds{0}), std::future_status::timeout);
}

TEST_F(WorkerPoolTest, AWorkerThatDiesFailsItsCallAndIsReplaced) {
    open(worker("case $input in 1) echo oops >&2; exit 3;; *) answer $input;; esac"));

    auto dead = call(1);
    auto next = call(2);

    EXPECT_EQ(dead.error_kind, "exit");
    EXPECT_EQ(dead.error_message, "command /bin/sh exited with 3 before it answered");
    EXPECT_EQ(*dead.error_detail.find("stderr"), Value{"oops\n"});
    EXPECT_EQ(next.result, Value{2});
}

TEST_F(WorkerPoolTest, TellsWhatWorkersWriteToTheirStandardError) {
    open(worker("echo careful >&2; exit"));

    call();

    EXPECT_THAT(
        diagnostics.lines(),
        Contains("info: worker wrote to its standard error function=work worker=1 line=careful"));
}

TEST_F(WorkerPoolTest, RefusesWhatIsNoAnswer) {
    open(worker("case $input in 1) echo done;; 2) id=99; answer 1;; *) answer $input;; esac"));

    auto no_json = call(1);
    auto wrong_id = call(2);

    EXPECT_EQ(no_json.error_kind, "bad_output");
    EXPECT_EQ(no_json.error_message,
              "the worker wrote 'done', expected a line with one JSON object");
    EXPECT_EQ(wrong_id.error_kind, "bad_output");
    EXPECT_EQ(wrong_id.error_message, "the worker answered the id 99, expected 2");
    EXPECT_EQ(call(3).result, Value{3});
}

TEST_F(WorkerPoolTest, RefusesALineThatIsTooLong) {
    open(worker("head -c 300000 /dev/zero | tr '\\0' x"));

    auto answer = call();

    EXPECT_EQ(answer.error_kind, "bad_output");
    EXPECT_THAT(answer.error_message, HasSubstr("too long"));
}

TEST_F(WorkerPoolTest, FailsWithTheErrorOfTheWorker) {
    open(worker(
        R"(echo "{\"id\":$id,\"error\":{\"kind\":\"no_stock\",\"message\":\"none left\"}}")"));

    auto answer = call();

    EXPECT_EQ(answer.error_kind, "no_stock");
    EXPECT_EQ(answer.error_message, "none left");
    EXPECT_EQ(pool->size(), 1U);
}

TEST_F(WorkerPoolTest, KillsAWorkerThatTakesTooLong) {
    timeout = seconds{5};
    open(worker("case $input in 1) ;; *) answer $input;; esac"));
    auto slow = deliver(1);

    timers.advance(seconds{5});

    auto answer = slow.get();
    EXPECT_EQ(answer.error_kind, "timeout");
    EXPECT_EQ(answer.error_message, "the worker was not done within 5s");
    EXPECT_EQ(call(2).result, Value{2});
    timers.advance(seconds{5});
    EXPECT_EQ(call(3).result, Value{3});
}

TEST_F(WorkerPoolTest, KillsAWorkerThatFallsSilent) {
    open(worker("", {.heartbeat = seconds{2}}));
    auto silent = deliver();

    timers.advance(seconds{2});

    EXPECT_EQ(silent.get().error_kind, "heartbeat");
}

TEST_F(WorkerPoolTest, SaysWhenAWorkerCannotStart) {
    open({.argv = {"/no/such/worker"}, .pool = Pool{}});

    EXPECT_EQ(call().error_kind, "spawn");
}

TEST_F(WorkerPoolTest, StoppedItEndsItsWorkersAndRefusesCalls) {
    open(worker(""));
    auto running = deliver();
    auto waiting = deliver();

    pool->stop();

    EXPECT_EQ(running.get().error_kind, "cancelled");
    EXPECT_EQ(waiting.get().error_kind, "cancelled");
    EXPECT_EQ(call().error_kind, "cancelled");
}

} // namespace
} // namespace sluice::connector::process
