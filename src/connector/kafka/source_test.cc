#include "connector/kafka/source.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/kafka/internal/client.h"
#include "connector/kafka/internal/fetcher.h"
#include "connector/kafka/producer.h"
#include "connector/kafka/testing/mock_cluster.h"
#include "connector/kafka/testing/reading.h"
#include "observe/testing/captured_diagnostics.h"

namespace sluice::connector::kafka {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::numbers;
using testing::Read;
using testing::read_some;
using testing::read_until;
using testing::texts;

/// What the broker knows as the group's position; -1001: nothing.
class Watcher : private internal::Listener {
public:
    Watcher(const Options& options, observe::Diagnostics& diag)
        : client_(*internal::Client::open(internal::Role::Consumer, options, diag, *this)) {}

    std::int64_t committed(const std::string& topic, int partition) {
        auto list = internal::list_of({.topic = topic, .partition = partition}, 0);
        rd_kafka_committed(client_->get(), list.get(), 2000);
        return list->elems[0].offset;
    }

private:
    void on_error(rd_kafka_resp_err_t, std::string_view) override {}

    std::unique_ptr<internal::Client> client_;
};

/// Both ways of reading promise the same.
class KafkaSource : public ::testing::TestWithParam<Reading> {
protected:
    KafkaSource() {
        cluster_.make_topic("sluice", 4);
        cluster_.make_topic("orders", 3);
    }

    void put(const std::string& topic, int partition, std::uint64_t first, std::uint64_t last) {
        for (auto id = first; id <= last; ++id) {
            cluster_.put(topic, partition, testing::event_json(id));
        }
    }
    std::unique_ptr<event::Source> open_bus_source() {
        return std::move(*open_partitions("bus", options_of("sluice"), diag_));
    }
    Options options_of(std::string_view prefix) {
        auto options = cluster_.options(prefix);
        options.reading = GetParam();
        return options;
    }
    Options orders() {
        auto options = options_of("sluice");
        options.topics = {"orders"};
        options.group = "readers";
        options.settings["topic.metadata.refresh.interval.ms"] = "50";
        return options;
    }

    observe::testing::CapturedDiagnostics diag_;
    testing::MockCluster cluster_{2};
};

TEST_P(KafkaSource, ReadsAPartitionFromItsBeginning) {
    put("sluice", 1, 1, 3);
    auto source = open_bus_source();

    ASSERT_TRUE(source->resume("sluice/1", 0));
    auto reads = read_some(*source, 3);

    EXPECT_THAT(texts(reads), ElementsAre(testing::event_json(1), testing::event_json(2),
                                          testing::event_json(3)));
    EXPECT_THAT(numbers(reads), ElementsAre(1, 2, 3));
    EXPECT_EQ(reads[0].partition, "sluice/1");
    EXPECT_TRUE(reads[0].is_numbered);
}

TEST_P(KafkaSource, ResumesInTheMiddle) {
    put("sluice", 0, 1, 5);
    auto source = open_bus_source();

    ASSERT_TRUE(source->resume("sluice/0", 3));

    EXPECT_THAT(numbers(read_some(*source, 2)), ElementsAre(4, 5));
}

TEST_P(KafkaSource, ReadsOnlyWhatWasResumed) {
    put("sluice", 0, 1, 2);
    put("sluice", 3, 3, 4);
    auto source = open_bus_source();

    ASSERT_TRUE(source->resume("sluice/3", 0));
    auto reads = read_some(*source, 2);

    EXPECT_THAT(texts(reads), ElementsAre(testing::event_json(3), testing::event_json(4)));
    EXPECT_THAT(read_some(*source, 1, 500ms), IsEmpty());
}

TEST_P(KafkaSource, TakesNoMoreThanAboutWhatWasAskedFor) {
    put("sluice", 0, 1, 10);
    auto source = open_bus_source();
    ASSERT_TRUE(source->resume("sluice/0", 0));
    auto size = testing::event_json(1).size();

    auto seen = std::size_t{0};
    while (seen < 10) {
        auto chunk = source->read(3 * size, 20s);
        ASSERT_TRUE(chunk.has_value());
        ASSERT_FALSE(chunk->records.empty());
        EXPECT_LE(chunk->records.size(), 3);
        seen += chunk->records.size();
    }
    auto nothing = source->read(1, 0s);
    EXPECT_THAT(nothing->records, IsEmpty());
}

TEST_P(KafkaSource, LargerThanAskedForStillComes) {
    put("sluice", 0, 1, 1);
    auto source = open_bus_source();
    ASSERT_TRUE(source->resume("sluice/0", 0));

    EXPECT_EQ(read_some(*source, 1, 20s, 1).size(), 1);
}

TEST_P(KafkaSource, WhatIsLeftComesAgainWhenItIsResumed) {
    put("sluice", 0, 1, 3);
    put("sluice", 1, 4, 5);
    auto source = open_bus_source();
    ASSERT_TRUE(source->resume("sluice/0", 0));
    EXPECT_EQ(read_some(*source, 3).size(), 3);

    source->leave("sluice/0");
    ASSERT_TRUE(source->resume("sluice/1", 0));
    put("sluice", 0, 6, 6);
    EXPECT_THAT(texts(read_some(*source, 2)),
                ElementsAre(testing::event_json(4), testing::event_json(5)));
    EXPECT_THAT(read_some(*source, 1, 500ms), IsEmpty());
    ASSERT_TRUE(source->resume("sluice/0", 1));

    EXPECT_THAT(numbers(read_some(*source, 3)), ElementsAre(2, 3, 4));
}

TEST_P(KafkaSource, APositionThatIsPastTheEndIsAnErrorForGood) {
    put("sluice", 0, 1, 2);
    put("sluice", 1, 1, 1);
    auto source = open_bus_source();
    ASSERT_TRUE(source->resume("sluice/0", 50));

    auto reads = read_some(*source, 1);

    ASSERT_EQ(reads.size(), 1);
    EXPECT_THAT(reads[0].fault, HasSubstr("sluice/0 cannot be read on from offset 50"));
    EXPECT_THAT(reads[0].fault, HasSubstr("offsets 0 to 2"));
    EXPECT_FALSE(source->read(1000, 0s).has_value());
    source->leave("sluice/0");
    ASSERT_TRUE(source->resume("sluice/1", 0));
    EXPECT_EQ(read_some(*source, 1)[0].fault, "");
}

TEST_P(KafkaSource, APositionThatTheBrokerNoLongerHasIsRefused) {
    // The mock drops what is older than some megabytes.
    auto large = testing::event_json(1, 900'000);
    for (auto at = 0; at < 10; ++at) {
        cluster_.put("sluice", 2, large);
    }
    auto source = open_bus_source();

    auto done = source->resume("sluice/2", 0);

    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Errc::NotFound);
    EXPECT_THAT(done.error().message, HasSubstr("sluice/2 cannot be read on from offset 0"));
}

TEST_P(KafkaSource, WhatIsNotAPartitionIsRefused) {
    auto source = open_bus_source();

    EXPECT_EQ(source->resume("sluice", 0).error().code, Errc::InvalidInput);
    EXPECT_EQ(source->resume("sluice/17", 0).error().code, Errc::NotFound);
    EXPECT_EQ(source->resume("sluice/0", ~0ULL).error().code, Errc::InvalidInput);
    source->leave("nonsense");
    source->confirm("nonsense", 3);
}

TEST_P(KafkaSource, BothModesOfTheBindingAreRead) {
    cluster_.put("sluice", 0, testing::event_json(1),
                 {{"content-type", "application/cloudevents+json; charset=UTF-8"}, {"x", "y"}});
    cluster_.put("sluice", 0, R"({"n":1})",
                 {{"ce_specversion", "1.0"},
                  {"ce_id", "7"},
                  {"ce_source", "/s"},
                  {"ce_type", "größer"},
                  {"ce_run", "r"},
                  {"Content-Type", "application/json"}});
    cluster_.put("sluice", 0, "",
                 {{"ce_specversion", "1.0"}, {"ce_id", "8"}, {"ce_source", "/s"}, {"ce_type", "t"}},
                 false);
    auto source = open_bus_source();
    ASSERT_TRUE(source->resume("sluice/0", 0));

    auto reads = read_some(*source, 3);

    ASSERT_EQ(reads.size(), 3);
    EXPECT_EQ(reads[0].text, testing::event_json(1));
    auto codec = event::Codec{};
    auto binary = codec.parse(reads[1].text);
    ASSERT_TRUE(binary.has_value()) << reads[1].text << binary.error().message;
    EXPECT_EQ(binary->type(), "größer");
    EXPECT_EQ(binary->data_json(), R"({"n":1})");
    auto empty = codec.parse(reads[2].text);
    ASSERT_TRUE(empty.has_value()) << reads[2].text;
    EXPECT_FALSE(empty->has_data());
}

TEST_P(KafkaSource, WhatIsNoEventIsARecordWithAFault) {
    cluster_.put("sluice", 0, "<xml/>", {{"content-type", "text/xml"}});
    cluster_.put("sluice", 0, "x", {{"content-type", "application/cloudevents+avro"}});
    cluster_.put("sluice", 0, "x", {{"ce_ID!", "1"}});
    cluster_.put("sluice", 0, std::string(1'048'000, 'x') + std::string(577, 'y'));
    cluster_.put("sluice", 0, testing::event_json(5));
    auto source = open_bus_source();
    ASSERT_TRUE(source->resume("sluice/0", 0));

    auto reads = read_some(*source, 5);

    ASSERT_EQ(reads.size(), 5);
    EXPECT_THAT(reads[0].fault, HasSubstr("text/xml"));
    EXPECT_THAT(reads[1].fault, HasSubstr("avro"));
    EXPECT_NE(reads[2].fault, "");
    EXPECT_THAT(reads[3].fault, HasSubstr("bytes"));
    EXPECT_EQ(reads[4].fault, "");
    EXPECT_THAT(numbers(reads), ElementsAre(1, 2, 3, 4, 5));
}

TEST_P(KafkaSource, TheGroupsPositionFollowsWhatIsConfirmed) {
    auto options = cluster_.options();
    options.group = "lagging";
    put("sluice", 0, 1, 5);
    auto watcher = Watcher{options, diag_};
    {
        auto source = std::move(*open_partitions("bus", options, diag_));
        ASSERT_TRUE(source->resume("sluice/0", 0));
        EXPECT_EQ(read_some(*source, 5).size(), 5);
        EXPECT_EQ(watcher.committed("sluice", 0), RD_KAFKA_OFFSET_INVALID);
        source->confirm("sluice/0", 2);
        EXPECT_TRUE(read_until(*source, [&] { return watcher.committed("sluice", 0) == 2; }));
        source->confirm("sluice/0", 5);
    }
    EXPECT_EQ(watcher.committed("sluice", 0), 5);
}

TEST_P(KafkaSource, LagIsWhatLiesBehindWhatWasHandedOut) {
    put("sluice", 0, 1, 6);
    auto source = open_bus_source();
    EXPECT_EQ(source->lag(), std::nullopt);
    ASSERT_TRUE(source->resume("sluice/0", 1));

    auto chunk = source->read(testing::event_json(1).size() * 2, 20s);

    ASSERT_TRUE(chunk.has_value());
    EXPECT_EQ(source->lag(), 5 - chunk->records.size());
}

TEST_P(KafkaSource, NamesThePartitionsOfItsTopics) {
    auto options = orders();
    auto source = std::move(*open_source("orders", options, diag_));
    EXPECT_THAT(*source->partitions(), ElementsAre("orders/0", "orders/1", "orders/2"));

    options.topics = {"elsewhere"};
    rd_kafka_mock_topic_set_error(cluster_.get(), "elsewhere",
                                  RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    auto later = std::move(*open_source("later", options, diag_));
    EXPECT_THAT(*later->partitions(), IsEmpty());
}

TEST_P(KafkaSource, ATopicIsReadWhole) {
    put("orders", 0, 1, 2);
    put("orders", 2, 3, 4);
    auto source = std::move(*open_source("orders", orders(), diag_));

    auto reads = read_some(*source, 4);

    auto sums = std::map<std::string, std::size_t>{};
    std::ranges::for_each(reads, [&](const auto& read) { ++sums[read.partition]; });
    EXPECT_EQ(sums, (std::map<std::string, std::size_t>{{"orders/0", 2}, {"orders/2", 2}}));
}

TEST_P(KafkaSource, OfATopicKnownPositionsAreResumedAndOthersBegin) {
    put("orders", 0, 1, 3);
    put("orders", 1, 4, 5);
    auto source = std::move(*open_source("orders", orders(), diag_));
    ASSERT_TRUE(source->resume("orders/0", 2));
    EXPECT_EQ(source->resume("sluice/0", 0).error().code, Errc::InvalidInput);

    auto found = texts(read_some(*source, 3));

    std::ranges::sort(found);
    EXPECT_THAT(
        found, ElementsAre(testing::event_json(3), testing::event_json(4), testing::event_json(5)));
}

TEST_P(KafkaSource, AStartAtTheEndSkipsWhatWasThere) {
    put("orders", 0, 1, 3);
    auto options = orders();
    options.start = Start::End;
    auto source = std::move(*open_source("orders", options, diag_));

    // Where the end was when it was asked for is not told: what came before that is skipped too.
    auto reads = std::vector<Read>{};
    for (auto id = std::uint64_t{4}; reads.empty() && id < 100; ++id) {
        put("orders", 0, id, id);
        reads = read_some(*source, 1, 300ms);
    }

    ASSERT_FALSE(reads.empty());
    EXPECT_GT(reads[0].number, 3U);
}

TEST_P(KafkaSource, ATopicThatIsNotThereIsTroubleUntilItIs) {
    auto options = orders();
    options.topics = {"later"};
    // The mock makes every topic that is asked for, unless it is told to deny it.
    rd_kafka_mock_topic_set_error(cluster_.get(), "later", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    auto source = std::move(*open_source("later", options, diag_));
    // A slow broker is a trouble too, until it has said that the topic is unknown.
    auto unknown = std::string{rd_kafka_err2str(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)};
    ASSERT_TRUE(read_until(*source, [&] { return source->trouble().contains(unknown); }));
    EXPECT_THAT(source->trouble(), HasSubstr("later"));

    rd_kafka_mock_topic_set_error(cluster_.get(), "later", RD_KAFKA_RESP_ERR_NO_ERROR);
    put("later", 0, 1, 1);

    EXPECT_EQ(read_some(*source, 1).size(), 1);
    EXPECT_TRUE(read_until(*source, [&] { return source->trouble().empty(); }));
}

TEST_P(KafkaSource, ABrokerThatGoesAndComesBackIsReadOn) {
    cluster_.make_topic("alone", 1);
    rd_kafka_mock_partition_set_leader(cluster_.get(), "alone", 0, 1);
    auto options = options_of("alone");
    put("alone", 0, 1, 2);
    auto source = std::move(*open_partitions("bus", options, diag_));
    ASSERT_TRUE(source->resume("alone/0", 0));
    EXPECT_EQ(read_some(*source, 2).size(), 2);

    rd_kafka_mock_broker_set_down(cluster_.get(), 1);
    rd_kafka_mock_broker_set_down(cluster_.get(), 2);
    ASSERT_TRUE(read_until(*source, [&] { return !source->trouble().empty(); }));
    rd_kafka_mock_broker_set_up(cluster_.get(), 1);
    rd_kafka_mock_broker_set_up(cluster_.get(), 2);
    put("alone", 0, 3, 3);

    EXPECT_THAT(numbers(read_some(*source, 1)), ElementsAre(3));
    EXPECT_TRUE(read_until(*source, [&] { return source->trouble().empty(); }));
}

TEST_P(KafkaSource, APartitionThatNobodyLeadsDoesNotHoldUpTheOthers) {
    auto lead = [&](int partition, int broker) {
        rd_kafka_mock_partition_set_leader(cluster_.get(), "sluice", partition, broker);
    };
    lead(0, 1);
    lead(1, 1);
    put("sluice", 1, 1, 1);
    auto source = open_bus_source();
    ASSERT_TRUE(source->resume("sluice/0", 0));
    ASSERT_TRUE(source->resume("sluice/1", 0));
    ASSERT_THAT(texts(read_some(*source, 1)), ElementsAre(testing::event_json(1)));

    lead(0, -1);
    lead(1, 2);
    put("sluice", 1, 2, 2);
    EXPECT_THAT(texts(read_some(*source, 1)), ElementsAre(testing::event_json(2)));

    lead(0, 1);
    put("sluice", 0, 3, 3);
    EXPECT_THAT(texts(read_some(*source, 1)), ElementsAre(testing::event_json(3)));
}

TEST_P(KafkaSource, APartitionThatGetsItsLeaderBehindTheOthersIsRead) {
    auto lead = [&](int partition, int broker) {
        rd_kafka_mock_partition_set_leader(cluster_.get(), "sluice", partition, broker);
    };
    lead(0, 1);
    lead(1, 1);
    put("sluice", 0, 1, 1);
    put("sluice", 1, 2, 2);
    auto source = open_bus_source();
    ASSERT_TRUE(source->resume("sluice/0", 0));
    ASSERT_TRUE(source->resume("sluice/1", 0));
    ASSERT_EQ(texts(read_some(*source, 2)).size(), 2);

    lead(1, -1);
    lead(0, 2);
    put("sluice", 0, 3, 3);
    EXPECT_THAT(texts(read_some(*source, 1)), ElementsAre(testing::event_json(3)));

    lead(1, 1);
    put("sluice", 1, 4, 4);
    EXPECT_THAT(texts(read_some(*source, 1)), ElementsAre(testing::event_json(4)));
}

TEST_P(KafkaSource, FailingFetchesAreTriedAgain) {
    put("sluice", 0, 1, 2);
    constexpr auto fetch = 1;
    rd_kafka_mock_push_request_errors(cluster_.get(), fetch, 3,
                                      RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                                      RD_KAFKA_RESP_ERR_UNKNOWN, RD_KAFKA_RESP_ERR__TRANSPORT);
    auto source = open_bus_source();
    ASSERT_TRUE(source->resume("sluice/0", 0));

    EXPECT_THAT(numbers(read_some(*source, 2)), ElementsAre(1, 2));
}

TEST_P(KafkaSource, WithoutABrokerNothingHangs) {
    auto options = *parse_url("kafka://127.0.0.1:1/nowhere");
    options.reading = GetParam();
    auto begin = SystemClock{}.steady();
    {
        auto source = std::move(*open_partitions("bus", options, diag_));
        ASSERT_TRUE(source->resume("nowhere/0", 5));
        auto chunk = source->read(1000, 100ms);
        ASSERT_TRUE(chunk.has_value());
        EXPECT_THAT(chunk->records, IsEmpty());
        EXPECT_NE(source->trouble(), "");
        source->confirm("nowhere/0", 6);
    }
    EXPECT_LT(SystemClock{}.steady() - begin, Nanos{15s});
}

INSTANTIATE_TEST_SUITE_P(Ways, KafkaSource, ::testing::Values(Reading::Direct, Reading::Library),
                         [](const auto& info) {
                             return info.param == Reading::Direct ? "Direct" : "Library";
                         });

class KafkaDirect : public ::testing::Test {
protected:
    KafkaDirect() { cluster_.make_topic("sluice", 1); }

    std::unique_ptr<event::Source> open(const Options& options) {
        return std::move(*open_partitions("bus", options, diag_));
    }

    observe::testing::CapturedDiagnostics diag_;
    testing::MockCluster cluster_{1};
};

TEST_F(KafkaDirect, WhatItCannotReadTheLibraryReadsFromThere) {
    auto packing = cluster_.options();
    packing.settings["compression.codec"] = "gzip";
    cluster_.put("sluice", 0, testing::event_json(1));
    auto producer = std::move(*Producer::open(packing, diag_));
    ASSERT_EQ(testing::send_and_wait(*producer, "sluice/0", testing::event_json(2, 10'000)), "");
    cluster_.put("sluice", 0, testing::event_json(3));
    auto source = open(cluster_.options());
    ASSERT_TRUE(source->resume("sluice/0", 0));

    EXPECT_THAT(numbers(read_some(*source, 3)), ElementsAre(1, 2, 3));
    EXPECT_THAT(diag_.lines(), ::testing::Contains(HasSubstr("gzip")));
}

TEST_F(KafkaDirect, ABrokerThatRefusesTheVersionIsReadByTheLibrary) {
    constexpr auto fetch = 1;
    rd_kafka_mock_push_request_errors(cluster_.get(), fetch, 1,
                                      RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE);
    cluster_.put("sluice", 0, testing::event_json(1));
    auto source = open(cluster_.options());
    ASSERT_TRUE(source->resume("sluice/0", 0));

    EXPECT_THAT(numbers(read_some(*source, 1)), ElementsAre(1));
    EXPECT_THAT(diag_.lines(), ::testing::Contains(HasSubstr("compression")));
}

TEST_F(KafkaDirect, PropertiesOfTheLibrarysReadingAreForTheLibrary) {
    auto options = cluster_.options();
    EXPECT_TRUE(internal::Fetcher::suits(options));

    options.settings["compression.codec"] = "lz4";
    EXPECT_TRUE(internal::Fetcher::suits(options)) << "it is the producer's";
    options.settings["fetch.max.bytes"] = "100000";
    EXPECT_FALSE(internal::Fetcher::suits(options));

    options = cluster_.options();
    options.user = "somebody";
    EXPECT_FALSE(internal::Fetcher::suits(options)) << "SASL is the library's";
}

} // namespace
} // namespace sluice::connector::kafka
