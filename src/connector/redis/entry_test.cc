#include "connector/redis/entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resp/parser.h"

namespace sluice::connector::redis {
namespace {

using ::testing::HasSubstr;

constexpr auto json = std::string_view{
    R"({"specversion":"1.0","id":"1","source":"/s","type":"t","subject":"ä","datacontenttype":"application/json","data":{"a":1}})"};

/// The record that comes of such fields.
struct Read {
    std::string text;
    std::string fault;
};

template <typename... Fields>
Read fields_read(const Fields&... fields) {
    auto commands = resp::Commands{};
    commands.add(fields...);
    auto parser = resp::Parser{};
    EXPECT_TRUE(*parser.feed(commands.text()));
    auto builder = event::ChunkBuilder{};
    EntryReader{}.read(7, parser.reply(commands.text()), builder);
    auto chunk = builder.take("p");
    EXPECT_EQ(chunk.records.size(), 1);
    const auto& record = chunk.records.at(0);
    EXPECT_EQ(record.number, 7);
    return {chunk.bytes->substr(record.begin, record.size), record.fault};
}

TEST(Entry, HasTheWholeEventInOneField) {
    EXPECT_EQ(fields_read("event", json).text, json);
    EXPECT_EQ(fields_read("event", json).fault, "");
    EXPECT_EQ(fields_read("trace", "x", "event", json).text, json);
}

TEST(Entry, HasAttributesAsFields) {
    auto plain = fields_read("ce_specversion", "1.0", "ce_id", "1", "ce_source", "/s", "ce_type",
                             "t", "ce_count", "5", "content-type", "application/json", "data",
                             R"({"a":1})", "other", "is passed over");

    EXPECT_EQ(plain.fault, "");
    auto event = event::Codec{}.parse(plain.text);
    ASSERT_TRUE(event) << event.error().message << plain.text;
    EXPECT_EQ(event->type(), "t");
    EXPECT_EQ(event->data_json(), R"({"a":1})");
    EXPECT_EQ(event->attribute("count")->as_string(), "5");
}

TEST(Entry, WithoutAnEventHasAFault) {
    EXPECT_THAT(fields_read("temperature", "21").fault, HasSubstr("no CloudEvent"));
    EXPECT_EQ(fields_read("temperature", "21").text, "temperature");
    EXPECT_NE(fields_read("data", "x", "content-type", "text/plain").fault, "");
    EXPECT_THAT(fields_read("event", std::string(2'000'000, 'x')).fault, HasSubstr("at most"));
}

TEST(Entry, AFieldWithoutAValueIsPassedOver) {
    EXPECT_THAT(fields_read("event").fault, HasSubstr("no CloudEvent"));
    EXPECT_EQ(fields_read("event", json, "odd").text, json);
}

TEST(Entry, IsWrittenInBothModes) {
    auto commands = resp::Commands{};
    ASSERT_TRUE(EntryWriter{Mode::Structured}.write("s", json, 0, commands));
    ASSERT_TRUE(EntryWriter{Mode::Structured}.write("s", json, 9, commands));
    auto expected = resp::Commands{};
    expected.add("XADD", "s", "*", "event", json);
    expected.add("XADD", "s", "MAXLEN", "~", 9, "*", "event", json);
    EXPECT_EQ(commands.text(), expected.text());

    commands.clear();
    ASSERT_TRUE(EntryWriter{Mode::Binary}.write("s", json, 0, commands));
    EXPECT_THAT(commands.text(), HasSubstr("$5\r\nce_id\r\n$1\r\n1\r\n"));
    EXPECT_THAT(commands.text(), HasSubstr("$12\r\ncontent-type\r\n$16\r\napplication/json\r\n"));
    EXPECT_THAT(commands.text(), HasSubstr("$4\r\ndata\r\n$7\r\n{\"a\":1}\r\n"));
    EXPECT_FALSE(EntryWriter{Mode::Binary}.write("s", "no json", 0, commands));
    EXPECT_EQ(commands.count(), 1);
}

} // namespace
} // namespace sluice::connector::redis
