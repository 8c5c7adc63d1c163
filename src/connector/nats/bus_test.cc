#include "connector/nats/bus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/nats/streams.h"
#include "connector/nats/testing/events.h"
#include "connector/nats/testing/nats_server.h"
#include "observe/testing/captured_diagnostics.h"

namespace sluice::connector::nats {

namespace {

using ::testing::HasSubstr;
using testing::NatsServer;
using testing::read_all;
using testing::send_all;

constexpr auto call_wait = std::chrono::seconds{5};

class BusTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (!NatsServer::is_installed()) {
            GTEST_SKIP() << "nats-server is not installed";
        }
        server_ = NatsServer::start().value();
        options_ = server_->options();
    }

    std::unique_ptr<event::Bus> open() { return open_bus(options_, diagnostics_).value(); }

    std::unique_ptr<Session> session() {
        return Session::open(options_, "test", Session::Reconnect::Never).value();
    }

    std::unique_ptr<NatsServer> server_;
    Options options_;
    observe::testing::CapturedDiagnostics diagnostics_;
};

} // namespace

TEST_F(BusTest, MakesAStreamForEachShard) {
    auto bus = open();

    ASSERT_TRUE(bus->create(3));
    ASSERT_TRUE(bus->create(3));

    EXPECT_EQ(bus->partition(ShardId{2}), "sluice.2");
    auto facts = describe_stream(*session(), "SLUICE_2", call_wait);
    ASSERT_TRUE(facts) << facts.error().message;
    EXPECT_EQ(facts->subjects, std::vector<std::string>{"sluice.2"});
    EXPECT_TRUE(facts->is_filed);
    EXPECT_FALSE(describe_stream(*session(), "SLUICE_3", call_wait));
}

TEST_F(BusTest, RefusesStreamsOfAnotherShape) {
    auto session = this->session();
    const auto* subject = "elsewhere";
    auto config = jsStreamConfig{};
    jsStreamConfig_Init(&config);
    config.Name = "SLUICE_1";
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    ASSERT_EQ(js_AddStream(nullptr, session->streams(), &config, nullptr, nullptr), NATS_OK);

    auto done = open()->create(2);

    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::Conflict);
    EXPECT_THAT(done.error().message, HasSubstr("elsewhere"));
}

TEST_F(BusTest, SaysWhenReplicasCannotBeHad) {
    options_.replicas = 3;

    auto done = open()->create(1);

    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::InvalidInput);
    EXPECT_THAT(done.error().message, HasSubstr("replicas"));
}

TEST_F(BusTest, RemovesWhatItMade) {
    auto bus = open();
    ASSERT_TRUE(bus->create(2));

    ASSERT_TRUE(bus->remove(2));
    ASSERT_TRUE(bus->remove(2));

    EXPECT_FALSE(describe_stream(*session(), "SLUICE_0", call_wait));
}

TEST_F(BusTest, CarriesEventsFromProducerToSource) {
    auto bus = open();
    ASSERT_TRUE(bus->create(2));
    auto producer = bus->open_producer().value();
    auto source = bus->open_source().value();
    ASSERT_TRUE(source->resume("sluice.0", 0));
    ASSERT_TRUE(source->resume("sluice.1", 0));

    ASSERT_TRUE(send_all(*producer, "sluice.0", 1, 100));
    ASSERT_TRUE(send_all(*producer, "sluice.1", 1, 50));
    auto read = read_all(*source, 150);

    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ((*read)["sluice.0"].size(), 100);
    ASSERT_EQ((*read)["sluice.1"].size(), 50);
    for (auto at = std::size_t{0}; at < 100; ++at) {
        EXPECT_EQ((*read)["sluice.0"][at].number, at + 1);
        EXPECT_EQ(testing::id_in((*read)["sluice.0"][at]), at + 1);
    }
}

TEST_F(BusTest, PurgesBehindThePositionWhenToldTo) {
    options_.is_purged = true;
    auto bus = open();
    ASSERT_TRUE(bus->create(1));
    auto producer = bus->open_producer().value();
    ASSERT_TRUE(send_all(*producer, "sluice.0", 1, 100));
    auto session = this->session();
    {
        auto source = bus->open_source().value();
        ASSERT_TRUE(source->resume("sluice.0", 0));
        ASSERT_TRUE(read_all(*source, 100));
        source->confirm("sluice.0", 60);
    }

    auto facts = describe_stream(*session, "SLUICE_0", call_wait);

    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->first, 61);
    auto again = bus->open_source().value();
    ASSERT_TRUE(again->resume("sluice.0", 60));
    EXPECT_EQ(read_all(*again, 40).value()["sluice.0"].size(), 40);
}

TEST_F(BusTest, MeasuresWhatTheClientCan) {
    auto bus = open();
    ASSERT_TRUE(bus->create(1));
    auto producer = bus->open_producer().value();
    ASSERT_TRUE(send_all(*producer, "sluice.0", 1, 25'000, 100));

    auto ceiling = bus->measure(ShardId{0}, 25'000);

    ASSERT_TRUE(ceiling) << ceiling.error().message;
    EXPECT_GT(ceiling->group_events_per_second, 1000);
    EXPECT_GT(ceiling->position_events_per_second, 1000);
    auto too_many = bus->measure(ShardId{0}, 25'001);
    EXPECT_FALSE(too_many);
}

TEST_F(BusTest, SaysThatJetStreamIsMissing) {
    options_.domain = "nowhere";

    auto done = open()->create(1);

    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr("-js"));
}

TEST_F(BusTest, SaysThatNobodyIsThere) {
    server_->kill();

    auto done = open()->create(1);

    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::Unavailable);
}

} // namespace sluice::connector::nats
