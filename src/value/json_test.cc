#include "value/json.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "value/internal/json_fault.h"
#include "value/testing/arbitrary.h"

namespace sluice::value {

namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

std::string literal_of(std::string_view text) {
    auto out = std::string{};
    write_json_string(text, out);
    return out;
}

std::string message_of(std::string_view text) {
    auto value = parse_json(text);
    return value ? "parsed" : value.error().message;
}

} // namespace

TEST(Json, ReadsEveryKind) {
    EXPECT_EQ(parse_json("null"), Value{});
    EXPECT_EQ(parse_json(" true "), Value{true});
    EXPECT_EQ(parse_json("-12"), Value{-12});
    EXPECT_EQ(parse_json("1.5e3"), Value{1500.0});
    EXPECT_EQ(parse_json("\"h\\u00e9\""), Value{"h\u00e9"});
    EXPECT_EQ(parse_json("[1,[]]"), Value::list({1, Value::list({})}));
    EXPECT_EQ(parse_json(R"({"a":{"b":1}})"), Value::object({{"a", Value::object({{"b", 1}})}}));
}

TEST(Json, TakesTheNarrowestKindOfInteger) {
    EXPECT_EQ(parse_json("9223372036854775807"), Value{std::numeric_limits<std::int64_t>::max()});
    EXPECT_EQ(parse_json("-9223372036854775808"), Value{std::numeric_limits<std::int64_t>::min()});
    EXPECT_EQ(parse_json("9223372036854775808"), Value{std::uint64_t{1} << 63U});
    EXPECT_EQ(parse_json("18446744073709551615"), Value{std::numeric_limits<std::uint64_t>::max()});
    EXPECT_EQ(parse_json("1.0"), Value{1.0});
    EXPECT_EQ(parse_json("-0"), Value{0});
    EXPECT_TRUE(std::signbit(parse_json("-0.0")->as_double()));
}

TEST(Json, IntegersBeyond64BitsBecomeDoubles) {
    EXPECT_EQ(parse_json("18446744073709551616"), Value{0x1p64});
    EXPECT_EQ(parse_json("-9223372036854775809"), Value{-0x1p63});
    EXPECT_EQ(parse_json("1" + std::string(300, '0')), Value{1e300});
    EXPECT_EQ(parse_json(R"({"a\"1":[18446744073709551616,"18446744073709551616",3]})"),
              Value::object({{"a\"1", Value::list({0x1p64, "18446744073709551616", 3})}}));
}

TEST(Json, RefusesNumbersBeyondADouble) {
    for (const auto& text : {"1e400"s, "-1e400"s, "1" + std::string(400, '0')}) {
        EXPECT_EQ(parse_json(text).error().code, Errc::InvalidInput) << text;
    }
}

TEST(Json, OfRepeatedKeysTheFirstStands) {
    EXPECT_EQ(to_json(*parse_json(R"({"a":1,"b":2,"\u0061":3,"b":[4]})")), R"({"a":1,"b":2})");
}

TEST(Json, RefusesWhatIsNotOneJsonText) {
    for (auto text : {""sv,
                      " "sv,
                      "nul"sv,
                      "nullx"sv,
                      "truefalse"sv,
                      "True"sv,
                      "1 2"sv,
                      "[1] []"sv,
                      "{} x"sv,
                      "[1,]"sv,
                      "[,1]"sv,
                      "[1 2]"sv,
                      "[1"sv,
                      "]"sv,
                      "{"sv,
                      "{\"a\"}"sv,
                      "{\"a\":}"sv,
                      "{\"a\":1,}"sv,
                      "{a:1}"sv,
                      "{1:1}"sv,
                      "{'a':1}"sv,
                      "[1}"sv,
                      "\"a"sv,
                      "\"\\x\""sv,
                      "\"\\u12\""sv,
                      "\"\n\""sv,
                      "\"\t\""sv,
                      "01"sv,
                      "-"sv,
                      "+1"sv,
                      ".5"sv,
                      "1."sv,
                      "1e"sv,
                      "0x10"sv,
                      "NaN"sv,
                      "Infinity"sv,
                      "-Infinity"sv,
                      "00000000000000000000000"sv,
                      "1a"sv,
                      "//x\n1"sv,
                      "1,"sv,
                      "\0"sv,
                      "1\0"sv,
                      "[1\0]"sv,
                      "\xEF\xBB\xBF[]"sv}) {
        auto value = parse_json(text);

        ASSERT_FALSE(value) << text;
        EXPECT_EQ(value.error().code, Errc::InvalidInput) << text;
        EXPECT_TRUE(find_json_fault(text)) << text;
    }
}

TEST(Json, RefusesWhatIsNotUtf8) {
    for (auto text : {"\"\xFF\""sv, "\"\xC3\""sv, "\"\xC0\x80\""sv, "\"\xED\xA0\x80\""sv,
                      "\"\xF5\x80\x80\x80\""sv, "[1,\xFF]"sv, R"("\ud800")"sv, R"("\udc00")"sv,
                      R"("\ud800\u0041")"sv}) {
        EXPECT_EQ(parse_json(text).error().code, Errc::InvalidInput) << text;
    }
}

TEST(Json, SaysWhereItStopped) {
    EXPECT_EQ(message_of("[1, oops]"), R"(not JSON at byte 4: found "o")");
    EXPECT_EQ(message_of(R"({"a":1,})"), R"(not JSON at byte 7: found "}")");
    EXPECT_EQ(message_of("[1]]"), R"(not JSON at byte 3: found "]")");
    EXPECT_EQ(message_of("[\"a\nb\"]"), R"(not JSON at byte 3: found "\n")");
    EXPECT_EQ(message_of(R"({"a":)"), "not JSON: the text ends too early at byte 5");
    EXPECT_EQ(message_of(""), "not JSON: the text is empty");
}

TEST(Json, KeepsToItsDepth) {
    auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };

    EXPECT_TRUE(parse_json(nested(128)));
    EXPECT_EQ(parse_json(nested(129)).error().code, Errc::LimitExceeded);
    EXPECT_TRUE(parse_json(nested(3), {.depth_max = 3}));
    EXPECT_EQ(parse_json(nested(4), {.depth_max = 3}).error().code, Errc::LimitExceeded);
    // Keys that are on the heap: nothing of what was read may leak.
    constexpr auto deep =
        R"({"a key of some length": {"another one like it": {"and a third": 1}}})";
    EXPECT_EQ(parse_json(deep, {.depth_max = 2}).error().code, Errc::LimitExceeded);
    EXPECT_TRUE(parse_json("1", {.depth_max = 0}));
    EXPECT_TRUE(parse_json(nested(1000), {.depth_max = 5000}));
    EXPECT_EQ(parse_json(nested(1001), {.depth_max = 5000}).error().code, Errc::LimitExceeded);
    EXPECT_EQ(parse_json(nested(100'000)).error().code, Errc::LimitExceeded);
    EXPECT_FALSE(parse_json(std::string(100'000, '[')));
}

TEST(Json, LosesNothingOfWhatIsTooDeep) {
    // The sanitizer tells of keys that stayed behind.
    auto text = std::string{"1"};
    for (auto depth = 0; depth < 130; ++depth) {
        text = R"({"a key that is too long to be kept inside": )" + text + "}";
    }

    EXPECT_EQ(parse_json(text).error().code, Errc::LimitExceeded);
}

TEST(Json, KeepsToItsSize) {
    EXPECT_TRUE(parse_json("12345", {.bytes_max = 5}));

    auto value = parse_json("123456", {.bytes_max = 5});

    ASSERT_FALSE(value);
    EXPECT_EQ(value.error(),
              (Error{Errc::LimitExceeded, "the JSON text has 6 bytes, the limit is 5"}));
}

TEST(Json, ReadsTextsLargerThanTheKeptParserTakes) {
    auto text = std::string(2'000'000, 'x');

    EXPECT_EQ(parse_json(literal_of(text)), Value{text});
}

TEST(Json, WritesEveryKind) {
    auto value = Value::object({
        {"null", {}},
        {"bool", true},
        {"int", -1},
        {"uint", std::numeric_limits<std::uint64_t>::max()},
        {"double", 1.0},
        {"bytes", Value::bytes("\xFF\xFE")},
        {"time", Time{Nanos{1'500'000'000}}},
        {"duration", Nanos{-1'500'000'000}},
        {"list", Value::list({1, Value::list({})})},
    });

    EXPECT_EQ(to_json(value),
              R"({"null":null,"bool":true,"int":-1,"uint":18446744073709551615,"double":1.0,)"
              R"("bytes":"//4=","time":"1970-01-01T00:00:01.5Z","duration":"-1.5s",)"
              R"("list":[1,[]]})");
}

TEST(Json, WritesDoublesShortAndRecognisable) {
    EXPECT_EQ(to_json(0.1), "0.1");
    EXPECT_EQ(to_json(-0.0), "-0.0");
    EXPECT_EQ(to_json(1e22), "1e+22");
    EXPECT_EQ(to_json(100000.0), "100000.0");
    EXPECT_EQ(to_json(999999999999999868928.0), "999999999999999868928.0");
    EXPECT_EQ(to_json(1e21), "1e+21");
    EXPECT_EQ(to_json(1.2345678901234567e-6), "0.0000012345678901234567");
    EXPECT_EQ(to_json(-9.5e-7), "-9.5e-07");
    EXPECT_EQ(to_json(5e-324), "5e-324");
    EXPECT_EQ(to_json(std::numeric_limits<double>::infinity()), "null");
    EXPECT_EQ(to_json(std::nan("")), "null");
}

TEST(Json, WritesDurationsAsSeconds) {
    EXPECT_EQ(to_json(Nanos{0}), R"("0s")");
    EXPECT_EQ(to_json(Nanos{1}), R"("0.000000001s")");
    EXPECT_EQ(to_json(Nanos{std::chrono::hours{1}}), R"("3600s")");
    EXPECT_EQ(to_json(Nanos::min()), R"("-9223372036.854775808s")");
}

// RFC 4648, 10.
TEST(Json, WritesBytesAsBase64) {
    EXPECT_EQ(to_json(Value::bytes("")), R"("")");
    EXPECT_EQ(to_json(Value::bytes("f")), R"("Zg==")");
    EXPECT_EQ(to_json(Value::bytes("fo")), R"("Zm8=")");
    EXPECT_EQ(to_json(Value::bytes("foo")), R"("Zm9v")");
    EXPECT_EQ(to_json(Value::bytes("foob")), R"("Zm9vYg==")");
    EXPECT_EQ(to_json(Value::bytes("fooba")), R"("Zm9vYmE=")");
    EXPECT_EQ(to_json(Value::bytes("foobar")), R"("Zm9vYmFy")");
}

// Plain texts are looked at in words.
TEST(Json, FindsWhatToEscapeAtEveryPlace) {
    for (auto size = std::size_t{1}; size < 20; ++size) {
        for (auto at = std::size_t{0}; at < size; ++at) {
            for (auto byte = 0; byte < 0x80; ++byte) {
                auto text = std::string(size, 'x');
                text[at] = static_cast<char>(byte);
                auto is_escaped = byte < 0x20 || byte == '"' || byte == '\\';
                auto json = to_json(Value{text});

                ASSERT_EQ(json.contains('\\'), is_escaped) << byte << " at " << at;
                ASSERT_EQ(parse_json(json), Value{text});
            }
        }
    }
}

TEST(Json, EscapesWhatItMust) {
    EXPECT_EQ(literal_of("a\"b\\c/d"), R"("a\"b\\c/d")");
    EXPECT_EQ(literal_of("\b\f\n\r\t"), R"("\b\f\n\r\t")");
    EXPECT_EQ(literal_of("\0\x1F\x7F"sv), "\"\\u0000\\u001f\x7F\"");
    EXPECT_EQ(literal_of("h\u00e9 \U0001F600"), "\"h\u00e9 \U0001F600\"");
}

// Unicode 15, 3.9, table 3-8 and its neighbours: substitution of maximal subparts.
TEST(Json, ReplacesWhatIsNotUtf8) {
    EXPECT_EQ(literal_of("a\xFFz"), "\"a\uFFFDz\"");
    EXPECT_EQ(literal_of("\xE2\x82z"), "\"\uFFFDz\"");
    EXPECT_EQ(literal_of("\xE2\x82"), "\"\uFFFD\"");
    EXPECT_EQ(literal_of("\xC0\xAF"), "\"\uFFFD\uFFFD\"");
    EXPECT_EQ(literal_of("\xED\xA0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");
    EXPECT_EQ(literal_of("\xF4\x90\x80\x80"), "\"\uFFFD\uFFFD\uFFFD\uFFFD\"");
    EXPECT_EQ(literal_of("\xF0\x9F\x98\"\xE2\x82\xAC"), "\"\uFFFD\\\"\u20ac\"");
}

TEST(Json, IndentsForPeople) {
    auto value =
        Value::object({{"a", Value::list({1, 2})}, {"b", Value::map({})}, {"c", Value::list({})}});

    EXPECT_EQ(to_pretty_json(value), R"({
  "a": [
    1,
    2
  ],
  "b": {},
  "c": []
})");
}

TEST(Json, WritesAnyDepth) {
    auto text = to_json(testing::nested_lists(100'000));

    EXPECT_EQ(text, std::string(100'000, '[') + "\"core\"" + std::string(100'000, ']'));
}

RC_GTEST_PROP(Json, WhatIsWrittenIsReadBack, ()) {
    auto value = *testing::arbitrary_value(testing::Kinds::Json);

    auto compact = parse_json(to_json(value));
    auto pretty = parse_json(to_pretty_json(value));

    RC_ASSERT(compact.has_value());
    RC_ASSERT(compact.value() == value);
    RC_ASSERT(pretty.value() == value);
    RC_ASSERT(to_json(*compact) == to_json(value));
}

RC_GTEST_PROP(Json, WhateverIsWrittenIsJson, ()) {
    auto value = *testing::arbitrary_value();
    auto text = *rc::gen::arbitrary<std::string>();

    RC_ASSERT(parse_json(to_json(value)).has_value());
    RC_ASSERT(parse_json(literal_of(text)).has_value());
}

// The grammar walk is written apart from the parser, so each checks the other.
RC_GTEST_PROP(Json, TheParserFollowsTheGrammar, ()) {
    auto text = to_json(*testing::arbitrary_value(testing::Kinds::Json, 2));
    auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = *rc::gen::elementOf(std::string{"[]{},:\"\\ 019-+.eEtn\n"});

    RC_ASSERT(!parse_json(text).has_value() || !find_json_fault(text).has_value());
    RC_ASSERT(find_json_fault(text).has_value() || parse_json(text).has_value() ||
              message_of(text).find("byte") == std::string::npos);
}

} // namespace sluice::value
