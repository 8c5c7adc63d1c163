#include "connector/kafka/testing/real_kafka.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/kafka/bus.h"
#include "connector/kafka/internal/client.h"
#include "connector/kafka/internal/topic_admin.h"
#include "connector/kafka/source.h"
#include "connector/kafka/testing/reading.h"
#include "observe/testing/captured_diagnostics.h"

namespace sluice::connector::kafka {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::event_json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::numbers;
using testing::read_some;
using testing::texts;

/// A client of its own, for what no connector does.
class Outsider : private internal::Listener {
public:
    Outsider(internal::Role role, const Options& options, observe::Diagnostics& diag)
        : client_(*internal::Client::open(role, options, diag, *this)) {}

    rd_kafka_t* get() const { return client_->get(); }

    void remove_records(const std::string& topic, int partition, std::int64_t before) {
        auto list = internal::list_of({.topic = topic, .partition = partition}, before);
        auto* records = rd_kafka_DeleteRecords_new(list.get());
        auto queue = internal::Queue{rd_kafka_queue_new(get())};
        rd_kafka_DeleteRecords(get(), &records, 1, nullptr, queue.get());
        auto* event = rd_kafka_queue_poll(queue.get(), 20000);
        EXPECT_NE(event, nullptr);
        EXPECT_EQ(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
        rd_kafka_event_destroy(event);
        rd_kafka_DeleteRecords_destroy(records);
    }

    void widen(const std::string& topic, std::size_t partitions) {
        auto text = std::array<char, 256>{};
        auto* wanted =
            rd_kafka_NewPartitions_new(topic.c_str(), partitions, text.data(), text.size());
        auto queue = internal::Queue{rd_kafka_queue_new(get())};
        rd_kafka_CreatePartitions(get(), &wanted, 1, nullptr, queue.get());
        auto* event = rd_kafka_queue_poll(queue.get(), 20000);
        EXPECT_EQ(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
        rd_kafka_event_destroy(event);
        rd_kafka_NewPartitions_destroy(wanted);
    }

    std::int64_t committed(const std::string& topic, int partition) {
        auto list = internal::list_of({.topic = topic, .partition = partition}, 0);
        rd_kafka_committed(get(), list.get(), 5000);
        return list->elems[0].offset;
    }

private:
    void on_error(rd_kafka_resp_err_t, std::string_view) override {}

    std::unique_ptr<internal::Client> client_;
};

class RealKafka : public ::testing::Test {
protected:
    void SetUp() override {
        if (!kafka_) {
            GTEST_SKIP() << testing::RealKafka::why_not();
        }
        options_ = kafka_->options();
        bus_ = std::move(*open_bus(options_, diag_));
    }

    void make_bus(std::uint16_t shards) {
        auto done = bus_->create(shards);
        ASSERT_TRUE(done.has_value()) << done.error().message;
        producer_ = std::move(*bus_->open_producer());
    }
    void send(int shard, std::uint64_t first, std::uint64_t last, std::size_t bytes = 0) {
        for (auto id = first; id <= last; ++id) {
            producer_->send({.to = bus_->partition(ShardId(shard)), .json = event_json(id, bytes)},
                            [&](Result<void> result) { confirmed_ += result ? 1 : 0; });
        }
        auto done = producer_->flush(60s);
        ASSERT_TRUE(done.has_value()) << done.error().message;
    }
    std::unique_ptr<event::Source> source_at(std::uint64_t position, int shard = 0) {
        auto source = std::move(*bus_->open_source());
        auto done = source->resume(bus_->partition(ShardId(shard)), position);
        EXPECT_TRUE(done.has_value()) << done.error().message;
        return source;
    }

    std::optional<testing::RealKafka> kafka_ = testing::RealKafka::find();
    observe::testing::CapturedDiagnostics diag_;
    Options options_;
    std::unique_ptr<event::Bus> bus_;
    std::atomic<std::uint64_t> confirmed_{0};
    std::unique_ptr<event::Producer> producer_;
};

TEST_F(RealKafka, ABusIsMadeFoundAndRemoved) {
    options_.creation["retention.ms"] = "-1";
    options_.replication = 1;
    bus_ = std::move(*open_bus(options_, diag_));
    make_bus(3);

    EXPECT_TRUE(bus_->create(3).has_value());
    EXPECT_EQ(bus_->create(5).error().code, Errc::Conflict);
    auto removed = bus_->remove(3);
    EXPECT_TRUE(removed.has_value()) << removed.error().message;
    EXPECT_TRUE(bus_->remove(3).has_value());
    EXPECT_TRUE(bus_->create(5).has_value());

    auto wrong = options_;
    wrong.prefix += "-wrong";
    wrong.replication = 7;
    auto refused = std::move(*open_bus(wrong, diag_))->create(1);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Errc::InvalidInput);
}

TEST_F(RealKafka, WhatWasSentIsReadFromAnyPlace) {
    make_bus(2);
    send(0, 1, 10);
    send(1, 11, 15);

    auto source = source_at(4);
    EXPECT_TRUE(source->resume(bus_->partition(ShardId{1}), 0));
    auto reads = read_some(*source, 11);

    auto by_partition = std::map<std::string, std::vector<std::uint64_t>>{};
    for (const auto& read : reads) {
        by_partition[read.partition].push_back(read.number);
    }
    EXPECT_THAT(by_partition[bus_->partition(ShardId{0})], ElementsAre(5, 6, 7, 8, 9, 10));
    EXPECT_THAT(by_partition[bus_->partition(ShardId{1})], ElementsAre(1, 2, 3, 4, 5));
    EXPECT_EQ(source->lag(), 0);
    EXPECT_EQ(source->trouble(), "");
}

TEST_F(RealKafka, APositionThatWasRemovedIsRefused) {
    make_bus(1);
    send(0, 1, 10);
    auto outsider = Outsider{internal::Role::Consumer, options_, diag_};
    outsider.remove_records(options_.prefix, 0, 6);
    auto name = bus_->partition(ShardId{0});
    auto source = std::move(*bus_->open_source());

    auto refused = source->resume(name, 5);

    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("offsets 6 to 10"));
    ASSERT_TRUE(source->resume(name, 6));
    EXPECT_THAT(numbers(read_some(*source, 4)), ElementsAre(7, 8, 9, 10));
    ASSERT_TRUE(source->resume(name, 11));
    EXPECT_THAT(read_some(*source, 1)[0].fault, HasSubstr("cannot be read on from offset 11"));
}

TEST_F(RealKafka, GapsOfTransactionsAreSteppedOver) {
    make_bus(1);
    auto outsider = [&] {
        auto conf = std::move(*internal::make_conf(internal::Role::Producer, options_));
        auto text = std::array<char, 256>{};
        rd_kafka_conf_set(conf.get(), "transactional.id", options_.prefix.c_str(), nullptr, 0);
        rd_kafka_conf_set(conf.get(), "message.timeout.ms", "10000", nullptr, 0);
        return rd_kafka_new(RD_KAFKA_PRODUCER, conf.release(), text.data(), text.size());
    }();
    auto check = [](rd_kafka_error_t* error) {
        EXPECT_EQ(error, nullptr) << rd_kafka_error_string(error);
    };
    auto put = [&](const std::string& text) {
        auto* topic = rd_kafka_topic_new(outsider, options_.prefix.c_str(), nullptr);
        rd_kafka_produce(topic, 0, RD_KAFKA_MSG_F_COPY, const_cast<char*>(text.data()), text.size(),
                         nullptr, 0, nullptr);
        rd_kafka_topic_destroy(topic);
        rd_kafka_flush(outsider, 10000);
    };
    check(rd_kafka_init_transactions(outsider, 30000));
    for (auto id = 0U; id < 3; ++id) {
        check(rd_kafka_begin_transaction(outsider));
        put(event_json(id));
        check(id == 1 ? rd_kafka_abort_transaction(outsider, 10000)
                      : rd_kafka_commit_transaction(outsider, 10000));
    }
    rd_kafka_destroy(outsider);

    auto source = source_at(0);
    auto reads = read_some(*source, 2);

    EXPECT_THAT(texts(reads), ElementsAre(event_json(0), event_json(2)));
    EXPECT_THAT(numbers(reads), ElementsAre(1, 5));
    EXPECT_THAT(numbers(read_some(*source_at(1), 1)), ElementsAre(5));
}

TEST_F(RealKafka, TheGroupsPositionIsSeenByOthers) {
    make_bus(1);
    send(0, 1, 10);
    auto outsider = Outsider{internal::Role::Consumer, options_, diag_};
    auto source = source_at(0);
    EXPECT_EQ(read_some(*source, 10).size(), 10);

    source->confirm(bus_->partition(ShardId{0}), 7);
    EXPECT_TRUE(
        testing::read_until(*source, [&] { return outsider.committed(options_.prefix, 0) == 7; }));
    source->confirm(bus_->partition(ShardId{0}), 9);
    source.reset();

    EXPECT_EQ(outsider.committed(options_.prefix, 0), 9);
}

TEST_F(RealKafka, NewPartitionsOfATopicAreFound) {
    make_bus(1);
    auto options = options_;
    options.topics = {options_.prefix};
    options.settings["topic.metadata.refresh.interval.ms"] = "200";
    auto source = std::move(*open_source("topic", options, diag_));
    send(0, 1, 1);
    EXPECT_EQ(read_some(*source, 1).size(), 1);

    Outsider{internal::Role::Consumer, options_, diag_}.widen(options_.prefix, 3);
    producer_ = std::move(*bus_->open_producer());
    send(2, 2, 2);
    auto reads = read_some(*source, 1);

    ASSERT_EQ(reads.size(), 1);
    EXPECT_EQ(reads[0].partition, bus_->partition(ShardId{2}));
}

TEST_F(RealKafka, AGroupOfTwoReadsEverythingAndGoesOnAfterOneLeaves) {
    make_bus(4);
    auto options = options_;
    options.topics = {options_.prefix};
    options.group = options_.prefix + "-users";
    options.consume = Consume::Group;
    options.settings["session.timeout.ms"] = "6000";
    auto sources = std::vector<std::unique_ptr<event::Source>>{};
    sources.push_back(std::move(*open_source("one", options, diag_)));
    sources.push_back(std::move(*open_source("two", options, diag_)));
    auto missing = std::set<std::string>{};
    auto read_all = [&] {
        auto end = SystemClock{}.steady() + Nanos{40s};
        while (!missing.empty() && SystemClock{}.steady() < end) {
            for (auto& source : sources) {
                for (const auto& read : read_some(*source, 50, 200ms)) {
                    EXPECT_FALSE(read.is_numbered);
                    missing.erase(read.text);
                    source->confirm(read.partition, read.number);
                }
            }
        }
        return missing.empty();
    };
    auto send_all = [&](std::uint64_t first) {
        for (auto id = first; id < first + 40; ++id) {
            missing.insert(event_json(id));
            send(static_cast<int>(id % 4), id, id);
        }
    };

    send_all(0);
    EXPECT_TRUE(read_all());
    sources.pop_back();
    send_all(100);
    EXPECT_TRUE(read_all());
}

/// Producing and reading go on while the broker is killed and comes back, several times.
class RealKafkaFaults : public RealKafka, public ::testing::WithParamInterface<const char*> {};

TEST_P(RealKafkaFaults, NothingConfirmedIsLostAndOrderHolds) {
    constexpr auto shards = 3;
    constexpr auto events = 30'000U;
    make_bus(shards);
    auto source = source_at(0);
    EXPECT_TRUE(source->resume(bus_->partition(ShardId{1}), 0));
    EXPECT_TRUE(source->resume(bus_->partition(ShardId{2}), 0));
    auto mutex = std::mutex{};
    auto confirmed = std::set<std::uint64_t>{};
    auto refused = std::atomic<int>{0};
    auto sent = std::atomic<std::uint64_t>{0};
    auto sender = std::thread{[&] {
        for (auto id = std::uint64_t{0}; id < events; ++id) {
            producer_->send(
                {.to = bus_->partition(ShardId(id % shards)), .json = event_json(id, 200)},
                [&, id](Result<void> result) {
                    auto lock = std::scoped_lock{mutex};
                    result ? void(confirmed.insert(id)) : void(++refused);
                });
            sent = id + 1;
            if (id % 100 == 0) {
                std::this_thread::sleep_for(10ms); // It takes some seconds, on purpose.
            }
        }
    }};
    auto last = std::map<std::string, std::int64_t>{};
    auto last_number = std::map<std::string, std::uint64_t>{};
    auto seen = std::set<std::uint64_t>{};
    auto repeated = 0;
    auto read_on = [&](Nanos limit) {
        for (const auto& read : read_some(*source, 1, limit)) {
            ASSERT_EQ(read.fault, "");
            auto id = std::stoull(read.text.substr(read.text.find(R"("id":")") + 6));
            EXPECT_GT(read.number, last_number[read.partition]);
            last_number[read.partition] = read.number;
            auto& before = last.try_emplace(read.partition, -1).first->second;
            if (seen.insert(id).second) {
                EXPECT_GT(static_cast<std::int64_t>(id), before) << "out of order";
                before = static_cast<std::int64_t>(id);
            } else {
                ++repeated;
            }
        }
    };
    for (auto round = 1U; round <= 2; ++round) {
        while (seen.size() < round * events / 4) {
            read_on(1s);
        }
        auto breaker = std::thread{[&] {
            if (std::string_view{GetParam()} == "restart") {
                kafka_->order("restart");
            } else {
                kafka_->order("kill");
                kafka_->order("start");
            }
        }};
        while (sent < (round + 1) * events / 4) {
            read_on(200ms);
        }
        breaker.join();
    }
    sender.join();
    EXPECT_TRUE(producer_->flush(60s).has_value());
    auto end = SystemClock{}.steady() + Nanos{60s};
    while (seen.size() < confirmed.size() && SystemClock{}.steady() < end) {
        read_on(1s);
    }

    EXPECT_EQ(refused, 0);
    EXPECT_EQ(confirmed.size(), events);
    auto lost = std::vector<std::uint64_t>{};
    std::ranges::set_difference(confirmed, seen, std::back_inserter(lost));
    EXPECT_THAT(lost, IsEmpty());
    RecordProperty("repeated", repeated);
    std::printf("%u events, %d of them twice\n", events, repeated);
}

INSTANTIATE_TEST_SUITE_P(Ways, RealKafkaFaults, ::testing::Values("restart", "kill"),
                         [](const auto& info) { return info.param; });

TEST_F(RealKafka, AWrongPasswordIsToldWithoutShowingIt) {
    if (options_.user.empty()) {
        GTEST_SKIP() << "this Kafka asks for no password";
    }
    auto wrong = options_;
    wrong.password = "not-the-password";
    auto bus = std::move(*open_bus(wrong, diag_));

    auto done = bus->create(1);

    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Errc::Unavailable);
    EXPECT_THAT(done.error().message, HasSubstr("uthentication"));
    for (const auto& line : diag_.lines()) {
        EXPECT_EQ(line.find(wrong.password), std::string::npos) << line;
    }
}

TEST_F(RealKafka, ACertificateOfNobodyIsRefused) {
    if (!options_.tls.is_on) {
        GTEST_SKIP() << "this Kafka speaks no TLS";
    }
    auto wrong = options_;
    wrong.tls.ca.clear();

    auto done = std::move(*open_bus(wrong, diag_))->create(1);

    ASSERT_FALSE(done.has_value());
    EXPECT_THAT(done.error().message, HasSubstr("certificate"));
}

/// Prints how fast the source is beside a bare client: figures, not a test, since they depend on
/// what else the machine does.
TEST_F(RealKafka, ReadsALargePartitionWithoutAGap) {
    constexpr auto events = 200'000U;
    make_bus(1);
    auto begin = SystemClock{}.steady();
    send(0, 1, events, 300);
    auto seconds_of = [&] {
        return std::chrono::duration<double>(SystemClock{}.steady() - begin).count();
    };
    auto sending = events / seconds_of();
    EXPECT_EQ(confirmed_, events);
    auto ceiling = bus_->measure(ShardId{0}, events);
    ASSERT_TRUE(ceiling.has_value()) << ceiling.error().message;
    auto source = source_at(0);
    auto seen = std::size_t{0};
    while (seen < events) {
        auto chunk = source->read(1 << 20, 5s);
        ASSERT_TRUE(chunk.has_value());
        ASSERT_FALSE(chunk->records.empty());
        begin = seen == 0 ? SystemClock{}.steady() : begin;
        EXPECT_EQ(chunk->records.front().number, seen + 1);
        seen += chunk->records.size();
        EXPECT_EQ(chunk->records.back().number, seen);
        source->confirm(chunk->partition, chunk->records.back().number);
    }

    std::printf("send %.0f, source %.0f, bare by position %.0f, bare by group %.0f events/s\n",
                sending, events / seconds_of(), ceiling->position_events_per_second,
                ceiling->group_events_per_second);
}

} // namespace
} // namespace sluice::connector::kafka
