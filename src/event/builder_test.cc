#include "event/builder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "event/codec.h"
#include "event/testing/events.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::event {

namespace {

// Text that an attribute may have, escapes and all lengths of UTF-8 among it.
rc::Gen<std::string> attribute_text() {
    auto piece = rc::gen::element<std::string>("a", "Z", "0", " ", "\"", "\\", "/", "é", "€", "😀");
    auto join = [](const std::vector<std::string>& pieces) {
        return fmt::format("{}", fmt::join(pieces, ""));
    };
    return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece), join);
}

rc::Gen<std::string> nonempty_text() {
    return rc::gen::map(attribute_text(), [](const std::string& text) { return "x" + text; });
}

rc::Gen<Value> json_value() {
    auto text = rc::gen::map(rc::gen::string<std::string>(), [](std::string raw) {
        for (auto& byte : raw) {
            byte = static_cast<char>(byte & 0x7F);
        }
        return Value{raw};
    });
    auto number = rc::gen::map(rc::gen::arbitrary<std::int64_t>(),
                               [](std::int64_t raw) { return Value{raw}; });
    auto scalar = rc::gen::oneOf(text, number, rc::gen::just(Value{}), rc::gen::just(Value{true}),
                                 rc::gen::just(Value{0.5}));
    auto list =
        rc::gen::map(rc::gen::container<std::vector<Value>>(scalar),
                     [](std::vector<Value> items) { return Value::list(std::move(items)); });
    auto map = rc::gen::map(
        list, [](const Value& items) { return Value::object({{"items", items}, {"", "\n"}}); });
    auto bytes = rc::gen::map(rc::gen::string<std::string>(),
                              [](const std::string& raw) { return Value::bytes(raw); });
    return rc::gen::oneOf(scalar, list, map, bytes);
}

} // namespace

TEST(Builder, WritesTheAttributesInAFixedOrder) {
    auto event = Builder("order/7", "orders", "order.paid")
                     .data(Value::object({{"amount", 5}}))
                     .attribute("zeta", true)
                     .scope("resize/17")
                     .run("r-1")
                     .attribute("alpha", 5)
                     .time(*value::parse_time("2026-11-15T05:57:30.25Z"))
                     .subject("7")
                     .build();

    EXPECT_EQ(
        event.json(),
        R"({"specversion":"1.0","id":"order/7","source":"orders","type":"order.paid","subject":"7",)"
        R"("time":"2026-11-15T05:57:30.25Z","run":"r-1","scope":"resize/17","zeta":true,"alpha":5,"data":{"amount":5}})");
    EXPECT_EQ(event.subject(), "7");
    EXPECT_EQ(event.scope(), "resize/17");
}

TEST(Builder, LeavesOutWhatIsEmpty) {
    auto event =
        Builder("1", "/s", "t").subject("").run("").scope("").attribute("gone", Value{}).build();

    EXPECT_EQ(event.json(), R"({"specversion":"1.0","id":"1","source":"/s","type":"t"})");
}

TEST(Builder, TakesKnownAttributesByName) {
    auto event = Builder("1", "/s", "t")
                     .attribute("subject", "s")
                     .attribute("time", "2026-11-15T05:57:30Z")
                     .attribute("run", 7)
                     .attribute("scope", "a/b")
                     .attribute("datacontenttype", "text/plain")
                     .attribute("ext", 1)
                     .attribute("ext", 2)
                     .build();

    EXPECT_EQ(event.subject(), "s");
    EXPECT_EQ(event.time(), *value::parse_time("2026-11-15T05:57:30Z"));
    EXPECT_EQ(event.run(), "7");
    EXPECT_EQ(event.scope(), "a/b");
    EXPECT_EQ(event.attribute("ext"), Value{2});
    EXPECT_TRUE(Codec{}.parse(event.json()).has_value());
}

// With nothing to escape it is not read back: it must know the same of itself as if it were.
TEST(Builder, KnowsItsPartsWithoutReadingThem) {
    for (const auto& data : {Value{}, Value{7}, Value{"a:b"}, Value::bytes("a:b"),
                             Value::object({{"id", "other"}, {"text", "x\\\"\n"}})}) {
        for (const auto* subject : {"", "7", "a\"b", "\n", "\\", "\xF0\x9F\x98"}) {
            auto event = Builder("1", "/s", "t")
                             .subject(subject)
                             .run("r")
                             .scope("a/b")
                             .attribute("ext", "\\")
                             .time(Time{})
                             .data(data)
                             .build();
            auto text = std::make_shared<std::string>(event.json());
            text->append(Codec::padding_bytes, '\0');
            auto read =
                Codec{}.parse_trusted(std::string_view{*text}.substr(0, event.json().size()), text);
            ASSERT_TRUE(read);

            EXPECT_EQ(event.id(), read->id());
            EXPECT_EQ(event.source(), read->source());
            EXPECT_EQ(event.type(), read->type());
            EXPECT_EQ(event.subject(), read->subject());
            EXPECT_EQ(event.run(), read->run());
            EXPECT_EQ(event.scope(), read->scope());
            EXPECT_EQ(event.time(), read->time());
            EXPECT_EQ(event.has_data(), read->has_data());
            EXPECT_EQ(event.data_json(), read->data_json());
            EXPECT_EQ(event.data(), read->data());
            EXPECT_EQ(event.identity(), read->identity());
        }
    }
}

TEST(Builder, BuildsTheSameTwice) {
    auto builder = Builder("1", "/s", "t").data("x");
    auto first = builder.build();

    EXPECT_EQ(builder.build().json(), first.json());
}

TEST(BuilderDeathTest, StopsWithoutIdSourceOrType) {
    EXPECT_DEATH(Builder("", "/s", "t"), "every event has these");
    EXPECT_DEATH(Builder("1", "", "t"), "every event has these");
    EXPECT_DEATH(Builder("1", "/s", ""), "every event has these");
    EXPECT_DEATH(Builder("1", "/s", "t").attribute("data", 1), "a way of its own");
}

TEST(TestingEvents, DifferInTheirIds) {
    auto event = testing::event_of("paid", "7", 5);

    EXPECT_NE(event.id(), testing::event_named("paid").id());
    EXPECT_EQ(event.type(), "paid");
    EXPECT_EQ(event.subject(), "7");
    EXPECT_EQ(event.data(), Value{5});
}

RC_GTEST_PROP(Builder, BuildsWhatTheCodecReadsBack, ()) {
    auto time = Time{Nanos{*rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000'000'000)}};
    auto data = *json_value();
    auto extension = *attribute_text();
    auto event = Builder(*nonempty_text(), "/s", *nonempty_text())
                     .subject(*attribute_text())
                     .run(*attribute_text())
                     .time(time)
                     .attribute("ext", extension)
                     .attribute("number", *rc::gen::arbitrary<std::int32_t>())
                     .data(data)
                     .build();

    auto parsed = Codec{}.parse(event.json());

    RC_ASSERT(parsed.has_value());
    RC_ASSERT(parsed->json() == event.json());
    RC_ASSERT(parsed->id() == event.id());
    RC_ASSERT(parsed->type() == event.type());
    RC_ASSERT(parsed->subject() == event.subject());
    RC_ASSERT(parsed->run() == event.run());
    RC_ASSERT(parsed->time() == time);
    RC_ASSERT(parsed->data_json() == event.data_json());
    RC_ASSERT(parsed->identity() == event.identity());
    RC_ASSERT(parsed->attributes() == event.attributes());
    RC_ASSERT(parsed->attribute("ext") == Value{extension});
    RC_ASSERT(parsed->data() == data);
}

} // namespace sluice::event
