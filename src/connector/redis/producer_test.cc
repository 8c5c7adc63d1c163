#include "connector/redis/producer.h"

#include <atomic>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/redis/source.h"
#include "connector/redis/testing/scene.h"

namespace sluice::connector::redis {
namespace {

using testing::event_json;
using ::testing::HasSubstr;
using testing::numbers;
using testing::Scene;

class RedisProducer : public ::testing::Test {
public:
    void SetUp() override {
        if (!resp::testing::is_redis_installed()) {
            GTEST_SKIP() << "redis-server is not installed";
        }
        scene.emplace();
        ASSERT_TRUE(scene->is_there()) << "redis-server does not start";
    }
    std::unique_ptr<event::Producer> open(std::string_view query = "") {
        return std::move(*open_producer(scene->options(query), diagnostics));
    }
    std::vector<std::uint64_t> ids_in(const std::string& stream, std::size_t count) {
        auto source = open_source(scene->options("group="), diagnostics);
        EXPECT_TRUE((*source)->resume(stream, 0));
        return testing::read(**source, count).ids;
    }

    observe::testing::CapturedDiagnostics diagnostics;
    std::optional<Scene> scene;
};

TEST_F(RedisProducer, ConfirmsEachInOrder) {
    auto producer = open();
    auto confirmed = std::vector<std::uint64_t>{};
    for (auto number = std::uint64_t{0}; number < 5000; ++number) {
        producer->send(
            {.to = number % 2 == 0 ? "even" : "odd", .key = "", .json = event_json(number)},
            [&confirmed, number](const Result<void>& outcome) {
                EXPECT_TRUE(outcome);
                confirmed.push_back(number);
            });
    }
    ASSERT_TRUE(producer->flush(std::chrono::seconds{20}));

    EXPECT_EQ(confirmed, numbers(0, 5000));
    auto even = ids_in("even", 2500);
    ASSERT_EQ(even.size(), 2500);
    EXPECT_EQ(even[100], 200);
    EXPECT_EQ(ids_in("odd", 2500)[100], 201);
}

TEST_F(RedisProducer, WritesBinaryEntriesThatReadBack) {
    auto producer = open("mode=binary");
    producer->send({.to = "s", .key = "", .json = event_json(7)},
                   [](const Result<void>& outcome) { EXPECT_TRUE(outcome); });
    auto refused = std::string{};
    producer->send({.to = "s", .key = "", .json = "no event"}, [&](const Result<void>& outcome) {
        refused = outcome ? "none" : outcome.error().message;
    });
    producer->send({.to = "s", .key = "", .json = event_json(8)},
                   [](const Result<void>& outcome) { EXPECT_TRUE(outcome); });
    ASSERT_TRUE(producer->flush(std::chrono::seconds{20}));

    EXPECT_NE(refused, "");
    EXPECT_NE(refused, "none");
    EXPECT_EQ(ids_in("s", 2), numbers(7, 9));
}

TEST_F(RedisProducer, SaysWhatTheServerRefuses) {
    ASSERT_TRUE(scene->tell("SET", "text", "x"));
    auto producer = open();
    auto code = Errc::Internal;
    producer->send({.to = "text", .key = "", .json = event_json(7)},
                   [&](const Result<void>& outcome) {
                       code = outcome ? Errc::Internal : outcome.error().code;
                   });
    ASSERT_TRUE(producer->flush(std::chrono::seconds{20}));

    EXPECT_EQ(code, Errc::Conflict);
}

TEST_F(RedisProducer, CutsStreamsWhereItIsTold) {
    auto producer = open("length_max=100");
    for (auto number = std::uint64_t{0}; number < 3000; ++number) {
        producer->send({.to = "s", .key = "", .json = event_json(number)},
                       [](const Result<void>&) {});
    }
    ASSERT_TRUE(producer->flush(std::chrono::seconds{20}));

    EXPECT_LT(scene->tell("XLEN", "s")->number(), 300);
}

TEST_F(RedisProducer, NothingConfirmedIsLostWhenTheServerIsKilled) {
    auto producer = open();
    auto confirmed = std::atomic<std::uint64_t>{0};
    auto is_over = std::atomic<bool>{false};
    auto sent = std::uint64_t{0};
    auto sender = std::thread{[&] {
        for (; !is_over; ++sent) {
            producer->send({.to = "s", .key = "", .json = event_json(sent)},
                           [&](const Result<void>& outcome) {
                               EXPECT_TRUE(outcome) << outcome.error().message;
                               ++confirmed;
                           });
        }
    }};
    for (auto round = 0; round < 3; ++round) {
        auto before = confirmed.load();
        auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (confirmed < before + 1000 && std::chrono::steady_clock::now() < limit) {
            std::this_thread::yield();
        }
        EXPECT_TRUE(scene->server().restart());
    }
    is_over = true;
    sender.join();
    ASSERT_TRUE(producer->flush(std::chrono::seconds{30}));
    EXPECT_EQ(confirmed, sent);

    auto length = static_cast<std::size_t>(scene->tell("XLEN", "s")->number());
    auto ids = ids_in("s", length);
    ASSERT_EQ(ids.size(), length);
    // In order; a batch that was sent again begins anew somewhere before.
    auto highest = std::uint64_t{0};
    auto repeats = 0;
    for (auto at = std::size_t{1}; at < ids.size(); ++at) {
        repeats += ids[at] <= ids[at - 1] ? 1 : 0;
        EXPECT_LE(ids[at], highest + 1) << "something is missing";
        highest = std::max(highest, ids[at]);
    }
    EXPECT_LE(repeats, 3);
    EXPECT_EQ(highest, sent - 1);
}

TEST_F(RedisProducer, PatienceEnds) {
    auto producer = open("patience=100ms&connect_limit=100ms");
    scene->server().kill();
    auto code = std::atomic<Errc>{Errc::Internal};
    producer->send({.to = "s", .key = "", .json = event_json(1)}, [&](const Result<void>& outcome) {
        code = outcome ? Errc::Internal : outcome.error().code;
    });

    EXPECT_TRUE(producer->flush(std::chrono::seconds{20}));
    EXPECT_EQ(code, Errc::Unavailable);
}

TEST_F(RedisProducer, WhatIsUnderWayAtTheEndIsAnswered) {
    auto producer = open();
    scene->server().kill();
    auto answers = 0;
    for (auto number = std::uint64_t{0}; number < 10; ++number) {
        producer->send({.to = "s", .key = "", .json = event_json(number)},
                       [&](const Result<void>& outcome) {
                           EXPECT_FALSE(outcome);
                           ++answers;
                       });
    }
    EXPECT_EQ(producer->flush(std::chrono::milliseconds{10}).error().code, Errc::Unavailable);
    producer.reset();

    EXPECT_EQ(answers, 10);
}

TEST_F(RedisProducer, WaitsWhileTooMuchIsUnderWay) {
    auto producer = open();
    scene->server().pause();
    auto sent = std::atomic<int>{0};
    auto sender = std::thread{[&] {
        for (; sent < 20; ++sent) {
            producer->send({.to = "s", .key = "", .json = event_json(1, 4'000'000)},
                           [](const Result<void>&) {});
        }
    }};
    auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (sent < 8 && std::chrono::steady_clock::now() < limit) {
        std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    EXPECT_EQ(sent, 8);
    scene->server().resume();
    sender.join();

    EXPECT_TRUE(producer->flush(std::chrono::seconds{30}));
    EXPECT_EQ(scene->tell("XLEN", "s")->number(), 20);
}

} // namespace
} // namespace sluice::connector::redis
