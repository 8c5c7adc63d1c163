#include "event/codec.h"

#include <span>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "value/json.h"

namespace sluice::event {

namespace {

using ::testing::HasSubstr;

constexpr auto required =
    std::string_view{R"("specversion":"1.0","id":"1","source":"/s","type":"t.x")"};

std::string event_with(std::string_view members) {
    return fmt::format("{{{},{}}}", required, members);
}

Result<Event> parse(std::string_view json, Limits limits = {}) {
    return Codec{limits}.parse(json);
}

std::string message_of(std::string_view json, Limits limits = {}) {
    auto event = parse(json, limits);
    return event ? "accepted" : event.error().message;
}

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

// Frees what it shares as soon as the last event lets go, so that a sanitizer sees a dangling view.
std::shared_ptr<const std::string> share(std::string_view text) {
    return std::make_shared<const std::string>(std::string{text} +
                                               std::string(Codec::padding_bytes, '"'));
}

Result<Event> parse_shared(std::string_view json) {
    auto owner = share(json);
    return Codec{}.parse_shared(std::string_view{*owner}.substr(0, json.size()), owner);
}

Result<Event> parse_trusted(std::string_view json) {
    auto owner = share(json);
    return Codec{}.parse_trusted(std::string_view{*owner}.substr(0, json.size()), owner);
}

/// Events and what is none, much alike; the first as they are meant to be.
std::vector<std::string> texts_alike() {
    auto usual = event_with(
        R"("subject":"a","ext":"x","time":"2026-11-15T05:57:30Z","none":null,"data":{"n":1})");
    auto texts = std::vector<std::string>{
        usual,
        event_with(R"("subject":"b","ext":"y","time":"2026-11-15T05:57:31Z","none":1,"data":7)"),
        event_with(R"("subject":"a","ext":"x","time":"yesterday","none":null,"data":{"n":1})"),
        event_with(R"("subject":"a","ext":"x","ext":"x")"),
        event_with(R"("subject":"a","subject":"a")"),
        event_with(R"("subject":"","ext":"x")"),
        event_with(R"("subject":null,"ext":true,"time":null,"data":null)"),
        event_with(R"("subject":"a\u0041","ext":"x\n")"),
        event_with(R"("subject":"a" , "ext":"x")"),
        event_with("\n\"subject\":\"a\",\n\"ext\":\"x\"\n"),
        event_with(R"("subject":"a"x,"ext":"x")"),
        event_with(R"("subject":"ab","ext":"x","data":1,"data_base64":"AA==")"),
        event_with(R"("data":1,"subject":"a")"),
        event_with(R"("\u0073ubject":"a","ext":"x")"),
        fmt::format("{{{}}}", required),
        fmt::format("  {{{}}}  ", required),
        fmt::format("{{{}}} {{", required),
        fmt::format("{{{},", required),
        R"({"specversion":"1.0","id":"1","source":"/s"})",
        R"({"specversion":"1.0","id":"","source":"/s","type":"t.x"})",
        R"({"specversion":"1.0","id":"1","source":"not a uri","type":"t.x"})",
        R"({"specversion":"0.3","id":"1","source":"/s","type":"t.x"})",
        R"({"specversion":"1.0)",
        R"({"specversion":"1.0")",
        "{}",
        "",
    };
    for (auto at = std::size_t{0}; at < usual.size(); ++at) {
        texts.push_back(usual.substr(0, at));
        texts.push_back(usual.substr(0, at) + "\n" + usual.substr(at));
    }
    return texts;
}

std::string told(const Result<Event>& event) {
    return event ? fmt::format("{} {} {}", event->json(), value::to_json(event->whole()),
                               event->subject())
                 : event.error().message;
}

} // namespace

TEST(Codec, ReadsEveryAttribute) {
    auto event = parse(event_with(
        R"("subject":"order-7","time":"2026-11-15T05:57:30Z","run":"r-1","scope":"resize/17",)"
        R"("datacontenttype":"application/json","dataschema":"http://x.org/s","ext1":"v","ext2":5,)"
        R"("ext3":true,"ext4":-2147483648,"gone":null,"data":{"a":[1,null]})"));

    ASSERT_TRUE(event.has_value()) << event.error().message;
    EXPECT_EQ(event->id(), "1");
    EXPECT_EQ(event->source(), "/s");
    EXPECT_EQ(event->type(), "t.x");
    EXPECT_EQ(event->subject(), "order-7");
    EXPECT_EQ(event->run(), "r-1");
    EXPECT_EQ(event->scope(), "resize/17");
    EXPECT_EQ(event->time()->time_since_epoch(), std::chrono::seconds{1794722250});
    EXPECT_EQ(event->attribute("ext1"), Value{"v"});
    EXPECT_EQ(event->attribute("ext2"), Value{5});
    EXPECT_EQ(event->attribute("ext3"), Value{true});
    EXPECT_EQ(event->attribute("ext4"), Value{std::int64_t{-2147483648}});
    EXPECT_EQ(event->attribute("gone"), std::nullopt);
    EXPECT_EQ(event->data(), *value::parse_json(R"({"a":[1,null]})"));
}

TEST(Codec, TakesWhatTheSpecificationAllows) {
    for (
        auto members : {
            R"("subject":"Grüße 😀")",
            R"("subject":"\ud83d\ude00")",
            R"("source2":"x")",
            R"("time":null,"subject":null,"run":null,"scope":null,"data_base64":null)",
            R"("data":1,"data_base64":null)",
            R"("datacontenttype":"text/plain; charset=\"utf-8\"; a=b")",
            R"("datacontenttype":"Application/vnd.x+JSON")",
            R"("dataschema":"urn:x:y#z")",
            R"("extension":"")",
            R"("max":2147483647,"negativezero":-0)",
            R"("time":"2026-11-15T05:57:30.123456789+05:30")",
            R"("scope":"a")",
            R"("data":"\u0000\u007f\uffff a control character is fine in data")",
            R"("data":[0,-0,1.5e-7,1E99,123456789012345678901234567890,{"":{"":[]}},"\\\/\b\f\n\r\t"])",
        }) {
        EXPECT_EQ(message_of(event_with(members)), "accepted") << members;
    }
}

TEST(Codec, NamesTheAttributeWhatItIsAndWhatWasExpected) {
    EXPECT_EQ(message_of(event_with(R"("time":"yesterday")")),
              "attribute \"time\" is \"yesterday\": expected an RFC 3339 time such as "
              "2026-11-15T05:57:30Z, from 1678 to 2261");
    EXPECT_EQ(message_of(R"({"specversion":"1.0","source":"/s","type":"t"})"),
              "attribute \"id\" is missing: expected a non-empty string");
    EXPECT_EQ(message_of(event_with(R"("ext":[1, 2])")),
              "attribute \"ext\" is [1, 2]: expected a string, a boolean or an integer of 32 bits");
    EXPECT_EQ(
        message_of(event_with(R"("subject":"a\nb")")),
        "attribute \"subject\" is \"a\\nb\": expected no control characters and no noncharacters");
    EXPECT_EQ(message_of(event_with(R"("my-ext":1)")),
              "attribute name \"my-ext\": expected one or more of a-z and 0-9");
    EXPECT_EQ(message_of(event_with(R"("data":{"a":[1,]})")),
              "not a JSON event: expected a value at byte 72");
}

TEST(Codec, ShowsOnlyTheBeginningOfALongValue) {
    auto message = message_of(event_with("\"time\":\"" + std::string(5000, 'x') + "\""));

    EXPECT_LT(message.size(), 250U);
    EXPECT_THAT(message, HasSubstr("xxx\"…: expected"));
}

TEST(Codec, RefusesAnEventWithoutARequiredAttribute) {
    for (auto json : {
             R"({"id":"1","source":"/s","type":"t"})",
             R"({"specversion":"0.3","id":"1","source":"/s","type":"t"})",
             R"({"specversion":1.0,"id":"1","source":"/s","type":"t"})",
             R"({"specversion":"1.0","id":"","source":"/s","type":"t"})",
             R"({"specversion":"1.0","id":null,"source":"/s","type":"t"})",
             R"({"specversion":"1.0","id":7,"source":"/s","type":"t"})",
             R"({"specversion":"1.0","id":"1","type":"t"})",
             R"({"specversion":"1.0","id":"1","source":"","type":"t"})",
             R"({"specversion":"1.0","id":"1","source":" ","type":"t"})",
             R"({"specversion":"1.0","id":"1","source":"%zz","type":"t"})",
             R"({"specversion":"1.0","id":"1","source":"/s"})",
             R"({"specversion":"1.0","id":"1","source":"/s","type":{}})",
             R"({"specversion":"1.0","id":"1","source":"/s","type":""})",
             R"({})",
         }) {
        EXPECT_THAT(message_of(json), HasSubstr("expected")) << json;
    }
}

TEST(Codec, RefusesWhatBreaksARule) {
    for (
        auto members : {
            R"("subject":"")",
            R"("subject":5)",
            R"("subject":"\ud800")",
            R"("subject":"\udc00\ud800")",
            R"("subject":"\u0085")",
            R"("subject":"\ufdd0")",
            R"("subject":"\ud83f\udfff")",
            "\"subject\":\"\x7F\"",
            "\"subject\":\"\xC2\x80\"",
            "\"subject\":\"\xEF\xBF\xBF\"",
            "\"subject\":\"\xFF\"",
            "\"subject\":\"\xC0\xAF\"",
            "\"subject\":\"\xED\xA0\x80\"",
            "\"subject\":\"\xF4\x90\x80\x80\"",
            "\"subject\":\"a\nb\"",
            R"("time":"2018-04-05 03:56")",
            R"("time":"2018-13-05T03:56:00Z")",
            R"("time":"")",
            R"("time":1)",
            R"("datacontenttype":"")",
            R"("datacontenttype":"json")",
            R"("datacontenttype":"a/b;")",
            R"("dataschema":"/relative")",
            R"("dataschema":"")",
            R"("run":"")",
            R"("run":7)",
            R"("scope":"")",
            R"("scope":true)",
            R"("scope":"/a")",
            R"("scope":"a/")",
            R"("scope":"a//b")",
            R"("scope":"1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32/33")",
            R"("ext":{"a":1})",
            R"("ext":[])",
            R"("ext":1.0)",
            R"("ext":1e2)",
            R"("ext":2147483648)",
            R"("ext":-2147483649)",
            R"("Ext":1)",
            R"("data_base65":1)",
            R"("":1)",
            R"("naïve":1)",
            R"("id":"1")",
            R"("\u0069d":"1")",
            R"("ext":1,"ext":1)",
            R"("ext":1,"e\u0078t":1)",
            R"("subject":null,"subject":"x")",
            R"("data":1,"data":1)",
            R"("data":1,"data_base64":"AA==")",
            R"("data_base64":"AA==","data":null)",
            R"("data_base64":"AA=")",
            R"("data_base64":"A===")",
            R"("data_base64":"AB==")",
            R"("data_base64":"A A=")",
            R"("data_base64":"=AAA")",
            R"("data_base64":7)",
        }) {
        auto event = parse(event_with(members));
        ASSERT_FALSE(event.has_value()) << members;
        EXPECT_EQ(event.error().code, Errc::InvalidInput) << members;
    }
}

TEST(Codec, RefusesMalformedDataHoweverDeepItStands) {
    for (auto malformed : {"",
                           "tru",
                           "True",
                           "nul",
                           "01",
                           "-",
                           "+1",
                           ".5",
                           "1.",
                           "1e",
                           "1e+",
                           "0x1",
                           "1e999",
                           "-1e400",
                           "NaN",
                           "'a'",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\ud800\\u0041\"",
                           "\"\t\"",
                           "\"\xFF\"",
                           "[",
                           "]",
                           "[1",
                           "[1 2]",
                           "[1,]",
                           "[,1]",
                           "[1}",
                           "{",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{\"a\" 1}",
                           "{a:1}",
                           "{1:1}",
                           "{\"a\":1]",
                           "{\"a\":1 \"b\":2}",
                           "1 2",
                           "/**/1",
                           "\xEF\xBB\xBF"
                           "1"}) {
        for (auto frame :
             {"{}", "[{}]", "{{\"a\":{{\"b\":[0,{}]}}}}", "[[1,2],{{\"k\":\"v\",\"x\":{}}}, 3]"}) {
            auto data = fmt::format(fmt::runtime(frame), malformed);
            if (data == "[]") {
                continue;
            }
            EXPECT_NE(message_of(event_with("\"data\":" + data)), "accepted") << data;
            EXPECT_FALSE(parse_trusted(event_with("\"data\":" + data)).has_value()) << data;
        }
    }
}

TEST(Codec, RefusesWhatIsNotOneObject) {
    auto event = event_with("\"a\":1");
    for (const auto& json : {std::string{}, std::string{" "}, std::string{"\"x\""},
                             std::string{"}"}, "[" + event + "]", event + " x", event + event,
                             event + std::string(1, '\0'), "\xEF\xBB\xBF" + event}) {
        EXPECT_NE(message_of(json), "accepted") << json;
    }
    for (auto size = std::size_t{0}; size < event.size(); ++size) {
        EXPECT_NE(message_of(std::string_view{event}.substr(0, size)), "accepted") << size;
        EXPECT_FALSE(parse_shared(std::string_view{event}.substr(0, size)).has_value()) << size;
        EXPECT_FALSE(parse_trusted(std::string_view{event}.substr(0, size)).has_value()) << size;
    }
}

TEST(Codec, KeepsTextsThatHadEscapes) {
    auto json = std::string{
        R"({"specversion":"1.0","i\u0064":"a\/b","source":"\u002fs","type":"t\u002ex",)"
        R"("subject":"\u00e9\ud83d\ude00","run":"\"","scope":"a\/b","data":{"k\n":"\t"}})"};
    auto event = parse_shared(json);

    ASSERT_TRUE(event.has_value()) << event.error().message;
    EXPECT_EQ(event->id(), "a/b");
    EXPECT_EQ(event->source(), "/s");
    EXPECT_EQ(event->type(), "t.x");
    EXPECT_EQ(event->subject(), "é😀");
    EXPECT_EQ(event->run(), "\"");
    EXPECT_EQ(event->scope(), "a/b");
    EXPECT_EQ(event->attribute("id"), Value{"a/b"});
    EXPECT_EQ(event->json(), json);
    EXPECT_EQ(event->data(), Value::object({{"k\n", "\t"}}));
}

TEST(Codec, PutsAnEventOnOneLine) {
    auto event =
        parse_shared(" \r\n{\n" + std::string{required} + ",\r\n\"data\": [1,\n\"a\\nb\"]}\n");

    ASSERT_TRUE(event.has_value()) << event.error().message;
    EXPECT_EQ(event->json(), "{ " + std::string{required} + ",  \"data\": [1, \"a\\nb\"]}");
    EXPECT_EQ(event->id(), "1");
    EXPECT_EQ(event->data(), Value::list({1, "a\nb"}));
}

TEST(Codec, SharesTheBufferOfAnOrdinaryEvent) {
    auto text = event_with("\"data\":1");
    auto owner = share(text + "\n" + text);
    auto event = Codec{}.parse_shared(std::string_view{*owner}.substr(0, text.size()), owner);

    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->json().data(), owner->data());
    EXPECT_EQ(owner.use_count(), 2);
}

TEST(Codec, HoldsToItsLimits) {
    auto json = event_with("\"a\":1,\"data\":" + nested(4));
    auto code_of = [&](Limits limits) {
        auto event = parse(json, limits);
        return event ? std::nullopt : std::optional{event.error().code};
    };

    EXPECT_EQ(code_of({.event_bytes_max = json.size(), .depth_max = 4, .attributes_max = 5}),
              std::nullopt);
    EXPECT_EQ(code_of({.event_bytes_max = json.size() - 1}), Errc::LimitExceeded);
    EXPECT_EQ(code_of({.depth_max = 3}), Errc::LimitExceeded);
    EXPECT_EQ(code_of({.attributes_max = 4}), Errc::LimitExceeded);
    EXPECT_EQ(parse(event_with("\"data\":" + nested(129))).error().code, Errc::LimitExceeded);
    EXPECT_EQ(parse(event_with("\"data\":" + std::string(900'000, '['))).error().code,
              Errc::LimitExceeded);
}

TEST(Codec, ReadsTheDeepestDataItTakes) {
    auto event = parse(event_with("\"data\":" + nested(1000)), {.depth_max = 1000});

    ASSERT_TRUE(event.has_value()) << event.error().message;
    EXPECT_TRUE(event->data().is_list());
    EXPECT_FALSE(parse(event_with("\"data\":" + nested(1001)), {.depth_max = 1000}).has_value());
}

TEST(Codec, ReadsABatch) {
    auto one = event_with("\"data\":1");
    auto two = event_with("\"subject\":\"\\u0041\"");
    auto events = Codec{}.parse_batch(" [\n" + one + " ,\n " + two + "]\n");

    ASSERT_TRUE(events.has_value()) << events.error().message;
    ASSERT_EQ(events->size(), 2U);
    EXPECT_EQ(events->at(0).json(), one);
    EXPECT_EQ(events->at(1).subject(), "A");
    EXPECT_EQ(to_batch_json(*events), "[" + one + "," + two + "]");
    EXPECT_TRUE(Codec{}.parse_batch("[]")->empty());
    EXPECT_EQ(to_batch_json({}), "[]");
}

TEST(Codec, RefusesABatchWithOneBadEventAndSaysWhich) {
    auto good = event_with("\"data\":1");

    EXPECT_EQ(Codec{}.parse_batch("[" + good + ",{}]").error().message,
              "event 1: attribute \"specversion\" is missing: expected \"1.0\"");
    for (const auto& batch : std::initializer_list<std::string>{
             "", good, "[" + good, "[" + good + ",]", "[," + good + "]", "[1]", "[null]", "[]]",
             "[" + good + good + "]", "[" + good + "] x"}) {
        EXPECT_FALSE(Codec{}.parse_batch(batch).has_value()) << batch;
    }
}

TEST(Codec, HoldsABatchToItsLimits) {
    auto event = event_with("\"data\":1");
    auto batch = "[" + event + "," + event + "]";
    auto code_of = [&](Limits limits) {
        auto events = Codec{limits}.parse_batch(batch);
        return events ? std::nullopt : std::optional{events.error().code};
    };

    EXPECT_EQ(code_of({.event_bytes_max = event.size(), .batch_events_max = 2}), std::nullopt);
    EXPECT_EQ(code_of({.batch_events_max = 1}), Errc::LimitExceeded);
    EXPECT_EQ(code_of({.batch_bytes_max = batch.size() - 1}), Errc::LimitExceeded);
    EXPECT_EQ(code_of({.event_bytes_max = event.size() - 1}), Errc::LimitExceeded);
}

TEST(Codec, FindsTheAttributesOfWhatWasStored) {
    auto json = event_with(
        R"("subject":"a\tb","time":"2026-11-15T05:57:30Z","run":"r","data_base64":"AP8=")");
    auto event = parse_trusted(json);

    ASSERT_TRUE(event.has_value()) << event.error().message;
    EXPECT_EQ(event->json(), json);
    EXPECT_EQ(std::tuple(event->id(), event->source(), event->type()),
              std::tuple("1", "/s", "t.x"));
    EXPECT_EQ(event->subject(), "a\tb");
    EXPECT_EQ(event->run(), "r");
    EXPECT_TRUE(event->time().has_value());
    EXPECT_EQ(event->data(), Value::bytes({"\0\xFF", 2}));
}

TEST(Codec, CallsAStoredTextThatIsNoEventCorrupt) {
    for (auto json :
         {"", "1", "{}", R"({"id":"1","source":"/s"})", R"({"id":"1","source":"/s","type":7})",
          R"({"id":"1","source":"/s","type":"t"} x)"}) {
        auto event = parse_trusted(json);
        ASSERT_FALSE(event.has_value()) << json;
        EXPECT_EQ(event.error().code, Errc::Corrupt) << json;
    }
}

TEST(Codec, TakesAsDataExactlyWhatTheJsonReaderTakes) {
    auto document = std::string{
        "[0,-1.5e3,{\"a\":true,\"\\u00e9\\n\":null} "
        ",[[],{}],\"\xC3\xA9\xF0\x9F\x98\x80\\ud83d\\ude00\"]"};
    auto codec = Codec{};
    for (auto at = std::size_t{0}; at < document.size(); ++at) {
        for (auto byte = 0; byte < 256; ++byte) {
            auto data = document;
            data[at] = static_cast<char>(byte);

            auto event = codec.parse("{\"data\":" + data + "," + std::string{required} + "}");

            auto value = value::parse_json(data);
            ASSERT_EQ(event.has_value(), value.has_value()) << data;
            ASSERT_TRUE(!event || event->data() == *value) << data;
        }
    }
}

// Members that stand where they stood before are not looked at as closely.
TEST(Codec, ReadsTheSameWhateverCameBefore) {
    auto texts = texts_alike();
    for (const auto& first : std::span{texts}.first(25)) {
        for (const auto& second : texts) {
            auto codec = Codec{};
            for (auto count = 0; count < 6; ++count) {
                std::ignore = codec.parse(first);
            }
            EXPECT_EQ(told(codec.parse(second)), told(parse(second)))
                << "behind " << first << ": " << second;
        }
    }
}

TEST(Codec, ReadsTheSameHoweverEventsChange) {
    auto texts = texts_alike();
    for (auto other : {R"("ext":"x","data":1,"ext2":"z")", R"("ext":"y","data":2,"ext2":"z")",
                       R"("ext":"y","data":2,"ext":"y")", R"("ext":"y","data":2,"ext2":1)"}) {
        texts.insert(texts.begin(), event_with(other));
    }
    auto random = Random{29};
    auto codec = Codec{};
    for (auto count = 0; count < 10'000; ++count) {
        // Mostly some few of them, so that what they have alike is learned.
        auto alike = 5 + count / 300;
        const auto& text = texts[random.below(random.below(10) == 0 ? texts.size() : alike)];

        EXPECT_EQ(told(codec.parse(text)), told(parse(text))) << "number " << count << ": " << text;
    }
}

} // namespace sluice::event
