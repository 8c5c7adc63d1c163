#include "workflow/raw/parse.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "value/json.h"
#include "value/testing/arbitrary.h"
#include "workflow/raw/testing/findings.h"

namespace sluice::workflow::raw {
namespace {

using ::testing::HasSubstr;

/// The form as JSON, or the findings.
std::string read(std::string_view text) {
    auto document = parse(text, "f");
    if (document) {
        return value::to_json(document->form);
    }
    auto all = std::string{};
    for (const auto& finding : document.error()) {
        all += (all.empty() ? "" : "\n") + to_text(finding);
    }
    return all;
}

std::string repeat(std::string_view part, std::size_t times) {
    auto text = std::string{};
    text.reserve(part.size() * times);
    for (auto at = std::size_t{0}; at < times; ++at) {
        text += part;
    }
    return text;
}

Positions::Located locate(const Document& document, std::string_view path) {
    return document.positions.locate(document.form, path);
}

Place place(int line, int column) {
    return {.line = line, .column = column};
}

TEST(Parse, GivesPlainScalarsTheKindsOfTheCoreSchema) {
    EXPECT_EQ(read("[null, ~, Null, true, False, yes, on, 12, -3, +4, 010, 0x1F, 0o17]"),
              R"([null,null,null,true,false,"yes","on",12,-3,4,10,31,15])");
    EXPECT_EQ(
        read("[1.5, .5, 5., 1e3, -1E-2, 1.2.3, 0x, 0o8, -0x1, 1_000, ., e3, -, 12:30]"),
        R"([1.5,0.5,5.0,1000.0,-0.01,"1.2.3","0x","0o8","-0x1","1_000",".","e3","-","12:30"])");
    EXPECT_EQ(read("a:\nb: ''\nc: \"12\"\nd: 'true'\ne: |\n  7\n"),
              R"({"a":null,"b":"","c":"12","d":"true","e":"7\n"})");
}

TEST(Parse, KeepsIntegersAsExactAsJsonDoes) {
    EXPECT_EQ(read("[9223372036854775807, 9223372036854775808, 18446744073709551615]"),
              "[9223372036854775807,9223372036854775808,18446744073709551615]");
    EXPECT_EQ(read("[-9223372036854775808, 0xFFFFFFFFFFFFFFFF]"),
              "[-9223372036854775808,18446744073709551615]");
    EXPECT_TRUE(parse("[18446744073709551616]", "f")->form.as_list()[0].is_double());
    EXPECT_TRUE(parse("[-9223372036854775809]", "f")->form.as_list()[0].is_double());
}

TEST(Parse, TakesStandardTagsThatFit) {
    EXPECT_EQ(
        read("[!!str 12, ! 13, !!int 14, !!float 1.5, !!bool true, !!null ~, !!seq [], !!map {}]"),
        R"(["12","13",14,1.5,true,null,[],{}])");
    EXPECT_EQ(read("- !!int twelve"),
              "f:1:3: 0: found the tag tag:yaml.org,2002:int on this value, "
              "expected none");
    EXPECT_EQ(read("- !mine x"), "f:1:3: 0: found the tag !mine on this value, expected none");
    EXPECT_EQ(read("- !mine [x]"), "f:1:3: 0: found the tag !mine, expected none");
}

TEST(Parse, RefusesWhatJsonCannotSay) {
    EXPECT_EQ(read("a: .inf\nb:\n  - .nan\n  - -.INF\n"),
              "f:1:4: a: found .inf, expected a finite number\n"
              "f:3:5: b/0: found .nan, expected a finite number\n"
              "f:4:5: b/1: found -.INF, expected a finite number");
    EXPECT_EQ(read("a: 1e999"), "f:1:4: a: found 1e999, expected a number that a double holds");
    EXPECT_EQ(read("a: 0x10000000000000000"),
              "f:1:4: a: found 0x10000000000000000, expected at most 64 bits");
}

TEST(Parse, RefusesKeysThatStandTwiceOrAreNoTexts) {
    EXPECT_EQ(read("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\na: 2\n"),
              "f:5:3: b/c: found this key again, expected it once\n"
              "f:6:1: a: found this key again, expected it once");
    EXPECT_EQ(read("? [a]\n: 1\n"), "f:1:3: found a key that is no text, expected a text");
    EXPECT_EQ(read("~: 1\n"), "f:1:1: found a key that is no text, expected a text");
    EXPECT_EQ(read("1: a\ntrue: b\n"), R"({"1":"a","true":"b"})");
}

TEST(Parse, RefusesMergeKeys) {
    EXPECT_EQ(read("a: &x {b: 1}\nc:\n  <<: *x\n"),
              "f:3:3: c: found a merge key, which YAML 1.2 does not have: expected the members");
    EXPECT_EQ(read("'<<': 1"), R"({"<<":1})");
}

TEST(Parse, RefusesMoreThanOneDocument) {
    EXPECT_EQ(read("---\na: 1\n"), R"({"a":1})");
    EXPECT_EQ(read("a: 1\n---\nb: 2\n"),
              "f:2:1: found more behind the first document, expected one definition in a file");
}

TEST(Parse, RefusesAnEmptyFile) {
    for (auto text : {"", "\n \n", "# nothing\n"}) {
        EXPECT_EQ(read(text), "f:1:1: found nothing, expected a definition") << text;
    }
}

TEST(Parse, SaysWhereTheSyntaxBreaks) {
    EXPECT_EQ(read("a:\n\tb: 1\n"), "f:2:3: found a tab in the indentation, expected spaces");
    EXPECT_THAT(read("a: [1, 2\nb: 3\n"), HasSubstr("f:2:"));
    EXPECT_THAT(read("a: {b: 1\n"), HasSubstr("f:2:1: a: not YAML: "));
    EXPECT_THAT(read("a: 'open"), HasSubstr("not YAML: "));
    EXPECT_THAT(read("a: *nowhere\n"), HasSubstr("f:1:4: "));
    EXPECT_THAT(read("a: b: c\n"), HasSubstr("f:1:5: not YAML: "));
}

TEST(Parse, RefusesBytesThatAreNoText) {
    EXPECT_EQ(read("a: 1\nb: \x04 2\n"),
              "f:2:4: found the control character U+0004, expected text in UTF-8");
    EXPECT_EQ(read(std::string_view{"a\0: 1", 5}),
              "f:1:2: found the control character U+0000, expected text in UTF-8");
    EXPECT_EQ(read("a: 1\nb: \xC3(\n"), "f:2:1: found bytes that are not UTF-8 in this line");
    EXPECT_EQ(read("\xEF\xBB\xBF"
                   "a: ä\n"),
              "{\"a\":\"ä\"}");
}

TEST(Parse, FollowsAliasesWithThePlaceOfTheirContent) {
    auto document = parse("a: &x\n  b: [1, 2]\nc: *x\n", "f");
    ASSERT_TRUE(document);
    EXPECT_EQ(value::to_json(document->form), R"({"a":{"b":[1,2]},"c":{"b":[1,2]}})");
    EXPECT_EQ(locate(*document, "c").place, place(3, 1));
    EXPECT_EQ(locate(*document, "c/b/1").place, place(2, 10));
    EXPECT_EQ(read("a: &x [*x]\n"), "f:1:8: a/0: found an alias of what it stands in");
}

TEST(Parse, RefusesAliasesThatExpandWithoutBound) {
    auto text = std::string{"a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"};
    for (auto level = 1; level < 40; ++level) {
        text += fmt::format("a{0}: &a{0} [", level);
        text += repeat(fmt::format("*a{}, ", level - 1), 10) + "]\n";
    }
    EXPECT_THAT(read(text), HasSubstr("found more than 1000000 values or 128 levels"));
}

TEST(Parse, RefusesAliasesThatNestTooDeep) {
    auto text = std::string{"- &a0 []\n"};
    for (auto level = 1; level < 130; ++level) {
        text += fmt::format("- &a{} [*a{}]\n", level, level - 1);
    }
    EXPECT_THAT(read(text), HasSubstr("f:128:"));
}

TEST(Parse, RefusesNestingOfEveryKindQuickly) {
    EXPECT_EQ(read(repeat("[", 127) + repeat("]", 127)).size(), 254U);
    EXPECT_THAT(read(repeat("[", 129) + repeat("]", 129)), HasSubstr("f:1:129: "));
    for (auto part : {"[", "{", "{a: ", "- ", "? ", "[a: "}) {
        EXPECT_THAT(read(" " + repeat(part, 200'000)), HasSubstr("f:1:")) << part;
    }
    auto indented = std::string{};
    for (auto level = 0; level < 1'000; ++level) {
        indented += std::string(static_cast<std::size_t>(level), ' ') + "a:\n";
    }
    EXPECT_THAT(read(indented), HasSubstr("f:129:129: "));
    EXPECT_THAT(read(R"({"a": )" + repeat("[", 100'000)), HasSubstr("f:1:100007: "));
    EXPECT_THAT(read(R"({"a": )" + repeat("[", 200) + repeat("]", 200) + "}"),
                HasSubstr("f:1:1: the JSON text is nested too deeply"));
}

TEST(Parse, RefusesAQuoteThatIsNotClosed) {
    for (auto text : {"- 'it''s\n", "- \"a\\\"\n", "- &x 'a\n\n", "- !!str 'a\n", "- \"a\n# '\n"}) {
        EXPECT_EQ(read(text), "f:1:3: found a quote that is not closed") << text;
    }
    EXPECT_EQ(read("- 'it''s'\n- &x \"\\\"\"\n- 'a' # '\n"), R"(["it's","\"","a"])");
}

TEST(Parse, RefusesMoreItemsOrBytesThanItTakes) {
    EXPECT_THAT(read("[" + repeat("a,", 2'000'001) + "]"), HasSubstr("items in brackets"));
    EXPECT_EQ(read(std::string(64UL * 1024 * 1024 + 1, ' ')),
              "f:1:1: found 67108865 bytes, expected at most 67108864");
}

TEST(Parse, KnowsThePlaceOfEachPath) {
    auto document =
        parse("name: x\ntriggers:\n  - id: a\n    on: [b, {type: c}]\n  - id: d\n", "f");
    ASSERT_TRUE(document);
    EXPECT_EQ(locate(*document, "").place, place(1, 1));
    EXPECT_EQ(locate(*document, "triggers").place, place(2, 1));
    EXPECT_EQ(locate(*document, "triggers/0").place, place(3, 5));
    EXPECT_EQ(locate(*document, "triggers/0/on").place, place(4, 5));
    EXPECT_EQ(locate(*document, "triggers/0/on/1/type").place, place(4, 14));
    EXPECT_EQ(locate(*document, "triggers/1/id").place, place(5, 5));
}

TEST(Parse, GivesThePlaceOfTheNearestPartThatExists) {
    auto document = parse("a:\n  b/c:\n    d: 1\n  b: 2\ne: {f: 1}\n", "f");
    ASSERT_TRUE(document);
    EXPECT_EQ(locate(*document, "a/x/y").place, place(1, 1));
    EXPECT_EQ(locate(*document, "a/b/c/d").place, place(3, 5));
    EXPECT_EQ(locate(*document, "a/b/c/x").place, place(2, 3));
    EXPECT_EQ(locate(*document, "a/b").place, place(4, 3));
    EXPECT_EQ(locate(*document, "e/0/f").place, place(5, 5));
    EXPECT_EQ(locate(*document, "e/0/f").path, "e/f");
    EXPECT_EQ(locate(*document, "e/7/f").path, "e/7/f");
}

TEST(Parse, ReadsJsonWithItsPlaces) {
    auto document =
        parse("{\n  \"a\": [1, 2.50, \"x\\\"}\"],\n  \"b\\u0063\": {\"d\": null}\n}\n", "f");
    ASSERT_TRUE(document);
    EXPECT_EQ(value::to_json(document->form), R"({"a":[1,2.5,"x\"}"],"bc":{"d":null}})");
    EXPECT_EQ(locate(*document, "a/2").place, place(2, 18));
    EXPECT_EQ(locate(*document, "bc/d").place, place(3, 15));
}

TEST(Parse, SaysWhereJsonBreaks) {
    EXPECT_THAT(read("{\n  \"a\": 1,\n}\n"), HasSubstr("f:3:1: not JSON at byte 12"));
    EXPECT_EQ(read("{\"a\": 1,\n \"\\u0061\": 2}"),
              "f:2:2: a: found this key again, expected it once");
    EXPECT_THAT(read("{\"a\": 1"), HasSubstr("f:1:8: not JSON: the text ends too early"));
}

RC_GTEST_PROP(Parse, ReadsAnyJsonAsTheJsonParserDoes, ()) {
    using value::testing::Kinds;
    auto value = Value::object({{"a", *value::testing::arbitrary_value(Kinds::Json)}});
    auto text = *rc::gen::arbitrary<bool>() ? value::to_json(value) : value::to_pretty_json(value);

    RC_ASSERT(parse(text, "f").value().form == value);
}

RC_GTEST_PROP(Parse, ReadsJsonAsYamlToTheSameForm, ()) {
    using value::testing::Kinds;
    auto value = Value::object({{"a", *value::testing::arbitrary_value(Kinds::Json)}});
    auto text = "# A comment makes it YAML.\n" + value::to_pretty_json(value);

    RC_ASSERT(parse(text, "f").value().form == value);
}

} // namespace
} // namespace sluice::workflow::raw
