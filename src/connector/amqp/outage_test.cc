#include <atomic>
#include <map>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/amqp/internal/stream/connection.h"
#include "connector/amqp/testing/broker_fixture.h"
#include "event/codec.h"

namespace sluice::connector::amqp {

namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using testing::event_json;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::StreamWay;

// How far a sender runs ahead of its reader.
constexpr auto ahead_max = std::uint64_t{3000};

/// Sends numbered events from a thread of its own until it is told to end.
class Sender {
public:
    Sender(const Options& options, observe::Diagnostics& diagnostics)
        : producer_(open_producer(options, diagnostics)),
          queue_(options.queue),
          thread_([this] { run(); }) {}
    ~Sender() { end(); }
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    /// Until everything is confirmed; how many were sent.
    std::uint64_t end() {
        is_ending_ = true;
        if (thread_.joinable()) {
            thread_.join();
            auto flushed = producer_->flush(90s);
            EXPECT_TRUE(flushed) << flushed.error().message;
        }
        return sent_;
    }
    /// It may send this many in all; until it is told, a few.
    void allow(std::uint64_t count) { allowed_ = count; }
    std::uint64_t confirmed() const { return confirmed_; }
    std::uint64_t failed() const { return failed_; }

private:
    void run() {
        while (!is_ending_) {
            if (sent_ >= allowed_) {
                std::this_thread::yield();
                continue;
            }
            auto id = ++sent_;
            producer_->send(
                {.to = queue_, .key = std::to_string(id), .json = event_json(id)},
                [this](const Result<void>& result) { (result ? confirmed_ : failed_) += 1; });
        }
    }

    std::unique_ptr<event::Producer> producer_;
    std::string queue_;
    std::atomic<bool> is_ending_ = false;
    std::atomic<std::uint64_t> allowed_ = ahead_max;
    std::atomic<std::uint64_t> sent_ = 0;
    std::atomic<std::uint64_t> confirmed_ = 0;
    std::atomic<std::uint64_t> failed_ = 0;
    std::thread thread_;
};

/// What a reader saw: each event when it came first, and whether the order was kept.
class Seen {
public:
    void add(const event::Chunk& chunk) {
        for (const auto& record : chunk.records) {
            auto json = std::string_view{*chunk.bytes}.substr(record.begin, record.size);
            auto event = codec_.parse_shared(json, chunk.bytes);
            ASSERT_TRUE(event) << event.error().message;
            auto id = std::stoull(std::string{event->id()});
            if (ids_.insert(id).second) {
                is_ordered_ = is_ordered_ && id > last_id_;
                last_id_ = id;
            }
            is_rising_ = is_rising_ && record.number > last_number_;
            last_number_ = record.number;
        }
    }
    std::size_t count() const { return ids_.size(); }
    bool is_ordered() const { return is_ordered_; }
    bool is_rising() const { return is_rising_; }
    std::uint64_t last_number() const { return last_number_; }
    /// The first few that did not come, though later ones did.
    std::string missing() const {
        auto text = std::string{};
        auto next = std::uint64_t{1};
        for (auto id : ids_) {
            for (; next < id && text.size() < 200; ++next) {
                text += std::to_string(next) + " ";
            }
            next = id + 1;
        }
        return text + "and what is behind " + std::to_string(last_id_);
    }

private:
    event::Codec codec_;
    std::set<std::uint64_t> ids_;
    std::uint64_t last_id_ = 0;
    std::uint64_t last_number_ = 0;
    bool is_ordered_ = true;
    bool is_rising_ = true;
};

class OutageTest : public testing::BrokerFixture {
protected:
    /// Reads and confirms until `is_done`, at most two minutes.
    void read_until(event::Source& source, const std::string& queue, Seen& seen,
                    const std::function<bool()>& is_done, Sender* sender = nullptr) {
        auto deadline = Steady::now() + 60s;
        while (!is_done() && Steady::now() < deadline) {
            auto chunk = source.read(64 * 1024, 20ms);
            ASSERT_TRUE(chunk) << chunk.error().message;
            if (!chunk->records.empty()) {
                seen.add(*chunk);
                source.confirm(queue, chunk->records.back().number);
            }
            if (sender != nullptr) {
                sender->allow(seen.count() + ahead_max);
            }
        }
        EXPECT_TRUE(is_done()) << "trouble: " << source.trouble() << ", seen " << seen.count()
                               << " up to " << seen.last_number() << ", missing " << seen.missing();
    }
};

/// One queue that is written and read at once.
struct Traffic {
    Options options;
    std::unique_ptr<event::Source> source;
    std::unique_ptr<Sender> sender;
    Seen seen{};
};

TEST_F(OutageTest, NothingConfirmedIsLostWhenTheBrokerIsKilled) {
    auto all = std::vector<Traffic>{};
    for (auto type :
         {QueueType::Stream, QueueType::Stream, QueueType::Quorum, QueueType::Classic}) {
        auto options = server_->options();
        options.type = type;
        if (all.empty()) {
            options.stream_port = std::uint16_t{0};
        }
        options.give_up = 90s;
        // A quorum queue that comes back hands what nobody had to its new reader first, and only
        // then what the one that is gone had not acknowledged; unless it has one reader at a time.
        options.is_single_active = type == QueueType::Quorum;
        all.push_back({.options = queue_options(std::move(options))});
    }
    // Killed within minutes after a queue was made, RabbitMQ 3.10 may forget who leads it.
    server_->stop();
    ASSERT_EQ(server_->start(), "");
    for (auto& each : all) {
        each.source = open_source(each.options, diagnostics_);
        ASSERT_TRUE(each.source->resume(each.options.queue, 0));
        each.sender = std::make_unique<Sender>(each.options, diagnostics_);
    }
    auto read_more = [&](Traffic& traffic, std::size_t count) {
        auto wanted = traffic.seen.count() + count;
        read_until(
            *traffic.source, traffic.options.queue, traffic.seen,
            [&] { return traffic.seen.count() >= wanted; }, traffic.sender.get());
    };
    for (auto& each : all) {
        read_more(each, 1000);
    }

    server_->kill();
    for (auto& each : all) {
        read_until(
            *each.source, each.options.queue, each.seen,
            [&] { return !each.source->trouble().empty(); }, each.sender.get());
    }
    ASSERT_EQ(server_->start(), "");

    for (auto& each : all) {
        read_more(each, 1000);
        auto sent = each.sender->end();
        read_more(each, sent - each.seen.count());
        EXPECT_EQ(each.sender->confirmed(), sent);
        EXPECT_EQ(each.seen.count(), sent) << to_string(each.options.type);
        EXPECT_TRUE(each.seen.is_ordered()) << to_string(each.options.type);
        EXPECT_TRUE(each.seen.is_rising());
        EXPECT_EQ(each.source->trouble(), "");
    }
}

class StreamOutageTest : public OutageTest, public ::testing::WithParamInterface<StreamWay> {};

INSTANTIATE_TEST_SUITE_P(Ways, StreamOutageTest,
                         ::testing::Values(StreamWay::ByStreamProtocol, StreamWay::ByAmqp),
                         [](const auto& each) { return to_string(each.param); });

TEST_P(StreamOutageTest, SurvivesARestartWhileNothingHappens) {
    auto options = stream_options(GetParam());
    publish(options, options.queue, 1, 100);
    auto source = open_source(options, diagnostics_);
    ASSERT_TRUE(source->resume(options.queue, 0));
    auto producer = open_producer(options, diagnostics_);
    auto seen = Seen{};
    read_until(*source, options.queue, seen, [&] { return seen.count() == 100; });

    server_->stop();
    ASSERT_EQ(server_->start(), "");
    producer->send(
        {.to = options.queue, .key = "101", .json = event_json(101)},
        [](const Result<void>& result) { EXPECT_TRUE(result) << result.error().message; });
    ASSERT_TRUE(producer->flush(60s));

    read_until(*source, options.queue, seen, [&] { return seen.count() == 101; });
    EXPECT_TRUE(seen.is_rising());
}

TEST_P(StreamOutageTest, FindsOutThatTheBrokerHangs) {
    auto options = stream_options(GetParam());
    options.heartbeat = 1s;
    auto source = open_source(options, diagnostics_);
    ASSERT_TRUE(source->resume(options.queue, 0));
    auto sender = Sender{options, diagnostics_};
    auto seen = Seen{};
    read_until(*source, options.queue, seen, [&] { return seen.count() >= 100; }, &sender);

    server_->pause();
    read_until(*source, options.queue, seen, [&] { return !source->trouble().empty(); }, &sender);
    server_->resume();
    auto before = seen.count();
    read_until(*source, options.queue, seen, [&] { return seen.count() > before + 100; }, &sender);
    auto sent = sender.end();
    read_until(*source, options.queue, seen, [&] { return seen.count() >= sent; });

    EXPECT_EQ(sender.confirmed(), sent);
    EXPECT_TRUE(seen.is_ordered());
}

TEST_P(StreamOutageTest, KeepsTheConnectionWhileNobodyReads) {
    auto options = stream_options(GetParam());
    options.heartbeat = 1s;
    auto source = open_source(options, diagnostics_);
    ASSERT_TRUE(source->resume(options.queue, 0));
    auto producer = open_producer(options, diagnostics_);
    auto send = [&] {
        producer->send({.to = options.queue, .key = "k", .json = event_json(1)},
                       [](const Result<void>& result) { EXPECT_TRUE(result); });
        return producer->flush(30s).has_value();
    };
    ASSERT_TRUE(send());

    // A broker that hears nothing hangs up after two or three heartbeats.
    auto until = Steady::now() + 5s;
    ASSERT_TRUE(wait_until([&] { return Steady::now() > until; }));

    EXPECT_TRUE(send());
    EXPECT_EQ(read(*source, 2).size(), 2);
    EXPECT_THAT(diagnostics_.lines(), Not(Contains(HasSubstr("broker lost"))));
}

TEST_F(OutageTest, GivesUpWhenTheBrokerIsNotReached) {
    auto options = server_->options();
    options.port = 1;
    options.give_up = 300ms;
    auto source = open_source(options, diagnostics_);
    auto producer = open_producer(options, diagnostics_);
    auto failure = Result<void>{};

    EXPECT_TRUE(source->resume("queue", 0)) << "it may come yet";
    auto began = Steady::now();
    auto nothing = source->read(1000, 100ms);
    auto waited = Steady::now() - began;
    producer->send({.to = "queue", .key = "1", .json = event_json(1)},
                   [&](Result<void> result) { failure = std::move(result); });
    ASSERT_TRUE(producer->flush(30s));

    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->records.empty());
    EXPECT_LT(waited, 1s);
    EXPECT_THAT(source->trouble(), HasSubstr("amqp://127.0.0.1:1 cannot be reached"));
    ASSERT_FALSE(failure);
    EXPECT_EQ(failure.error().code, Errc::Unavailable);
    EXPECT_THAT(failure.error().message, HasSubstr("cannot be reached"));
}

TEST_P(StreamOutageTest, SaysThatThePasswordIsWrongButNotWhich) {
    auto options = stream_options(GetParam());
    options.password = "shibboleth";
    auto source = open_source(options, diagnostics_);

    ASSERT_TRUE(source->resume(options.queue, 0));

    EXPECT_TRUE(wait_until([&] { return !source->trouble().empty(); }));
    EXPECT_THAT(source->trouble(), HasSubstr("user sluice cannot log in"));
    EXPECT_THAT(source->trouble(), Not(HasSubstr("shibboleth")));
    EXPECT_THAT(diagnostics_.lines(), Not(Contains(HasSubstr("shibboleth"))));
}

TEST_F(OutageTest, SpeaksTls) {
    auto options = queue_options(QueueType::Stream);
    auto secure = server_->tls_options();
    secure.queue = options.queue;

    publish(secure, options.queue, 1, 3000);
    for (auto port : {secure.stream_port, std::optional{std::uint16_t{0}}}) {
        secure.stream_port = port;
        auto source = open_source(secure, diagnostics_);
        ASSERT_TRUE(source->resume(options.queue, 0));
        EXPECT_EQ(read(*source, 3000).size(), 3000);
    }
    expect_no_change_of_way();
}

TEST_F(OutageTest, TrustsNoBrokerUnseen) {
    auto unknown = server_->tls_options();
    unknown.tls.ca_file.clear();
    auto misnamed = server_->tls_options();
    misnamed.host = "127.0.0.1";
    auto careless = misnamed;
    careless.tls.is_verified = false;
    auto missing = server_->tls_options();
    missing.tls.ca_file = "/nowhere/ca.pem";

    auto by_stream = [](const Options& options) {
        auto node =
            internal::stream::Node{.host = options.host, .port = options.effective_stream_port()};
        return internal::stream::Connection::open(options, node, "test").has_value();
    };

    EXPECT_FALSE(by_stream(unknown));
    EXPECT_FALSE(by_stream(misnamed));
    EXPECT_TRUE(by_stream(careless));
    EXPECT_FALSE(by_stream(missing));
    EXPECT_FALSE(internal::Connection::open(unknown, "test"));
    EXPECT_FALSE(internal::Connection::open(misnamed, "test"));
    EXPECT_TRUE(internal::Connection::open(careless, "test"));
    auto refused = internal::Connection::open(missing, "test");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("/nowhere/ca.pem"));
}

} // namespace

} // namespace sluice::connector::amqp
