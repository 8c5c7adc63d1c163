#include "expr/states/internal/call.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/states/testing/scene.h"
#include "value/json.h"

namespace sluice::expr::states::internal {
namespace {

using states::testing::Scene;
using states::testing::told;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string called(std::string_view text, std::string_view data = "{}") {
    auto call = Call::compile(text);
    if (!call) {
        return "refused: " + call.error();
    }
    auto chance = Random{1};
    return told(call->evaluate(Scene{data}.sight(), chance));
}

void expect_failure(std::string_view text, std::string_view data = "{}") {
    EXPECT_THAT(called(text, data), StartsWith("States.IntrinsicFailure: The function '" +
                                               std::string{text} + "' had the following error: "));
}

TEST(IntrinsicCall, TakesLiteralsPathsAndCalls) {
    EXPECT_EQ(called(R"(States.Array('a', 1, -2.5e1, null, true, $.x, $$, States.Array()))",
                     R"({"x": {"y": 1}})"),
              R"(["a",1,-25.0,null,true,{"y":1},{},[]])");
    EXPECT_EQ(called("States.Array( $.l[?(@.n in [1, 2])].n ,$['a,b)'])",
                     R"form({"l": [{"n": 2}, {"n": 3}], "a,b)": 1})form"),
              "[[2],1]");
}

TEST(IntrinsicCall, UnescapesItsStrings) {
    EXPECT_EQ(called(R"(States.Array('it\'s', '\{\}', 'a\\b', '{}'))"),
              R"(["it's","{}","a\\b","{}"])");
    EXPECT_EQ(called(R"(States.StringToJson('{"t": "a \"quote\" here"}'))"),
              R"({"t":"a \"quote\" here"})");
}

TEST(IntrinsicCall, RefusesWhatIsNoCall) {
    for (const auto* text :
         {"States.Nope()", "States.UUID", "States.UUID(", "States.UUID()x", "States.UUID(1)",
          "States.Array('a", R"(States.Array('a\)", "States.Array(a)", "States.Array(1 2)",
          "States.Array(1,)", "States.Array(,)", "States.Array([1])", "states.UUID()",
          " States.UUID()", "States.MathAdd(1, '-1')", "States.MathAdd(1)",
          "States.ArrayLength('x')", "States.Array($.)", "States.Hash($.a)"}) {
        EXPECT_THAT(called(text), StartsWith("refused: ")) << text;
    }
}

TEST(IntrinsicCall, NestsToDepthTen) {
    auto nested = [](int depth) {
        auto text = std::string{};
        for (auto level = 0; level < depth; ++level) {
            text += "States.Array(";
        }
        return text + std::string(static_cast<std::size_t>(depth), ')');
    };
    EXPECT_EQ(called(nested(10)), "[[[[[[[[[[]]]]]]]]]]");
    EXPECT_THAT(called(nested(11)), StartsWith("refused: "));
    EXPECT_THAT(called(nested(100'000)), StartsWith("refused: "));
}

TEST(IntrinsicCall, TellsTheWholeCallWhenAnArgumentIsMissing) {
    EXPECT_EQ(
        called("States.Format('{}', States.ArrayLength($.nope))", R"({"a":1})"),
        "States.Runtime: The function 'States.Format('{}', States.ArrayLength($.nope))' had the "
        "following error: The JsonPath argument for the field '$.nope' could not be found in "
        R"(the input '{"a":1}')");
}

TEST(IntrinsicFormat, PrintsAsJavaDoes) {
    auto data =
        R"({"o": {"A": 1, "B": [], "C": ["x", {"y": null}]}, "s": "t", "d": 1.1, "b": true})";

    EXPECT_EQ(called("States.Format('{}|{}|{}|{}|{}', $.o, $.s, $.d, $.b, null)", data),
              R"("{A=1, B=[], C=[x, {y=null}]}|t|1.1|true|null")");
    EXPECT_EQ(called(R"(States.Format('\{{}\} \'{}\'', 1, 2))"), R"("{1} '2'")");
    EXPECT_EQ(called("States.Format('no places')"), R"("no places")");
    EXPECT_EQ(called("States.Format($.t, 1, 2)", R"({"t": "{} and {}"})"), R"("1 and 2")");
    expect_failure("States.Format('{} {}', 1)");
    expect_failure("States.Format('{}', 1, 2)");
    expect_failure("States.Format($.t, 1)", R"({"t": "{}{}"})");
}

TEST(IntrinsicJson, ReadsAndWritesTexts) {
    EXPECT_EQ(called("States.StringToJson('')"), "null");
    EXPECT_EQ(called("States.StringToJson('  ')"), "null");
    EXPECT_EQ(called("States.StringToJson('-0')"), "0");
    EXPECT_EQ(called(R"(States.StringToJson('[1, {"a": "b"}]'))"), R"([1,{"a":"b"}])");
    EXPECT_EQ(called("States.JsonToString($)", R"({"a": [1, "x"]})"), R"("{\"a\":[1,\"x\"]}")");
    expect_failure("States.StringToJson('{')");
    expect_failure("States.StringToJson($)", "1");
}

TEST(IntrinsicJson, MergesShallowly) {
    auto data = R"({"a": {"x": {"p": 1}, "y": 2}, "b": {"x": {"q": 3}, "z": 4}})";

    EXPECT_EQ(called("States.JsonMerge($.a, $.b, false)", data), R"({"x":{"q":3},"y":2,"z":4})");
    expect_failure("States.JsonMerge($.a, $.b, true)", data);
    expect_failure("States.JsonMerge($.a, $.a.y, false)", data);
}

TEST(IntrinsicArray, PartitionsAndRanges) {
    auto data = R"({"l": [1, 2, 3, 4, 5], "e": []})";

    EXPECT_EQ(called("States.ArrayPartition($.l, 2)", data), "[[1,2],[3,4],[5]]");
    EXPECT_EQ(called("States.ArrayPartition($.l, 1.5)", data), "[[1,2],[3,4],[5]]");
    EXPECT_EQ(called("States.ArrayPartition($.e, 2)", data), "[]");
    EXPECT_EQ(called("States.ArrayRange(1, 9, 2)"), "[1,3,5,7,9]");
    EXPECT_EQ(called("States.ArrayRange(0, 10, 3)"), "[0,3,6,9]");
    EXPECT_EQ(called("States.ArrayRange(3, 1, -1)"), "[3,2,1]");
    EXPECT_EQ(called("States.ArrayRange(3, 1, 1)"), "[]");
    EXPECT_THAT(called("States.ArrayRange(1, 1000, 1)"), HasSubstr(",1000]"));
    expect_failure("States.ArrayRange(0, 1000, 1)");
    expect_failure("States.ArrayRange(0, 1, 0)");
    expect_failure("States.ArrayPartition($.l, 0)", data);
    EXPECT_EQ(called("States.ArrayRange(9223372036854775806, 9223372036854775807, 1)"),
              "[9223372036854775806,9223372036854775807]");
}

TEST(IntrinsicArray, FindsItems) {
    auto data = R"({"l": [1, {"a": [1.0]}, "x", null]})";

    EXPECT_EQ(called("States.ArrayGetItem($.l, 2)", data), R"("x")");
    EXPECT_EQ(called("States.ArrayLength($.l)", data), "4");
    EXPECT_EQ(called("States.ArrayContains($.l, 1.0)", data), "true");
    EXPECT_EQ(called(R"(States.ArrayContains($.l, States.StringToJson('{"a": [1]}')))", data),
              "true");
    EXPECT_EQ(called("States.ArrayContains($.l, 'y')", data), "false");
    EXPECT_EQ(called("States.ArrayContains($.l, null)", data), "true");
    expect_failure("States.ArrayGetItem($.l, 4)", data);
    expect_failure("States.ArrayGetItem($.l, -1)", data);
    expect_failure("States.ArrayLength($)", data);
}

TEST(IntrinsicArray, KeepsTheFirstOfEachWhenUnique) {
    EXPECT_EQ(called("States.ArrayUnique($)", R"([3, 1, 3.0, "a", {"x": 1, "y": 2}, "a", null,
                     {"y": 2.0, "x": 1}, [1], [1, 2], [1], true, null])"),
              R"([3,1,"a",{"x":1,"y":2},null,[1],[1,2],true])");
    EXPECT_EQ(called("States.ArrayUnique($)", "[]"), "[]");
}

TEST(IntrinsicMath, RoundsEachOperandHalfUp) {
    EXPECT_EQ(called("States.MathAdd(1.5, 1.51)"), "4");
    EXPECT_EQ(called("States.MathAdd(-1.5, 0)"), "-1");
    EXPECT_EQ(called("States.MathAdd(-0.5, 0.5)"), "1");
    EXPECT_EQ(called("States.MathAdd(111, -1)"), "110");
    expect_failure("States.MathAdd(9223372036854775807, 1)");
    expect_failure("States.MathAdd(1e300, 1)");
}

TEST(IntrinsicMath, DrawsTheSameNumberForASeed) {
    EXPECT_EQ(called("States.MathRandom(0, 1000000, 3)"),
              called("States.MathRandom(0, 1000000, 3)"));
    EXPECT_NE(called("States.MathRandom(0, 1000000, 3)"),
              called("States.MathRandom(0, 1000000, 4)"));
    expect_failure("States.MathRandom(5, 5)");
    expect_failure("States.MathRandom(5, 4)");
}

TEST(IntrinsicMath, NeverDrawsTheEnd) {
    auto call = Call::compile("States.MathRandom(-1, 2)").value();
    auto chance = Random{9};
    auto drawn = std::set<std::int64_t>{};
    for (auto turn = 0; turn < 1000; ++turn) {
        drawn.insert(call.evaluate(Scene{"{}"}.sight(), chance)->as_int());
    }

    EXPECT_EQ(drawn, (std::set<std::int64_t>{-1, 0, 1}));
}

TEST(IntrinsicText, SplitsAtEachOfASetOfCharacters) {
    EXPECT_EQ(called("States.StringSplit('1,2;3', ',;')"), R"(["1","2","3"])");
    EXPECT_EQ(called("States.StringSplit(',,,,', ',')"), "[]");
    EXPECT_EQ(called("States.StringSplit(', , ,', ',')"), R"([" "," "])");
    EXPECT_EQ(called("States.StringSplit('aéb', 'é')"), R"(["a","b"])");
    EXPECT_EQ(called("States.StringSplit('abc', '')"), R"(["abc"])");
    EXPECT_EQ(called("States.StringSplit('', ',')"), "[]");
}

TEST(IntrinsicText, EncodesAndHashes) {
    EXPECT_EQ(called("States.Base64Encode('Data to encode')"), R"("RGF0YSB0byBlbmNvZGU=")");
    EXPECT_EQ(called("States.Base64Decode('RGF0YSB0byBlbmNvZGU=')"), R"("Data to encode")");
    EXPECT_EQ(called("States.Base64Decode('RGF0YSB0byBlbmNvZGU')"), R"("Data to encode")");
    EXPECT_EQ(called("States.Hash('input data', 'MD5')"), R"("812f45842bc6d66ee14572ce20db8e86")");
    EXPECT_EQ(called("States.Hash('input data', 'SHA-256')"),
              R"("b4a697a057313163aee33cd8d40c66e9f0f177e00cac2de32475ffff6169c3e3")");
    expect_failure("States.Base64Decode('%%')");
    expect_failure("States.Hash('a', 'CRC')");
    auto long_text = value::to_json(Value{std::string(10'001, 'x')});
    expect_failure("States.Base64Encode($)", long_text);
    expect_failure("States.Hash($, 'MD5')", long_text);
    EXPECT_THAT(called("States.Hash($, 'MD5')", value::to_json(Value{std::string(10'000, 'x')})),
                HasSubstr("\""));
}

TEST(IntrinsicText, MakesUuids) {
    auto text = called("States.UUID()");

    EXPECT_EQ(text.size(), 38U);
    EXPECT_EQ(text[15], '4');
    EXPECT_THAT("89ab", HasSubstr(std::string{text[20]}));
}

} // namespace
} // namespace sluice::expr::states::internal
