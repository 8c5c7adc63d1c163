#include "connector/nats/producer.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/nats/bus.h"
#include "connector/nats/streams.h"
#include "connector/nats/testing/events.h"
#include "connector/nats/testing/nats_server.h"
#include "observe/testing/captured_diagnostics.h"

namespace sluice::connector::nats {

namespace {

using testing::event_json;
using ::testing::HasSubstr;
using testing::id_in;
using testing::NatsServer;
using testing::read_all;
using testing::send_all;

constexpr auto flush_wait = std::chrono::seconds{30};

class ProducerTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (!NatsServer::is_installed()) {
            GTEST_SKIP() << "nats-server is not installed";
        }
        server_ = NatsServer::start().value();
        options_ = server_->options();
        bus_ = open_bus(options_, diagnostics_).value();
        ASSERT_TRUE(bus_->create(2));
    }

    std::unique_ptr<event::Producer> open(Target target = Target::Bus) {
        return open_producer(options_, target, diagnostics_).value();
    }

    std::vector<testing::Read> read_back(const std::string& partition, std::size_t count) {
        auto source = bus_->open_source().value();
        EXPECT_TRUE(source->resume(partition, 0));
        auto read = read_all(*source, count);
        EXPECT_TRUE(read) << read.error().message;
        return (*read)[partition];
    }

    /// Sends one and waits for what became of it.
    Result<void> outcome_of(event::Producer& producer, event::Outgoing event) {
        auto outcome = Result<void>{};
        producer.send(std::move(event), [&](Result<void> result) { outcome = std::move(result); });
        EXPECT_TRUE(producer.flush(flush_wait));
        return outcome;
    }

    observe::testing::CapturedDiagnostics diagnostics_;
    std::unique_ptr<NatsServer> server_;
    Options options_;
    std::unique_ptr<event::Bus> bus_;
};

} // namespace

TEST_F(ProducerTest, SendsTheSameKeyOnce) {
    auto producer = open();

    for (auto count = 0; count < 3; ++count) {
        EXPECT_TRUE(outcome_of(*producer, {"sluice.0", "key", event_json("1")}));
    }
    EXPECT_TRUE(outcome_of(*producer, {"sluice.0", "other", event_json("2")}));
    EXPECT_TRUE(outcome_of(*producer, {"sluice.0", "", event_json("3")}));
    EXPECT_TRUE(outcome_of(*producer, {"sluice.0", "", event_json("4")}));

    EXPECT_EQ(read_back("sluice.0", 4).size(), 4);
}

TEST_F(ProducerTest, SaysWhyAnEventIsNotTaken) {
    auto producer = open();

    auto nobody = outcome_of(*producer, {"nobody.there", "k", event_json("1")});
    auto pattern = outcome_of(*producer, {"sluice.*", "k", event_json("1")});
    auto line = outcome_of(*producer, {"sluice.0", "a\r\nb", event_json("1")});
    auto large = outcome_of(*producer, {"sluice.0", "k", event_json("1", 2'000'000)});
    auto good = outcome_of(*producer, {"sluice.0", "k", event_json("1")});

    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().code, Errc::Unavailable);
    EXPECT_THAT(nobody.error().message, HasSubstr("no stream takes this subject (nobody.there)"));
    ASSERT_FALSE(pattern);
    EXPECT_EQ(pattern.error().code, Errc::InvalidInput);
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().code, Errc::InvalidInput);
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().code, Errc::LimitExceeded);
    EXPECT_TRUE(good);
}

TEST_F(ProducerTest, SendsBinaryEventsThatComeBackTheSame) {
    options_.mode = Mode::Binary;
    auto producer = open(Target::Streams);

    ASSERT_TRUE(outcome_of(*producer, {"sluice.0", "k", event_json("7")}));
    auto invalid = outcome_of(*producer, {"sluice.0", "k2", R"({"no":"event"})"});

    EXPECT_FALSE(invalid);
    auto read = read_back("sluice.0", 1);
    ASSERT_EQ(read.size(), 1);
    EXPECT_EQ(read[0].fault, "");
    EXPECT_EQ(id_in(read[0]), 7);
}

TEST_F(ProducerTest, WaitsWhileTooMuchIsUnderWay) {
    options_.in_flight_max = 10;
    auto producer = open();
    server_->pause();
    auto sent = std::atomic<int>{0};
    auto sender = std::thread{[&] {
        for (auto id = 0; id < 50; ++id) {
            producer->send({"sluice.0", fmt::format("{}", id), event_json(fmt::format("{}", id))},
                           [](const Result<void>& result) { EXPECT_TRUE(result); });
            ++sent;
        }
    }};

    while (sent < 10) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    EXPECT_FALSE(producer->flush(std::chrono::milliseconds{100}));
    EXPECT_EQ(sent.load(), 10);
    server_->go_on();
    sender.join();

    EXPECT_TRUE(producer->flush(flush_wait));
    EXPECT_EQ(read_back("sluice.0", 50).size(), 50);
}

TEST_F(ProducerTest, LosesNothingAndKeepsOrderWhenTheServerIsKilled) {
    auto producer = open();
    constexpr auto count = std::uint64_t{20'000};
    auto confirmed = std::atomic<std::uint64_t>{0};
    auto failed = std::atomic<std::uint64_t>{0};
    auto sender = std::thread{[&] {
        for (auto id = std::uint64_t{1}; id <= count; ++id) {
            producer->send({"sluice.0", fmt::format("k{}", id), event_json(fmt::format("{}", id))},
                           [&](const Result<void>& result) { ++(result ? confirmed : failed); });
        }
    }};

    for (auto round = 1; round <= 3; ++round) {
        auto target = count / 4 * static_cast<std::uint64_t>(round);
        while (confirmed < target && failed == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        server_->kill();
        ASSERT_TRUE(server_->start_again());
    }
    sender.join();
    ASSERT_TRUE(producer->flush(flush_wait));

    EXPECT_EQ(failed.load(), 0);
    EXPECT_EQ(confirmed.load(), count);
    auto read = read_back("sluice.0", count);
    // The server knows keys again after a restart, so nothing comes twice either.
    ASSERT_EQ(read.size(), count);
    for (auto at = std::size_t{0}; at < read.size(); ++at) {
        ASSERT_EQ(id_in(read[at]), at + 1);
    }
}

TEST_F(ProducerTest, GivesEventsBackWhenTheServerStaysAway) {
    options_.send_time_max = std::chrono::milliseconds{300};
    auto producer = open();
    server_->kill();

    auto outcome = outcome_of(*producer, {"sluice.0", "k", event_json("1")});

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Errc::Unavailable);
    EXPECT_THAT(outcome.error().message, HasSubstr("not confirmed in time"));
    ASSERT_TRUE(server_->start_again());
    options_.send_time_max = flush_wait;
    auto again = open();
    EXPECT_TRUE(outcome_of(*again, {"sluice.0", "k", event_json("1")}));
}

TEST_F(ProducerTest, OpensBeforeTheServerIsThere) {
    server_->kill();
    auto producer = open();
    auto confirmed = std::atomic<bool>{false};
    producer->send({"sluice.0", "k", event_json("1")},
                   [&](const Result<void>& result) { confirmed = result.has_value(); });

    ASSERT_TRUE(server_->start_again());

    EXPECT_TRUE(producer->flush(flush_wait));
    EXPECT_TRUE(confirmed);
}

TEST_F(ProducerTest, AnswersForWhatWasSentWhenItIsClosed) {
    auto producer = open();
    server_->pause();
    auto outcome = std::optional<Result<void>>{};
    producer->send({"sluice.0", "k", event_json("1")},
                   [&](Result<void> result) { outcome = std::move(result); });

    producer.reset();
    server_->go_on();

    ASSERT_TRUE(outcome);
    EXPECT_FALSE(*outcome);
}

TEST_F(ProducerTest, SendsFromManyThreads) {
    auto producer = open();
    auto threads = std::vector<std::thread>{};
    for (auto thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            auto first = static_cast<std::uint64_t>(thread) * 1000 + 1;
            EXPECT_TRUE(send_all(*producer, "sluice.1", first, first + 999));
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }

    EXPECT_EQ(read_back("sluice.1", 4000).size(), 4000);
}

} // namespace sluice::connector::nats
