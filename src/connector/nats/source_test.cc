#include "connector/nats/source.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/nats/producer.h"
#include "connector/nats/streams.h"
#include "connector/nats/testing/events.h"
#include "connector/nats/testing/nats_server.h"
#include "observe/testing/captured_diagnostics.h"

namespace sluice::connector::nats {

namespace {

using ::testing::Contains;
using testing::event_json;
using ::testing::HasSubstr;
using testing::id_in;
using testing::NatsServer;
using testing::read_all;
using testing::send_all;

constexpr auto purge_wait = std::chrono::seconds{5};
constexpr auto condition_wait = std::chrono::seconds{15};

/// Until it holds, or too long.
template <typename Condition>
bool eventually(Condition condition) {
    auto until = std::chrono::steady_clock::now() + condition_wait;
    while (std::chrono::steady_clock::now() < until) {
        if (condition()) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return false;
}

/// Both ways of reading promise the same.
class SourceTest : public ::testing::TestWithParam<Reading> {
protected:
    void SetUp() override {
        if (!NatsServer::is_installed()) {
            GTEST_SKIP() << "nats-server is not installed";
        }
        server_ = NatsServer::start().value();
        options_.server = server_->options();
        options_.server.reading = GetParam();
        session_ = Session::open(options_.server, "test", Session::Reconnect::Always).value();
        make_stream("S", "s.>");
        options_.streams = {"S"};
        producer_ = open_producer(options_.server, Target::Streams, diagnostics_).value();
    }

    void TearDown() override { producer_.reset(); }

    void make_stream(const char* name, const char* subject,
                     const std::function<void(jsStreamConfig&)>& change = {}) {
        auto config = jsStreamConfig{};
        jsStreamConfig_Init(&config);
        config.Name = name;
        config.Subjects = &subject;
        config.SubjectsLen = 1;
        if (change) {
            change(config);
        }
        ASSERT_EQ(js_AddStream(nullptr, session_->streams(), &config, nullptr, nullptr), NATS_OK);
    }

    void make_consumer(const std::function<void(jsConsumerConfig&)>& change = {}) {
        auto config = jsConsumerConfig{};
        jsConsumerConfig_Init(&config);
        config.Durable = "mine";
        config.AckPolicy = js_AckExplicit;
        if (change) {
            change(config);
        }
        ASSERT_EQ(js_AddConsumer(nullptr, session_->streams(), "S", &config, nullptr, nullptr),
                  NATS_OK);
    }

    void put(const std::string& subject, std::string_view body,
             const std::vector<std::pair<const char*, const char*>>& fields = {}) {
        auto message = internal::MessageHandle{};
        natsMsg_Create(internal::Out{message}, subject.c_str(), nullptr, body.data(),
                       static_cast<int>(body.size()));
        for (const auto& [name, text] : fields) {
            natsMsgHeader_Set(message.get(), name, text);
        }
        ASSERT_EQ(js_PublishMsg(nullptr, session_->streams(), message.get(), nullptr, nullptr),
                  NATS_OK);
    }

    std::unique_ptr<event::Source> open() {
        auto source = open_source(options_, diagnostics_);
        EXPECT_TRUE(source) << source.error().message;
        return std::move(*source);
    }

    std::unique_ptr<event::Source> open_behind(std::uint64_t position) {
        auto source = open();
        auto done = source->resume("S", position);
        EXPECT_TRUE(done) << done.error().message;
        return source;
    }

    internal::ConsumerInfoHandle consumer(const char* name) {
        auto info = internal::ConsumerInfoHandle{};
        js_GetConsumerInfo(internal::Out{info}, session_->streams(), "S", name, nullptr, nullptr);
        return info;
    }

    observe::testing::CapturedDiagnostics diagnostics_;
    std::unique_ptr<NatsServer> server_;
    SourceOptions options_;
    std::unique_ptr<Session> session_;
    std::unique_ptr<event::Producer> producer_;
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Both, SourceTest, ::testing::Values(Reading::Direct, Reading::Library),
                         [](const auto& way) {
                             return way.param == Reading::Direct ? "Direct" : "Library";
                         });

TEST_P(SourceTest, BeginsBehindAPosition) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 1000));
    auto source = open_behind(400);

    auto read = read_all(*source, 600);

    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ((*read)["S"].size(), 600);
    EXPECT_EQ((*read)["S"].front().number, 401);
    EXPECT_EQ(id_in((*read)["S"].front()), 401);
    EXPECT_EQ((*read)["S"].back().number, 1000);
}

TEST_P(SourceTest, WaitsNoLongerThanAsked) {
    auto source = open_behind(0);
    auto begin = std::chrono::steady_clock::now();

    auto chunk = source->read(1000, std::chrono::milliseconds{30});

    ASSERT_TRUE(chunk);
    EXPECT_TRUE(chunk->records.empty());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{1});
}

TEST_P(SourceTest, GivesAboutAsMuchAsAsked) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 500, 100));
    auto source = open_behind(0);

    auto chunk = source->read(1000, std::chrono::seconds{5});

    ASSERT_TRUE(chunk);
    EXPECT_GE(chunk->records.size(), 1);
    EXPECT_LE(chunk->records.size(), 7);
}

TEST_P(SourceTest, GoesOnOverWhatWasDeletedInBetween) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 10));
    for (auto number : {3, 4, 7}) {
        ASSERT_EQ(js_DeleteMsg(session_->streams(), "S", static_cast<std::uint64_t>(number),
                               nullptr, nullptr),
                  NATS_OK);
    }
    auto source = open_behind(0);

    auto read = read_all(*source, 7);

    ASSERT_TRUE(read) << read.error().message;
    auto numbers = std::vector<std::uint64_t>{};
    for (const auto& one : (*read)["S"]) {
        numbers.push_back(one.number);
    }
    EXPECT_EQ(numbers, (std::vector<std::uint64_t>{1, 2, 5, 6, 8, 9, 10}));
}

TEST_P(SourceTest, RefusesAPositionThatIsGone) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 100));
    ASSERT_TRUE(purge_stream(*session_, "S", 50, purge_wait));
    auto source = open();

    auto gone = source->resume("S", 49);
    auto last = source->resume("S", 50);

    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, Errc::NotFound);
    EXPECT_THAT(gone.error().message, HasSubstr("begins with 51, and 50 should come next"));
    EXPECT_TRUE(last);
    EXPECT_EQ(read_all(*source, 50).value()["S"].size(), 50);
}

TEST_P(SourceTest, SkipsWhatIsGoneWhenToldTo) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 100));
    ASSERT_TRUE(purge_stream(*session_, "S", 50, purge_wait));
    options_.trimmed = Trimmed::Skip;
    auto source = open_behind(0);

    auto read = read_all(*source, 50);

    EXPECT_EQ((*read)["S"].front().number, 51);
    EXPECT_THAT(diagnostics_.lines(), Contains(HasSubstr("messages were dropped unread")));
}

TEST_P(SourceTest, StopsWhenTheStreamDropsWhatWasNotReadYet) {
    options_.server.prefetch_bytes = std::size_t{64} << 10U;
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 2000, 500));
    auto source = open_behind(0);
    auto first = source->read(1000, std::chrono::seconds{5});
    ASSERT_TRUE(first);
    ASSERT_FALSE(first->records.empty());

    ASSERT_TRUE(purge_stream(*session_, "S", 1900, purge_wait));
    auto read = read_all(*source, 2000);

    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::NotFound);
    EXPECT_THAT(read.error().message, HasSubstr("it begins with 1901 now"));
}

TEST_P(SourceTest, RefusesAStreamThatWasMadeAnew) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 5));
    auto source = open();

    auto done = source->resume("S", 6);

    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr("ends with 5, and 6 was read"));
}

TEST_P(SourceTest, RefusesStreamsThatAreNotThereOrForget) {
    make_stream("Q", "q", [](auto& config) { config.Retention = js_WorkQueuePolicy; });
    auto source = open();

    auto missing = source->resume("NONE", 0);
    auto queue = source->resume("Q", 0);

    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Errc::NotFound);
    ASSERT_FALSE(queue);
    EXPECT_EQ(queue.error().code, Errc::Unsupported);
    EXPECT_TRUE(source->resume("S", 0));
}

TEST_P(SourceTest, BeginsWithWhatIsNewWhenToldTo) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 10));
    options_.start = Start::New;
    auto source = open_behind(0);
    ASSERT_TRUE(send_all(*producer_, "s.a", 11, 12));

    auto read = read_all(*source, 2);

    ASSERT_EQ((*read)["S"].size(), 2);
    EXPECT_EQ((*read)["S"].front().number, 11);
}

TEST_P(SourceTest, ReadsOnlyTheSubjectsAskedFor) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 10));
    ASSERT_TRUE(send_all(*producer_, "s.b", 1, 10));
    ASSERT_TRUE(send_all(*producer_, "s.a", 11, 12));
    options_.filter = "s.b";
    auto source = open_behind(5);

    auto read = read_all(*source, 10);

    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ((*read)["S"].size(), 10);
    EXPECT_EQ((*read)["S"].front().number, 11);
}

TEST_P(SourceTest, ReadsManyPartitionsAndLeavesThem) {
    options_.server.prefetch_bytes = std::size_t{64} << 10U;
    for (auto at = 0; at < 8; ++at) {
        make_stream(fmt::format("P_{}", at).c_str(), fmt::format("p.{}", at).c_str());
        ASSERT_TRUE(send_all(*producer_, fmt::format("p.{}", at), 1, 300, 300));
    }
    auto source = open();
    for (auto at = 0; at < 8; ++at) {
        ASSERT_TRUE(source->resume(fmt::format("P_{}", at), 0));
    }

    auto read = read_all(*source, 2400);
    source->leave("P_3");
    for (auto at = 0; at < 8; ++at) {
        ASSERT_TRUE(send_all(*producer_, fmt::format("p.{}", at), 301, 310));
    }
    auto more = read_all(*source, 70);
    ASSERT_TRUE(source->resume("P_3", 290));
    auto rest = read_all(*source, 20);

    ASSERT_EQ(read->size(), 8);
    for (const auto& [partition, all] : *read) {
        ASSERT_EQ(all.size(), 300) << partition;
        for (auto at = std::size_t{0}; at < all.size(); ++at) {
            ASSERT_EQ(all[at].number, at + 1);
        }
    }
    EXPECT_EQ(more->size(), 7);
    EXPECT_FALSE(more->contains("P_3"));
    ASSERT_EQ((*rest)["P_3"].size(), 20);
    EXPECT_EQ((*rest)["P_3"].front().number, 291);
}

TEST_P(SourceTest, KeepsWhatIsNoEventWithTheReason) {
    put("s.a", "hello", {{"Content-Type", "text/plain"}});
    put("s.a", event_json("2"), {{"Content-Type", "application/cloudevents+json"}});
    put("s.a", "data",
        {{"ce-specversion", "1.0"},
         {"ce-id", "3"},
         {"ce-type", "t"},
         {"ce-source", "/s"},
         {"ce-datacontenttype", "text/plain"}});
    put("s.a", "<x/>", {{"Content-Type", "application/cloudevents+xml"}});
    put("s.a", "");
    auto source = open_behind(0);

    auto read = read_all(*source, 5);

    ASSERT_EQ((*read)["S"].size(), 5);
    const auto& all = (*read)["S"];
    EXPECT_THAT(all[0].fault, HasSubstr("text/plain"));
    EXPECT_EQ(all[0].text, "hello");
    EXPECT_EQ(all[1].fault, "");
    EXPECT_EQ(all[2].fault, "");
    EXPECT_EQ(id_in(all[2]), 3);
    EXPECT_THAT(all[3].fault, HasSubstr("cloudevents+xml"));
    EXPECT_EQ(all[4].number, 5);
}

TEST_P(SourceTest, ReadsMessagesLargerThanItsPrefetch) {
    options_.server.prefetch_bytes = std::size_t{64} << 10U;
    put("s.a", event_json("1", 10));
    put("s.a", event_json("2", 700'000));
    put("s.a", event_json("3", 10));
    auto source = open_behind(0);

    auto read = read_all(*source, 3);

    ASSERT_EQ((*read)["S"].size(), 3);
    EXPECT_GT((*read)["S"][1].text.size(), 700'000);
    EXPECT_EQ((*read)["S"][1].fault, "");
}

TEST_P(SourceTest, TellsHowMuchWaits) {
    options_.server.prefetch_bytes = std::size_t{64} << 10U;
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 1000, 300));
    auto source = open_behind(100);
    EXPECT_EQ(source->lag(), 900);
    auto chunk = source->read(10'000, std::chrono::seconds{5});
    ASSERT_TRUE(chunk);

    EXPECT_EQ(source->lag(), 900 - chunk->records.size());
    ASSERT_TRUE(send_all(*producer_, "s.a", 1001, 1100, 300));
    auto left = 1000 - chunk->records.size();
    EXPECT_EQ(read_all(*source, left).value()["S"].size(), left);
    EXPECT_EQ(source->lag(), 0);
}

TEST_P(SourceTest, ShowsItsPositionAsTheGroup) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 100));
    auto source = open_behind(10);
    ASSERT_TRUE(eventually([&] { return consumer("sluice") != nullptr; }));
    EXPECT_EQ(consumer("sluice")->NumPending, 90);
    ASSERT_TRUE(read_all(*source, 90));

    source->confirm("S", 70);

    EXPECT_TRUE(eventually([&] {
        auto info = consumer("sluice");
        return info && info->Delivered.Stream == 70;
    }));
    EXPECT_EQ(consumer("sluice")->NumPending, 30);
    source->confirm("S", 100);
    source.reset();
    EXPECT_EQ(consumer("sluice")->Delivered.Stream, 100);
    EXPECT_EQ(consumer("sluice")->NumPending, 0);
}

TEST_P(SourceTest, LeavesConsumersOfOthersAlone) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 10));
    make_consumer();
    options_.server.group = "mine";
    auto source = open_behind(0);
    ASSERT_TRUE(read_all(*source, 10));

    source->confirm("S", 5);
    source.reset();

    EXPECT_EQ(consumer("mine")->NumPending, 10);
    EXPECT_THAT(diagnostics_.lines(), Contains(HasSubstr("write another group")));
}

TEST_P(SourceTest, AcknowledgesWhatAConsumerDeliveredOnceItIsConfirmed) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 100));
    make_consumer();
    options_.consumer = "mine";
    {
        auto source = open_behind(0);
        auto read = read_all(*source, 100);
        ASSERT_EQ((*read)["S"].size(), 100);
        EXPECT_EQ((*read)["S"].back().number, 100);
        source->confirm("S", 60);
    }
    EXPECT_TRUE(eventually([&] { return consumer("mine")->AckFloor.Stream == 60; }));

    auto source = open_behind(0);
    auto chunk = source->read(1000, condition_wait);
    ASSERT_TRUE(chunk);
    ASSERT_FALSE(chunk->records.empty());
    auto again = read_all(*source, 40 - chunk->records.size());

    EXPECT_FALSE(chunk->is_numbered);
    EXPECT_EQ(chunk->records.front().number, 1);
    EXPECT_EQ(chunk->records.size() + (*again)["S"].size(), 40);
}

TEST_P(SourceTest, RefusesConsumersThatPush) {
    make_consumer([](auto& config) { config.DeliverSubject = "elsewhere"; });
    options_.consumer = "mine";
    auto source = open();

    auto done = source->resume("S", 0);

    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr("make a pull consumer"));
}

TEST_P(SourceTest, GoesOnWhenTheServerComesBack) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 3000, 200));
    options_.server.prefetch_bytes = std::size_t{64} << 10U;
    auto source = open_behind(0);
    auto before = read_all(*source, 500).value()["S"];

    server_->kill();
    // What was on its way may still come.
    auto meanwhile = read_all(*source, 3000, std::chrono::milliseconds{300}).value()["S"];
    EXPECT_TRUE(eventually([&] { return !source->trouble().empty(); }));
    EXPECT_THAT(source->trouble(), HasSubstr("no connection to 127.0.0.1"));
    ASSERT_TRUE(server_->start_again());
    auto rest = 3000 - before.size() - meanwhile.size();
    auto after = read_all(*source, rest).value()["S"];

    auto expected = std::uint64_t{0};
    for (const auto* part : {&before, &meanwhile, &after}) {
        for (const auto& read : *part) {
            ASSERT_EQ(read.number, ++expected);
            ASSERT_EQ(id_in(read), expected);
        }
    }
    EXPECT_EQ(expected, 3000);
    EXPECT_EQ(source->trouble(), "");
}

TEST_P(SourceTest, MakesAConsumerAnewThatSomebodyRemoved) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 10));
    options_.server.group = "";
    auto source = open_behind(0);
    ASSERT_EQ(read_all(*source, 10).value()["S"].size(), 10);
    auto names = static_cast<jsConsumerNamesList*>(nullptr);
    ASSERT_EQ(js_ConsumerNames(&names, session_->streams(), "S", nullptr, nullptr), NATS_OK);
    ASSERT_EQ(names->Count, 1);
    ASSERT_EQ(js_DeleteConsumer(session_->streams(), "S", names->List[0], nullptr, nullptr),
              NATS_OK);
    jsConsumerNamesList_Destroy(names);
    ASSERT_TRUE(send_all(*producer_, "s.a", 11, 20));

    auto read = read_all(*source, 10);

    ASSERT_EQ((*read)["S"].size(), 10);
    EXPECT_EQ((*read)["S"].front().number, 11);
}

TEST_P(SourceTest, WaitsForAServerThatIsNotThereYet) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 10));
    server_->kill();
    auto source = open_behind(3);
    EXPECT_TRUE(source->read(1000, std::chrono::milliseconds{50})->records.empty());
    EXPECT_NE(source->trouble(), "");

    ASSERT_TRUE(server_->start_again());
    auto read = read_all(*source, 7);

    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ((*read)["S"].front().number, 4);
}

TEST_P(SourceTest, FailsLaterWhenThePositionTurnsOutToBeGone) {
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 10));
    ASSERT_TRUE(purge_stream(*session_, "S", 5, purge_wait));
    server_->kill();
    auto source = open_behind(2);
    ASSERT_TRUE(server_->start_again());

    auto read = read_all(*source, 1);

    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::NotFound);
}

TEST_P(SourceTest, HoldsNoMoreThanItsPrefetch) {
    options_.server.prefetch_bytes = std::size_t{256} << 10U;
    options_.server.group = "";
    ASSERT_TRUE(send_all(*producer_, "s.a", 1, 5000, 1000));
    auto source = open_behind(0);
    ASSERT_TRUE(source->read(1000, std::chrono::seconds{5}));
    auto waiting = std::uint64_t{0};

    // The server has served what was asked for, and nothing more is asked.
    EXPECT_TRUE(eventually([&] {
        auto before = std::exchange(waiting, source->lag().value_or(0));
        return before == waiting;
    }));
    auto names = static_cast<jsConsumerNamesList*>(nullptr);
    ASSERT_EQ(js_ConsumerNames(&names, session_->streams(), "S", nullptr, nullptr), NATS_OK);
    ASSERT_EQ(names->Count, 1);
    auto delivered = consumer(names->List[0])->Delivered.Consumer;
    jsConsumerNamesList_Destroy(names);

    EXPECT_GT(delivered, 0);
    EXPECT_LT(delivered * 1000, std::size_t{512} << 10U);
}

TEST_P(SourceTest, SharesASubjectWithItsQueue) {
    options_.streams = {};
    options_.subject = "plain.*";
    options_.queue = "workers";
    auto first = open();
    auto second = open();
    ASSERT_TRUE(first->resume("plain.*", 0));
    ASSERT_TRUE(second->resume("plain.*", 0));
    ASSERT_FALSE(first->resume("other", 0));
    auto core = open_producer(options_.server, Target::Core, diagnostics_).value();
    // Until both are known to the server.
    std::ignore = first->read(100, std::chrono::milliseconds{1});
    std::ignore = second->read(100, std::chrono::milliseconds{1});
    ASSERT_TRUE(eventually([&] {
        EXPECT_TRUE(send_all(*core, "plain.x", 1, 1));
        return !first->read(100, std::chrono::milliseconds{20})->records.empty();
    }));
    ASSERT_TRUE(eventually([&] {
        EXPECT_TRUE(send_all(*core, "plain.x", 1, 1));
        return !second->read(100, std::chrono::milliseconds{20})->records.empty();
    }));
    std::ignore = read_all(*first, 1000, std::chrono::milliseconds{100});
    std::ignore = read_all(*second, 1000, std::chrono::milliseconds{100});

    ASSERT_TRUE(send_all(*core, "plain.x", 1, 200));
    auto one = read_all(*first, 200, std::chrono::milliseconds{500}).value()["plain.*"];
    auto other = read_all(*second, 200 - one.size()).value()["plain.*"];

    EXPECT_EQ(one.size() + other.size(), 200);
    EXPECT_GT(one.size(), 0);
    EXPECT_GT(other.size(), 0);
}

TEST_P(SourceTest, TellsWhenASubjectIsFasterThanItsReader) {
    options_.streams = {};
    options_.subject = "plain";
    options_.server.prefetch_bytes = std::size_t{64} << 10U;
    auto source = open();
    ASSERT_TRUE(source->resume("plain", 0));
    auto core = open_producer(options_.server, Target::Core, diagnostics_).value();
    ASSERT_TRUE(eventually([&] {
        EXPECT_TRUE(send_all(*core, "plain", 1, 1));
        return !source->read(100, std::chrono::milliseconds{20})->records.empty();
    }));

    ASSERT_TRUE(send_all(*core, "plain", 1, 2000, 1000));
    auto read = read_all(*source, 2000, std::chrono::milliseconds{500}).value()["plain"];

    EXPECT_LT(read.size(), 2000);
    EXPECT_THAT(diagnostics_.lines(), Contains(HasSubstr("faster than they were read")));
}

} // namespace sluice::connector::nats
