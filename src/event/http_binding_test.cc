#include "event/http_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/builder.h"

namespace sluice::event {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;
using Fields = std::vector<HttpField>;

Fields binary_fields(const Fields& more = {}) {
    auto fields =
        Fields{{"ce-specversion", "1.0"}, {"Ce-Id", "1"}, {"CE-SOURCE", "/s"}, {"ce-type", "t.x"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}

Result<std::vector<Event>> read(const Fields& fields, std::string_view body = "") {
    auto codec = Codec{};
    return read_http(codec, fields, body);
}

TEST(HttpBindingTest, ReadsBinaryMode) {
    auto events = read(binary_fields({{"Content-Type", "application/vnd.a+json; charset=utf-8"},
                                      {"ce-my1", "x"},
                                      {"Host", "h"}}),
                       "{\"a\":\n[1]}");
    ASSERT_TRUE(events);
    const auto& event = events->at(0);
    EXPECT_EQ(event.id(), "1");
    EXPECT_EQ(event.attribute("my1"), Value{"x"});
    EXPECT_EQ(event.attribute("datacontenttype"), Value{"application/vnd.a+json; charset=utf-8"});
    EXPECT_EQ(event.data(), Value::object({{"a", Value::list({1})}}));
}

TEST(HttpBindingTest, KeepsABodyAsWhatItsTypeSays) {
    auto data_of = [](std::string_view type, std::string_view body) {
        return read(binary_fields({{"content-type", type}}), body).value().at(0).data();
    };
    EXPECT_EQ(data_of("text/plain", "hello"), Value{"hello"});
    EXPECT_EQ(data_of("application/xml", "<a/>"), Value{"<a/>"});
    EXPECT_EQ(data_of("application/octet-stream", "hi"), Value::bytes("hi"));
    EXPECT_EQ(data_of("application/json", "{\"a\":"), Value::bytes("{\"a\":"));
    EXPECT_EQ(data_of("text/plain", "\xff"), Value::bytes("\xff"));
    EXPECT_FALSE(read(binary_fields())->at(0).has_data());
}

TEST(HttpBindingTest, DecodesFieldsOnce) {
    auto subject_of = [](std::string_view text) {
        return std::string{read(binary_fields({{"ce-subject", text}})).value().at(0).subject()};
    };
    EXPECT_EQ(subject_of("Euro%20%E2%82%ac"), "Euro €");
    EXPECT_EQ(subject_of("%2541"), "%41");
    EXPECT_EQ(subject_of("100%"), "100%");
    EXPECT_EQ(subject_of(R"("a \"b\" c")"), R"(a "b" c)");
}

TEST(HttpBindingTest, SaysWhichFieldIsWrong) {
    for (const auto& [name, value] : std::vector<HttpField>{{"ce-subject", "%C0%A0"},
                                                            {"ce-subject", "a%0Ab"},
                                                            {"ce-my_ext", "x"},
                                                            {"ce-data", "x"},
                                                            {"ce-datacontenttype", "text/plain"}}) {
        auto refused = read(binary_fields({{name, value}}));
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().code, Errc::InvalidInput);
        EXPECT_THAT(refused.error().message, HasSubstr(std::string{name.substr(3)}));
    }
    EXPECT_EQ(read({{"ce-specversion", "1.0"}}).error().code, Errc::InvalidInput);
    EXPECT_EQ(read(binary_fields({{"ce-id", "2"}})).error().code, Errc::InvalidInput);
}

TEST(HttpBindingTest, ReadsStructuredAndBatchMode) {
    auto json = std::string{R"({"specversion":"1.0","id":"1","source":"/s","type":"t"})"};
    EXPECT_EQ(read({{"Content-Type", "Application/CloudEvents+JSON; charset=UTF-8"}}, json)->size(),
              1U);
    EXPECT_EQ(read({{"Content-Type", "application/cloudevents-batch+json"}},
                   "[" + json + "," + json + "]")
                  ->size(),
              2U);
    EXPECT_TRUE(read({{"Content-Type", "application/cloudevents-batch+json"}}, "[]")->empty());
}

TEST(HttpBindingTest, TellsAnotherFormatFromABadEvent) {
    EXPECT_EQ(read({{"Content-Type", "text/plain"}}, "hi").error().code, Errc::Unsupported);
    EXPECT_EQ(read({{"Content-Type", "application/cloudevents+avro"}}).error().code,
              Errc::Unsupported);
    EXPECT_EQ(read({{"Content-Type", "application/cloudevents-batch+avro"}}).error().code,
              Errc::Unsupported);
    EXPECT_EQ(read({{"Content-Type", "application/cloudevents+json"}}, "[]").error().code,
              Errc::InvalidInput);
}

TEST(HttpBindingTest, WritesWhatItReads) {
    auto event = Builder{"1", "/s", "t"}
                     .subject("a \"€\" %")
                     .attribute("level", 5)
                     .data(Value::object({{"a", 1}}))
                     .build();

    auto sent = to_http(event);

    EXPECT_THAT(sent.fields, Contains(Pair("ce-subject", "a%20%22%E2%82%AC%22%20%25")));
    EXPECT_THAT(sent.fields, Contains(Pair("Content-Type", "application/json")));
    auto fields = Fields{sent.fields.begin(), sent.fields.end()};
    auto again = read(fields, sent.body).value().at(0);
    EXPECT_EQ(again.subject(), event.subject());
    EXPECT_EQ(again.data(), event.data());
}

} // namespace
} // namespace sluice::event
