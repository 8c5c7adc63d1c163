#include "connector/broker/outgoing.h"

#include <string>

#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::connector::broker {
namespace {

event::Delivery call_with(Value input) {
    return {.key = "r1/4/0",
            .token = "t",
            .target = "out",
            .payload = std::move(input),
            .space = "default",
            .run = "r1"};
}

TEST(BrokerOutgoing, GetsIdAndSourceFromTheCall) {
    auto codec = event::Codec{};

    auto outgoing = outgoing_of(call_with(Value::object({{"type", "order.done"}})), codec);

    ASSERT_TRUE(outgoing) << outgoing.error().message;
    auto event = codec.parse(outgoing->json);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->id(), "r1/4/0");
    EXPECT_EQ(event->source(), "/namespaces/default/runs/r1");
    EXPECT_EQ(event->type(), "order.done");
    EXPECT_TRUE(outgoing->json.contains(R"("partitionkey":"r1")"));
    EXPECT_EQ(outgoing->key, "r1/4/0");
}

TEST(BrokerOutgoing, IsTheSameForEveryAttempt) {
    auto codec = event::Codec{};
    auto first = call_with(Value::object({{"type", "order.done"}, {"data", 7}}));
    auto second = first;
    second.attempt = 2;
    second.token = "another";

    EXPECT_EQ(outgoing_of(first, codec)->json, outgoing_of(second, codec)->json);
}

TEST(BrokerOutgoing, KeepsWhatTheInputSays) {
    auto codec = event::Codec{};
    auto input = Value::object({{"specversion", "1.0"},
                                {"id", "4/0"},
                                {"source", "/runs/r1"},
                                {"type", "order.done"},
                                {"subject", "7"},
                                {"partitionkey", "eu"},
                                {"time", Value{}},
                                {"data", Value::object({{"n", 1}})}});

    auto outgoing = outgoing_of(call_with(input), codec);

    ASSERT_TRUE(outgoing) << outgoing.error().message;
    auto found = value::parse_json(outgoing->json);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, input.without("time"));
}

TEST(BrokerOutgoing, CarriesTheTrace) {
    auto codec = event::Codec{};
    auto call = call_with(Value::object({{"type", "order.done"}}));
    call.trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    EXPECT_TRUE(outgoing_of(call, codec)->json.contains(call.trace));
}

TEST(BrokerOutgoing, RefusesWhatIsNoEvent) {
    auto codec = event::Codec{};
    for (const auto& input :
         {Value{}, Value{7}, Value::object({{"data", 7}}), Value::object({{"type", ""}}),
          Value::object({{"type", 7}}), Value::object({{"type", "a"}, {"Not-a-name", "x"}}),
          Value::object({{"type", "a"}, {"specversion", "0.3"}})}) {
        auto outgoing = outgoing_of(call_with(input), codec);

        ASSERT_FALSE(outgoing) << value::to_json(input);
        EXPECT_EQ(outgoing.error().code, Errc::InvalidInput) << value::to_json(input);
    }
}

} // namespace
} // namespace sluice::connector::broker
