#include "connector/nats/form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::connector::nats {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Value form(std::string_view json) {
    return value::parse_json(json).value();
}

std::string source_refusal(std::string_view json) {
    auto source = parse_source(form(json));
    EXPECT_FALSE(source) << json;
    return source ? std::string{} : source.error().message;
}

} // namespace

TEST(SourceForm, NamesStreams) {
    auto source = parse_source(form(
        R"({"url":"nats://host","streams":["B","A"],"filter":"orders.*.eu","group":"mine",
            "start":"new","trimmed":"skip","purge":true,"prefetch":1048576})"));

    ASSERT_TRUE(source) << source.error().message;
    EXPECT_THAT(source->streams, ElementsAre("A", "B"));
    EXPECT_EQ(source->filter, "orders.*.eu");
    EXPECT_EQ(source->server.group, "mine");
    EXPECT_EQ(source->start, Start::New);
    EXPECT_EQ(source->trimmed, Trimmed::Skip);
    EXPECT_TRUE(source->server.is_purged);
    EXPECT_EQ(source->server.prefetch_bytes, 1'048'576);
}

TEST(SourceForm, NamesASubjectWithAQueue) {
    auto source =
        parse_source(form(R"({"url":"nats://host","subject":"orders.>","queue":"workers"})"));

    ASSERT_TRUE(source) << source.error().message;
    EXPECT_EQ(source->subject, "orders.>");
    EXPECT_EQ(source->queue, "workers");
}

TEST(SourceForm, IsRefusedWithWhatToWriteInstead) {
    EXPECT_THAT(source_refusal(R"({"stream":"A"})"), HasSubstr("url is missing"));
    EXPECT_THAT(source_refusal(R"([])"), HasSubstr("url is missing"));
    EXPECT_THAT(source_refusal(R"({"url":"nats://h"})"), HasSubstr("either stream"));
    EXPECT_THAT(source_refusal(R"({"url":"nats://h","stream":"A","subject":"a"})"),
                HasSubstr("either stream"));
    EXPECT_THAT(source_refusal(R"({"url":"nats://h","stream":"a.b"})"),
                HasSubstr("without spaces"));
    EXPECT_THAT(source_refusal(R"({"url":"nats://h","streams":[]})"), HasSubstr("lists no stream"));
    EXPECT_THAT(source_refusal(R"({"url":"nats://h","streams":["A","A"]})"), HasSubstr("twice"));
    EXPECT_THAT(source_refusal(R"({"url":"nats://h","stream":"A","filter":"a..b"})"),
                HasSubstr("orders.*"));
    EXPECT_THAT(source_refusal(R"({"url":"nats://h","stream":"A","filter":">.a"})"),
                HasSubstr("orders.*"));
    EXPECT_THAT(source_refusal(R"({"url":"nats://h","stream":"A","queue":"q"})"),
                HasSubstr("name a consumer"));
    EXPECT_THAT(source_refusal(R"({"url":"nats://h","subject":"a","consumer":"c"})"),
                HasSubstr("for streams"));
    EXPECT_THAT(source_refusal(R"({"url":"nats://h","stream":"A","start":"last"})"),
                HasSubstr("first or new"));
    EXPECT_THAT(source_refusal(R"({"url":"nats://h","stream":"A","grup":"g"})"),
                HasSubstr("write group"));
    EXPECT_THAT(source_refusal(R"({"url":"nats://h","stream":"A","group":{}})"),
                HasSubstr("write a text"));
}

TEST(SinkForm, NamesASubject) {
    auto sink =
        parse_sink(form(R"({"url":"nats://h","subject":"a.b","core":true,"mode":"binary"})"));

    ASSERT_TRUE(sink) << sink.error().message;
    EXPECT_EQ(sink->subject, "a.b");
    EXPECT_TRUE(sink->is_core);
    EXPECT_EQ(sink->server.mode, Mode::Binary);
}

TEST(SinkForm, RefusesPatterns) {
    for (const auto* subject : {"", "a.*", "a.>", "a b", ".a", "a."}) {
        auto sink = parse_sink(
            Value::object({{"url", "nats://h"}, {"subject", std::string_view{subject}}}));

        ASSERT_FALSE(sink) << subject;
        EXPECT_THAT(sink.error().message, HasSubstr("orders.done"));
    }
}

} // namespace sluice::connector::nats
