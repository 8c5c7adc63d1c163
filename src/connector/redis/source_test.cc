#include "connector/redis/source.h"

#include <algorithm>
#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/redis/internal/stream_reply.h"
#include "connector/redis/position.h"
#include "connector/redis/testing/scene.h"

namespace sluice::connector::redis {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::Got;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::numbers;
using testing::read;
using testing::Scene;

constexpr auto brief = std::chrono::milliseconds{20};

class RedisSource : public ::testing::Test {
public:
    void start(resp::testing::Settings settings = {}) {
        if (!resp::testing::is_redis_installed()) {
            GTEST_SKIP() << "redis-server is not installed";
        }
        scene.emplace(std::move(settings));
        ASSERT_TRUE(scene->is_there()) << "redis-server does not start";
    }
    void SetUp() override { start(); }
    std::unique_ptr<event::Source> open(std::string_view query = "") {
        auto source = open_source(scene->options(query), diagnostics);
        EXPECT_TRUE(source);
        return std::move(*source);
    }
    std::string fault_of(event::Source& source, std::string_view stream, std::uint64_t position) {
        auto resumed = source.resume(stream, position);
        return resumed ? "none" : resumed.error().message;
    }
    /// The last id that the group has been given.
    std::string group_at(const std::string& stream, const std::string& group) {
        auto groups = scene->tell("XINFO", "GROUPS", stream);
        for (const auto& each : *groups) {
            if (internal::member(each, "name").text() == group) {
                return std::string{internal::member(each, "last-delivered-id").text()};
            }
        }
        return "none";
    }
    std::int64_t pending(const std::string& stream, const std::string& group) {
        return scene->tell("XPENDING", stream, group)->item(0).number();
    }

    observe::testing::CapturedDiagnostics diagnostics;
    std::optional<Scene> scene;
};

TEST_F(RedisSource, ReadsAStreamInOrder) {
    scene->add("s", 0, 5000);
    auto source = open();
    ASSERT_TRUE(source->resume("s", 0));
    auto got = read(*source, 5000);

    EXPECT_EQ(got.ids, numbers(0, 5000));
    EXPECT_THAT(got.faults, IsEmpty());
    EXPECT_THAT(got.partitions, Each("s"));
    EXPECT_TRUE(std::ranges::is_sorted(got.numbers, std::less_equal{}));
    EXPECT_EQ(source->read(1000, brief)->records.size(), 0);
    EXPECT_EQ(source->trouble(), "");
    scene->add("s", 5000, 5001);
    EXPECT_EQ(read(*source, 1).ids, numbers(5000, 5001));
}

TEST_F(RedisSource, GoesOnInTheMiddle) {
    scene->add("s", 0, 100);
    auto first = open();
    ASSERT_TRUE(first->resume("s", 0));
    auto position = read(*first, 100).numbers[41];

    auto second = open();
    ASSERT_TRUE(second->resume("s", position));
    EXPECT_EQ(read(*second, 58).ids, numbers(42, 100));
    ASSERT_TRUE(second->resume("s", position));
    EXPECT_EQ(read(*second, 58).ids, numbers(42, 100));
}

TEST_F(RedisSource, ReadsManyStreamsAndLeavesSome) {
    for (auto stream = 0; stream < 8; ++stream) {
        scene->add(fmt::format("s{}", stream), 0, 300);
    }
    auto source = open();
    for (auto stream = 0; stream < 8; ++stream) {
        ASSERT_TRUE(source->resume(fmt::format("s{}", stream), 0));
    }
    auto some = read(*source, 100);
    source->leave("s3");
    auto of_others =
        std::ranges::count_if(some.partitions, [](auto& each) { return each != "s3"; });
    auto rest = read(*source, 7 * 300 - static_cast<std::size_t>(of_others));
    auto by_stream = std::map<std::string, std::vector<std::uint64_t>>{};
    for (const auto& got : std::vector{some, rest}) {
        for (auto at = std::size_t{0}; at < got.ids.size(); ++at) {
            by_stream[got.partitions[at]].push_back(got.ids[at]);
        }
    }
    by_stream.erase("s3");
    EXPECT_EQ(by_stream.size(), 7);
    for (const auto& [stream, ids] : by_stream) {
        EXPECT_EQ(ids, numbers(0, 300)) << stream;
    }
    EXPECT_THAT(rest.partitions, Each(::testing::Ne("s3")));

    ASSERT_TRUE(source->resume("s3", 0));
    auto again = read(*source, 300);
    EXPECT_EQ(again.ids, numbers(0, 300));
}

TEST_F(RedisSource, NumbersMayHaveGaps) {
    for (const auto* id : {"5-1", "5-7", "900-0", "1700000000000-1048575"}) {
        ASSERT_TRUE(scene->tell("XADD", "s", id, "event", testing::event_json(1)));
    }
    auto source = open();
    ASSERT_TRUE(source->resume("s", 0));

    auto got = read(*source, 4);
    EXPECT_EQ(got.numbers[1], *position_of("5-7"));
    EXPECT_EQ(got.numbers[3], *position_of("1700000000000-1048575"));
}

TEST_F(RedisSource, AnIdThatDoesNotFitIsRefusedByName) {
    scene->add("s", 0, 1);
    ASSERT_TRUE(scene->tell("XADD", "s", "99999999999999-5", "event", testing::event_json(1)));
    auto source = open();
    ASSERT_EQ(scene->tell("XLEN", "s")->number(), 2);
    auto fault = fault_of(*source, "s", 0);
    auto got = fault == "none" ? read(*source, 2) : Got{.error = fault};

    EXPECT_THAT(got.error, HasSubstr("99999999999999-5 does not fit"));
}

TEST_F(RedisSource, WhatIsNoEventHasAFault) {
    ASSERT_TRUE(scene->tell("XADD", "s", "*", "temperature", "21"));
    ASSERT_TRUE(scene->tell("XADD", "s", "*", "event", testing::event_json(1)));
    ASSERT_TRUE(scene->tell("XADD", "s", "*", "event", std::string(2'000'000, 'x')));
    ASSERT_TRUE(scene->tell("XADD", "s", "*", "data", "x", "content-type", "text/plain"));
    ASSERT_TRUE(scene->tell("XADD", "s", "*", "ce_id", "2", "ce_source", "/s", "ce_type", "t",
                            "ce_specversion", "1.0"));
    auto source = open();
    ASSERT_TRUE(source->resume("s", 0));
    auto got = read(*source, 5);

    EXPECT_EQ(got.error, "");
    EXPECT_THAT(got.ids, ElementsAre(1, 2));
    EXPECT_EQ(got.faults.size(), 3);
}

TEST_F(RedisSource, APositionThatWasCutOffIsRefused) {
    scene->add("s", 0, 100);
    auto first = open();
    ASSERT_TRUE(first->resume("s", 0));
    auto got = read(*first, 100);
    scene->add("s", 100, 110);
    ASSERT_TRUE(scene->tell("XTRIM", "s", "MAXLEN", 50));

    auto source = open();
    EXPECT_THAT(fault_of(*source, "s", got.numbers[30]), HasSubstr("what came next may be gone"));
    EXPECT_EQ(source->resume("s", got.numbers[30]).error().code, Errc::NotFound);
    EXPECT_EQ(fault_of(*source, "s", got.numbers[70]), "none");
    EXPECT_EQ(read(*source, 39).ids, numbers(71, 110));
    EXPECT_THAT(fault_of(*source, "s", 0), HasSubstr("start=earliest"));
    auto earliest = open("start=earliest");
    EXPECT_EQ(fault_of(*earliest, "s", 0), "none");
    EXPECT_EQ(read(*earliest, 50).ids, numbers(60, 110));
    auto latest = open("start=new");
    EXPECT_EQ(fault_of(*latest, "s", 0), "none");
    scene->add("s", 110, 112);
    EXPECT_EQ(read(*latest, 2).ids, numbers(110, 112));

    ASSERT_TRUE(scene->tell("DEL", "s"));
    EXPECT_THAT(fault_of(*source, "s", got.numbers[70]), HasSubstr("was removed and made anew"));
    ASSERT_TRUE(scene->tell("SET", "text", "x"));
    EXPECT_THAT(fault_of(*source, "text", 0), HasSubstr("is no stream"));
}

TEST_F(RedisSource, RightBeforeTheFirstThatIsLeftNothingIsMissing) {
    scene->add("s", 0, 100);
    ASSERT_TRUE(scene->tell("XTRIM", "s", "MAXLEN", 50));
    auto first = open("start=earliest");
    ASSERT_TRUE(first->resume("s", 0));
    auto got = read(*first, 50);

    auto source = open();
    EXPECT_EQ(fault_of(*source, "s", got.numbers.front() - 1), "none");
    EXPECT_EQ(read(*source, 50).ids, numbers(50, 100));
    EXPECT_THAT(fault_of(*source, "s", got.numbers.front() - 2), HasSubstr("may be gone"));
}

TEST_F(RedisSource, WhatIsCutOffWhileReadingStopsIt) {
    scene->add("s", 0, 10);
    auto source = open();
    ASSERT_TRUE(source->resume("s", 0));
    ASSERT_EQ(read(*source, 10).ids, numbers(0, 10));
    scene->add("s", 10, 500);
    ASSERT_TRUE(scene->tell("XTRIM", "s", "MAXLEN", 20));

    auto got = read(*source, 20);
    EXPECT_THAT(got.error, HasSubstr("what came next may be gone"));
    EXPECT_THAT(got.ids, IsEmpty());
}

TEST_F(RedisSource, TheGroupFollowsAndWhatIsConfirmedIsTrimmed) {
    scene->add("s", 0, 3000, 300);
    auto source = open("group=watched&trim=confirmed");
    ASSERT_TRUE(source->resume("s", 0));
    EXPECT_EQ(source->lag(), 3000);
    auto got = read(*source, 3000);
    ASSERT_EQ(got.ids, numbers(0, 3000));
    EXPECT_EQ(source->lag(), 0);
    source->confirm("s", got.numbers.back());
    auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (group_at("s", "watched") != id_of(got.numbers.back()) &&
           std::chrono::steady_clock::now() < limit) {
        ASSERT_TRUE(source->read(1000, brief));
    }

    EXPECT_EQ(group_at("s", "watched"), id_of(got.numbers.back()));
    auto left = scene->tell("XLEN", "s")->number();
    EXPECT_LT(left, 500);
    EXPECT_GE(left, 1);
    auto next = open("group=watched&trim=confirmed");
    EXPECT_EQ(fault_of(*next, "s", got.numbers.back()), "none");
    scene->add("s", 3000, 3003);
    EXPECT_EQ(next->lag(), 3);
    EXPECT_EQ(read(*next, 3).ids, numbers(3000, 3003));
}

TEST_F(RedisSource, ReadsOnOverAServerThatIsKilled) {
    auto source = open();
    scene->add("s", 0, 1000);
    ASSERT_TRUE(source->resume("s", 0));
    auto got = read(*source, 300, 4096).ids;
    auto added = std::uint64_t{1000};
    for (auto round = 0; round < 3; ++round) {
        scene->server().kill();
        EXPECT_EQ(source->read(1000, brief)->records.size(), 0) << "what was under way is gone";
        EXPECT_NE(source->trouble(), "");
        ASSERT_TRUE(scene->server().restart());
        scene->add("s", added, added + 500);
        added += 500;
        auto more = read(*source, 400, 4096);
        ASSERT_EQ(more.error, "");
        EXPECT_EQ(source->trouble(), "");
        got.insert(got.end(), more.ids.begin(), more.ids.end());
    }
    auto rest = read(*source, added - got.size());
    got.insert(got.end(), rest.ids.begin(), rest.ids.end());

    EXPECT_EQ(got, numbers(0, added));
}

TEST_F(RedisSource, AServerThatIsDownIsNoError) {
    scene->add("s", 0, 3);
    scene->server().kill();
    auto source = open("connect_limit=200ms");

    EXPECT_TRUE(source->resume("s", 0));
    EXPECT_EQ(source->read(1000, brief)->records.size(), 0);
    EXPECT_THAT(source->trouble(), HasSubstr("Connection refused"));
    EXPECT_EQ(source->lag(), std::nullopt);
    ASSERT_TRUE(scene->server().restart());
    EXPECT_EQ(read(*source, 3).ids, numbers(0, 3));
    EXPECT_NE(source->lag(), std::nullopt);
}

TEST_F(RedisSource, TakesNoMoreThanIsAskedFor) {
    scene->add("s", 0, 2000, 1000);
    auto source = open();
    ASSERT_TRUE(source->resume("s", 0));
    for (auto got = std::size_t{0}; got < 2000;) {
        auto chunk = source->read(20'000, std::chrono::seconds{5});
        ASSERT_TRUE(chunk);
        ASSERT_GT(chunk->records.size(), 0);
        EXPECT_LT(chunk->bytes->size(), 30'000);
        got += chunk->records.size();
    }
}

TEST_F(RedisSource, LogsInByTls) {
    ASSERT_NO_FATAL_FAILURE(start({.password = "hunter2", .tls = resp::testing::Secured::Yes}));
    scene->add("s", 0, 10);
    auto source = open();
    ASSERT_TRUE(source->resume("s", 0));
    EXPECT_EQ(read(*source, 10).ids, numbers(0, 10));

    auto options = scene->options();
    options.server.password = "hunter3";
    auto stranger = open_source(options, diagnostics);
    EXPECT_THAT(fault_of(**stranger, "s", 0), HasSubstr("WRONGPASS"));
}

TEST_F(RedisSource, AGroupsEntriesAreAcknowledgedOnceConfirmed) {
    scene->add("s", 0, 100);
    constexpr auto query = "reading=group&group=g&consumer=one";
    auto source = open(query);
    ASSERT_TRUE(source->resume("s", 0));
    auto chunk = source->read(100'000, std::chrono::seconds{5});
    ASSERT_TRUE(chunk);
    EXPECT_FALSE(chunk->is_numbered);
    auto count = chunk->records.size();
    auto got = read(*source, 100 - count);
    EXPECT_EQ(got.numbers.back(), 100);
    EXPECT_EQ(pending("s", "g"), 100);
    EXPECT_EQ(source->lag(), 0);

    source->confirm("s", 40);
    source->pass_over("s", 50);
    EXPECT_EQ(source->read(1000, brief)->records.size(), 0);
    EXPECT_EQ(pending("s", "g"), 59);

    source->confirm("s", 42);
    source.reset();
    EXPECT_EQ(pending("s", "g"), 57) << "what is confirmed is told on the way out";
    source = open(query);
    ASSERT_TRUE(source->resume("s", 0));
    auto again = read(*source, 57);
    EXPECT_EQ(again.ids.front(), 42);
    EXPECT_EQ(again.ids.back(), 99);
    EXPECT_EQ(again.numbers, numbers(1, 58));
}

TEST_F(RedisSource, OfAGroupEachReadsAPart) {
    scene->add("s", 0, 400);
    auto one = open("reading=group&group=g&consumer=one&claim_after=1h");
    auto two = open("reading=group&group=g&consumer=two&claim_after=1h");
    ASSERT_TRUE(one->resume("s", 0));
    ASSERT_TRUE(two->resume("s", 0));
    auto ids = read(*one, 16, 1000).ids;
    auto mine = read(*two, 400 - ids.size()).ids;
    ids.insert(ids.end(), mine.begin(), mine.end());

    std::ranges::sort(ids);
    EXPECT_EQ(ids, numbers(0, 400));
    EXPECT_GE(mine.size(), 1);
}

TEST_F(RedisSource, WhatAConsumerLeftBehindIsClaimed) {
    scene->add("s", 0, 50);
    auto gone = open("reading=group&group=g&consumer=gone&claim_after=1h");
    ASSERT_TRUE(gone->resume("s", 0));
    ASSERT_EQ(read(*gone, 50).ids.size(), 50);
    auto heir = open("reading=group&group=g&consumer=heir&claim_after=50ms");
    ASSERT_TRUE(heir->resume("s", 0));

    auto got = read(*heir, 50).ids;
    EXPECT_EQ(got, numbers(0, 50));
    EXPECT_EQ(heir->read(1000, std::chrono::milliseconds{150})->records.size(), 0)
        << "what is one's own and open is not claimed again";
    heir->confirm("s", 50);
    EXPECT_TRUE(heir->read(1000, brief));
    EXPECT_EQ(pending("s", "g"), 0);
}

TEST_F(RedisSource, AGroupReadsOnOverAServerThatIsKilled) {
    scene->add("s", 0, 200);
    auto source = open("reading=group&group=g");
    ASSERT_TRUE(source->resume("s", 0));
    auto ids = read(*source, 100, 1000).ids;
    ASSERT_TRUE(scene->server().restart());
    scene->add("s", 200, 300);
    auto rest = read(*source, 300 - ids.size());
    EXPECT_EQ(rest.error, "");
    ids.insert(ids.end(), rest.ids.begin(), rest.ids.end());

    std::ranges::sort(ids);
    EXPECT_EQ(ids, numbers(0, 300));
    EXPECT_EQ(rest.numbers.back(), 300);
    source->confirm("s", 300);
    EXPECT_TRUE(source->read(1000, brief));
    EXPECT_EQ(pending("s", "g"), 0);
}

} // namespace
} // namespace sluice::connector::redis
