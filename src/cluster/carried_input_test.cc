#include "cluster/carried_input.h"

#include <gtest/gtest.h>

#include "cluster/bus_event.h"
#include "cluster/seal.h"
#include "event/codec.h"

namespace sluice::cluster {
namespace {

using engine::Input;

template <typename T>
T carried(T input, engine::Done done = nullptr) {
    auto decoded = decode_input(encode_input(Input{std::move(input)}), std::move(done));
    EXPECT_TRUE(decoded) << decoded.error().message;
    return std::get<T>(*std::move(decoded));
}

TEST(CarriedInput, KeepsAStartAndWhoWaitsForIt) {
    auto heard = std::string{};
    auto start = engine::StartInput{};
    start.run = {.space = "shop", .id = "r1"};
    start.info.definition = "order";
    start.info.input = Value::object({{"id", 17}});
    start.info.labels = Value::object({{"team", "a"}});
    auto read = carried(std::move(start), [&](const Result<Value>& answer) {
        heard = answer ? std::string{answer->as_string()} : answer.error().message;
    });
    EXPECT_EQ(read.run.space, "shop");
    EXPECT_EQ(read.run.id, "r1");
    EXPECT_EQ(read.info.definition, "order");
    EXPECT_EQ(*read.info.input.find("id"), Value{17});
    read.done(Value{"started"});
    EXPECT_EQ(heard, "started");
}

TEST(CarriedInput, KeepsWhatAnAnswerSays) {
    auto answer = engine::AnswerInput{};
    answer.attempt.run = {.space = "default", .id = "r1"};
    answer.attempt.attempt = 3;
    answer.answer = event::failure("exit", "code 1", Value{7});
    answer.retry_after = std::chrono::seconds{5};
    auto read = carried(std::move(answer));
    EXPECT_EQ(read.attempt.attempt, 3U);
    EXPECT_FALSE(read.answer.is_success);
    EXPECT_EQ(read.answer.error_kind, "exit");
    EXPECT_EQ(read.answer.error_detail, Value{7});
    EXPECT_EQ(read.retry_after, std::chrono::seconds{5});
}

TEST(CarriedInput, KeepsEventsWithTheirNumbers) {
    auto codec = event::Codec{};
    auto json =
        R"({"specversion":"1.0","id":"7","source":"/a","type":"item","run":"r","data":{"x":1}})";
    auto input = engine::EventsInput{.shard = ShardId{3},
                                     .space = "shop",
                                     .events = {*codec.parse(json)},
                                     .partition = "source/a",
                                     .numbers = {41}};
    auto heard = std::string{};

    auto read = carried(std::move(input), [&](const Result<Value>& taken) {
        heard = taken ? "taken" : taken.error().message;
    });

    EXPECT_EQ(read.shard, ShardId{3});
    EXPECT_EQ(read.space, "shop");
    EXPECT_EQ(read.partition, "source/a");
    EXPECT_EQ(read.numbers, std::vector<std::uint64_t>{41});
    ASSERT_EQ(read.events.size(), 1U);
    EXPECT_EQ(read.events[0].json(), json);
    EXPECT_EQ(read.events[0].run(), "r");
    read.done(fail(Errc::Unavailable, "not here"));
    EXPECT_EQ(heard, "not here");
}

TEST(CarriedInput, KnowsWhatCannotTravel) {
    EXPECT_FALSE(can_be_carried(Input{engine::QueryInput{}}));
    EXPECT_FALSE(can_be_carried(Input{engine::UnwatchInput{}}));
    EXPECT_TRUE(can_be_carried(Input{engine::WatchInput{}}));
    EXPECT_FALSE(is_repeatable(Input{engine::CommandInput{}}));
    EXPECT_TRUE(is_repeatable(Input{engine::StartInput{}}));
}

TEST(CarriedInput, RefusesWhatIsNone) {
    EXPECT_FALSE(decode_input("", nullptr));
    EXPECT_FALSE(decode_input("\x01\x63", nullptr));
    auto bytes = encode_input(Input{engine::CommandInput{.run = {.id = "r"}, .type = "x"}});
    for (auto size = std::size_t{0}; size < bytes.size(); ++size) {
        EXPECT_FALSE(decode_input(std::string_view{bytes}.substr(0, size), nullptr)) << size;
    }
}

TEST(CarriedInput, AnswersComeBackAsTheyWere) {
    EXPECT_EQ(decode_answer(encode_answer(Value::object({{"run", "r"}}))).value(),
              Value::object({{"run", "r"}}));
    auto refused = decode_answer(encode_answer(fail(Errc::NotFound, "no run")));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), (Error{Errc::NotFound, "no run"}));
    EXPECT_EQ(decode_answer("\x01").error().code, Errc::Corrupt);
}

TEST(BusEvent, CarriesMessagesThatOnlyThisSystemCanWrite) {
    auto secret = engine::Secret{1, 2, 3};
    auto message = engine::StreamInput{.from = ShardId{3}, .to = ShardId{5}, .number = 9};
    message.message.to = {.space = "default", .id = "child"};
    auto json = to_bus_json(Input{message}, Seal{secret});
    auto codec = event::Codec{};
    auto event = codec.parse(json);
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_EQ(event->type(), message_type);

    auto read = read_message(*event, Seal{secret});
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(std::get<engine::StreamInput>(*read).number, 9U);
    EXPECT_EQ(std::get<engine::StreamInput>(*read).message.to.id, "child");
    EXPECT_FALSE(read_message(*event, Seal{engine::Secret{9}}));
}

TEST(BusEvent, NamesTheNamespaceUnlessItIsTheUsualOne) {
    auto codec = event::Codec{};
    auto event =
        codec.parse(R"({"specversion":"1.0","id":"1","source":"/s","type":"t","run":"r"})").value();
    EXPECT_EQ(to_bus_json(event, "default"), event.json());
    auto named = codec.parse(to_bus_json(event, "shop")).value();
    EXPECT_EQ(named.attribute("namespace"), Value{"shop"});
    EXPECT_EQ(named.run(), "r");
}

} // namespace
} // namespace sluice::cluster
