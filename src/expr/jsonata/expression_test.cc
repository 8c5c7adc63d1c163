#include "expr/jsonata/expression.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "expr/testing/bindings.h"
#include "value/json.h"

namespace sluice::expr::jsonata {
namespace {

using ::testing::HasSubstr;

std::string wording(const Answer& answer) {
    if (const auto* value = std::get_if<Value>(&answer)) {
        return value::to_json(*value);
    }
    const auto* fault = std::get_if<Fault>(&answer);
    return fault != nullptr ? fault->code : "undefined";
}

Answer answer_of(std::string_view text, const std::optional<Value>& input = std::nullopt,
                 const Options& options = {}, const Value& names = Value::object({}),
                 const Budget& budget = {},
                 const std::optional<Circumstances>& circumstances = {}) {
    auto expression = Expression::compile(text, options);
    if (!expression) {
        return expression.error();
    }
    return expression->evaluate(input, testing::MapBindings{names}, budget, circumstances);
}

std::string evaluate(std::string_view text, std::string_view input = "") {
    return wording(
        answer_of(text, input.empty() ? std::nullopt : std::optional{*value::parse_json(input)}));
}

TEST(Jsonata, MapsPathsOverArrays) {
    EXPECT_EQ(evaluate("a.b", R"({"a": [{"b": 1}, {"b": [2, 3]}, {}]})"), "[1,2,3]");
    EXPECT_EQ(evaluate("a.b", R"({"a": [{"b": 1}]})"), "1");
    EXPECT_EQ(evaluate("a.b[]", R"({"a": [{"b": 1}]})"), "[1]");
    EXPECT_EQ(evaluate("a.c", R"({"a": 1})"), "undefined");
    EXPECT_EQ(evaluate("$", "[]"), "[]");
}

TEST(Jsonata, KeepsIntegersExact) {
    EXPECT_EQ(evaluate("$ + 1", "9007199254740993"), "9007199254740994");
    EXPECT_EQ(evaluate("$ * 10", "9223372036854775807"), "92233720368547758080.0");
    EXPECT_EQ(evaluate("[$..$]", "9007199254740993"), "[9007199254740993]");
    EXPECT_EQ(evaluate("6 / 3"), "2");
    EXPECT_EQ(evaluate("7 / 2"), "3.5");
    EXPECT_EQ(evaluate("0.5 + 0.5"), "1");
    EXPECT_EQ(evaluate("$string($)", "1234567890123456789"), "\"1234567890123456789\"");
}

TEST(Jsonata, WritesNumbersAsJavaScript) {
    EXPECT_EQ(evaluate("'' & (0.1 + 0.2)"), "\"0.3\"");
    EXPECT_EQ(evaluate("'' & 1e21 & ' ' & 1e-7 & ' ' & 0.000001"), "\"1e+21 1e-7 0.000001\"");
    EXPECT_EQ(evaluate("'' & 1e20"), "\"100000000000000000000\"");
}

TEST(Jsonata, RefusesNumbersThatJsonLacks) {
    EXPECT_EQ(evaluate("1 / 0"), "D1001");
    EXPECT_EQ(evaluate("[0 / 0]"), "D1001");
}

TEST(Jsonata, KeepsTheOrderOfMembers) {
    EXPECT_EQ(evaluate(R"({"b": 1, "a": 2, "10": 3, "9": 4})"), R"({"b":1,"a":2,"10":3,"9":4})");
}

TEST(Jsonata, FindsManyMembers) {
    EXPECT_EQ(
        evaluate("($o := $merge([0..200].{'k' & $: $}); $o.k0 + $o.k150 + $count($keys($o)))"),
        "351");
    EXPECT_EQ(evaluate("($o := $merge([0..50].{'k' & $: $}); $r := $o ~> |$|{'n': 1}, ['k3']|; "
                       "[$r.n, $count($keys($r)), $r.k50])"),
              "[1,51,50]");
}

TEST(Jsonata, RemembersTheWay) {
    auto input = R"({"a": [{"n": "x", "b": [{"v": 1}, {"v": 2}]}, {"n": "y", "b": [{"v": 3}]}]})";
    EXPECT_EQ(evaluate("a.b.(%.n & v)", input), R"(["x1","x2","y3"])");
    EXPECT_EQ(evaluate("x@$p.y@$q[$p = $q.k].{'v': $q.v}",
                       R"({"x": [2, 1], "y": [{"k": 1, "v": "a"}, {"k": 2, "v": "b"}]})"),
              R"([{"v":"b"},{"v":"a"}])");
    EXPECT_EQ(evaluate("a.b#$i.($i & '-' & v)", input), R"(["0-1","1-2","0-3"])");
    EXPECT_EQ(evaluate("%", input), "S0217");
}

TEST(Jsonata, SortsAndGroups) {
    auto input = R"([{"k": "b", "v": 2}, {"k": "a", "v": 3}, {"k": "b", "v": 1}])";
    EXPECT_EQ(evaluate("$^(k, >v).v", input), "[3,2,1]");
    EXPECT_EQ(evaluate("${k: $sum(v)}", input), R"({"b":3,"a":3})");
    EXPECT_EQ(evaluate("$^(v).k.$", input), R"(["b","b","a"])");
}

TEST(Jsonata, CallsInTailPositionNeedNoStack) {
    auto budget = Budget{.steps_max = 10'000'000};
    auto text = "($f := function($n) { $n = 0 ? 'done' : $f($n - 1) }; $f(100000))";
    EXPECT_EQ(wording(answer_of(text, {}, {}, Value::object({}), budget)), "\"done\"");
}

TEST(Jsonata, MatchesAsJavaScript) {
    EXPECT_EQ(evaluate(R"($match('aXbxc', /x(?=b)/i).index)"), "1");
    EXPECT_EQ(evaluate(R"($replace('2026-11-15', /(?<y>\d+)-(\d+)/, '$2/$1'))"), "\"11/2026-15\"");
    EXPECT_EQ(evaluate(R"($contains('abab', /^(ab)\1$/))"), "true");
    EXPECT_EQ(evaluate(R"($split('a1b22c', /(?<!2)\d+/))"), R"(["a","b","c"])");
    EXPECT_EQ(evaluate(R"($match('a.b', /[^\w\s]/).match)"), "\".\"");
    EXPECT_EQ(evaluate(R"($match('aaa', /a{2,}?/).match)"), "\"aa\"");
    EXPECT_EQ(evaluate(R"($replace("line\nbreak", /^b/m, 'B'))"), "\"line\\nBreak\"");
    EXPECT_EQ(evaluate(R"($contains('ÄÖ', /äö/i))"), "true");
    EXPECT_EQ(evaluate("$contains('a', /a(*)/)"), "S0303");
    EXPECT_EQ(evaluate("$match('ab', /x*/)"), "D1004");
}

TEST(Jsonata, CountsCharactersNotBytes) {
    EXPECT_EQ(evaluate("$length('aé€😀')"), "4");
    EXPECT_EQ(evaluate("$substring('aé€😀', 2)"), "\"€😀\"");
    EXPECT_EQ(evaluate("$match('😀a', /a/).index"), "2");
    EXPECT_EQ(evaluate(R"($encodeUrl('\uD800'))"), "D3140");
    EXPECT_EQ(evaluate(R"('\uD800x')"), "\"\uFFFDx\"");
}

TEST(Jsonata, KnowsTimesWestOfGreenwichByHalfHours) {
    EXPECT_EQ(evaluate("$fromMillis(0, '[H01]:[m01] [Z]', '-0530')"), "\"18:30 -05:30\"");
    EXPECT_EQ(evaluate("$toMillis('1970-01-01 00:00 -05:30', '[Y]-[M]-[D] [H]:[m] [Z]')"),
              "19800000");
    EXPECT_EQ(evaluate("$toMillis('2018-02-30')"), "1519948800000");
    EXPECT_EQ(evaluate("$toMillis('2018-13-01')"), "D3110");
}

TEST(Jsonata, TakesItsClockAndChanceFromTheHost) {
    auto given = [](std::string_view text, std::uint64_t seed) {
        return wording(answer_of(text, {}, {}, Value::object({}), {},
                                 Circumstances{Time{std::chrono::seconds{1}}, seed}));
    };
    EXPECT_EQ(given("[$now(), $millis()]", 0), R"(["1970-01-01T00:00:01.000Z",1000])");
    EXPECT_EQ(given("$random()", 7), given("$random()", 7));
    EXPECT_NE(given("$random()", 7), given("$random()", 8));
    EXPECT_EQ(given("$random() = $random()", 7), "false");
    EXPECT_EQ(given("$shuffle([1..20])", 7), given("$shuffle([1..20])", 7));
}

TEST(Jsonata, TellsWhatItMayAskFor) {
    auto expression = Expression::compile("$states.input.a + $b.c[0] + ($d := 1; $d)");

    EXPECT_THAT(expression->questions(),
                ::testing::IsSupersetOf(
                    std::vector<std::vector<std::string>>{{"states", "input", "a"}, {"b"}}));
}

TEST(Jsonata, TellsWhichVariablesMustBeGiven) {
    auto expression =
        Expression::compile("$a.b + ($c := 1; $c) + $map([1], function($d) { $d + $e })");

    EXPECT_THAT(expression->free_variables(), ::testing::UnorderedElementsAre("a", "e"));
}

TEST(Jsonata, TellsWhetherItReadsItsInput) {
    for (const auto* text : {"$", "a.b", "$$", "$v[$$.x]", "1 + b", "$f(c)", "*", "**.a", "$.a",
                             "{'x': y}", "function($p) { q }"}) {
        EXPECT_TRUE(Expression::compile(text)->reads_input()) << text;
    }
    for (const auto* text : {"$v.a", "$v[a = 1]", "$v.{'x': y}", "$v^(a)", "$v{a: b}", "$v.($ + 1)",
                             "'a'", "$map($v, function($p) { $p.a })", "$v ~> |a|{'b': c}|"}) {
        EXPECT_FALSE(Expression::compile(text)->reads_input()) << text;
    }
}

TEST(Jsonata, CallsTheHostsFunctions) {
    auto half =
        NativeFunction{"half", "<n-:n>", [](std::span<const Value> arguments, Random&) -> Answer {
                           return Value{arguments[0].as_int() / 2};
                       }};
    auto fails = NativeFunction{"fails", "", [](std::span<const Value>, Random&) -> Answer {
                                    return Fault{"E1", "no", 0};
                                }};
    auto nothing = NativeFunction{
        "nothing", "", [](std::span<const Value>, Random&) -> Answer { return Undefined{}; }};
    auto options = Options{.functions = {half, fails, nothing}};
    EXPECT_EQ(wording(answer_of("[4, 10].$half()", {}, options)), "[2,5]");
    EXPECT_EQ(wording(answer_of("$map([4, 10], $half)", {}, options)), "T0410");
    EXPECT_EQ(wording(answer_of("$half('x')", {}, options)), "T0410");
    EXPECT_EQ(wording(answer_of("1 + $fails()", {}, options)), "E1");
    EXPECT_EQ(wording(answer_of("$exists($nothing(1, $missing))", {}, options)), "false");
}

TEST(Jsonata, LeavesEvalOutWhenToldTo) {
    EXPECT_EQ(evaluate("$eval('1 + $', 2)"), "3");
    EXPECT_EQ(evaluate("($x := 1; $eval('$y := $x + 1') + $y)"), "4");
    EXPECT_EQ(evaluate("$eval('1 +')"), "D3120");
    EXPECT_EQ(evaluate("$eval('1 + \"a\"')"), "D3121");
    EXPECT_EQ(wording(answer_of("$eval('1')", {}, {.has_eval = false})), "T1006");
}

/// Remembers what it was asked for.
class CuriousBindings final : public Bindings {
public:
    explicit CuriousBindings(Value names) : names_{std::move(names)} {}

    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        asked.push_back(fmt::format("{}", fmt::join(path, ".")));
        return names_.resolve(path);
    }

    mutable std::vector<std::string> asked;

private:
    testing::MapBindings names_;
};

TEST(Jsonata, AsksForWholePathsOnce) {
    auto names = CuriousBindings{
        Value::object({{"e", Value::object({{"data", Value::object({{"a", 1}})}})}})};
    auto expression = Expression::compile("$e.data.a + $e.data.a + $count($e.data.`0`)");

    auto answer = expression->evaluate(std::nullopt, names);

    EXPECT_EQ(wording(answer), "2");
    EXPECT_THAT(names.asked, ::testing::ElementsAre("e.data.a", "e.data"));
}

TEST(Jsonata, MapsOverArraysOnAnAskedPath) {
    auto names =
        Value::object({{"e", Value::list({Value::object({{"a", 1}}), Value::object({{"a", 2}})})}});
    EXPECT_EQ(wording(answer_of("$e.a", {}, {}, names)), "[1,2]");
    EXPECT_EQ(wording(answer_of("($e := {'a': 5}; $e.a)", {}, {}, names)), "5");
}

TEST(Jsonata, RefusesUnknownNamesWhenNamesAreGiven) {
    auto options = Options{.names = {"event", "sum"}};
    EXPECT_EQ(wording(answer_of("$evnt.a", {}, options)), "unknown_name");
    EXPECT_EQ(
        wording(answer_of("($x := 1; $x + $event)", {}, options, Value::object({{"event", 2}}))),
        "3");
    EXPECT_EQ(wording(answer_of("$sum + 1", {}, options, Value::object({{"sum", 2}}))), "3");
}

TEST(Jsonata, StandsBehindTheCommonInterface) {
    auto names = Value::object({{"a", 2}});
    auto program = compile("$a * 3", testing::options_for(names));
    ASSERT_TRUE(program);
    EXPECT_EQ(std::get<Value>(program->evaluate(testing::MapBindings{names})), Value{6});
    auto nothing = compile("$a.b", testing::options_for(names));
    EXPECT_EQ(std::get<Fault>(nothing->evaluate(testing::MapBindings{names})).code, "undefined");
    EXPECT_EQ(compile("$a +", testing::options_for(names)).error().code, "S0207");
}

TEST(Jsonata, SaysWhereAFaultIs) {
    auto fault = std::get<Fault>(answer_of("'ä' & (1 + 'x')"));
    EXPECT_EQ(fault.code, "T2002");
    EXPECT_EQ(fault.position, 10U);
    fault = std::get<Fault>(answer_of("[1, $abs('x')]"));
    EXPECT_EQ(fault.position, 8U);
    EXPECT_THAT(fault.message, HasSubstr("abs"));
}

TEST(Jsonata, GivesNoFunctions) {
    EXPECT_EQ(evaluate("$sum"), "unsupported_result");
    EXPECT_EQ(evaluate("[function() { 1 }]"), "unsupported_result");
    EXPECT_EQ(evaluate("$string({'f': $sum})"), R"("{\"f\":\"\"}")");
}

TEST(Jsonata, TakesTimesAsTheirTexts) {
    auto names = Value::object({{"t", Time{std::chrono::seconds{1}}}});
    EXPECT_EQ(wording(answer_of("$toMillis($t)", {}, {}, names)), "1000");
}

std::string repeated(std::string_view text, std::size_t count) {
    auto out = std::string{};
    for (auto i = std::size_t{0}; i < count; ++i) {
        out += text;
    }
    return out;
}

TEST(JsonataBombs, EndInFaults) {
    const auto bombs = std::vector<std::string>{
        "($f := function($x) { 1 + $f($x) }; $f(1))",
        "($f := function($x) { $f($x) }; $f(1))",
        "($f := function($x) { $f([$x, $x]) }; $f(1))",
        "($f := function($x) { $f([$x]) }; $f(1))",
        "($f := function($x) { $f($x & $x) }; $f('ab'))",
        "($f := function($x) { $f($x & 'a') }; $f('ab'))",
        "$pad('a', 100000000)",
        "$pad('a', 1e300)",
        "$join([1..100000].'0123456789abcdef')",
        "$map([1..1000000], function($i) { [1..1000000] })",
        "$map([1..10000000], function($i) { $i })",
        "[1..10000000].[1..10000000]",
        "[1..10000000]",
        "$sort([1..10000000], function($a, $b) { $a < $b })",
        "$reverse([1..10000000])",
        "$zip([1..10000000], [1..10000000])",
        "$string([1..10000000])",
        "$append([1..10000000], [1..10000000])",
        "$distinct([1..10000000])",
        "$sum([1..10000000]) + $count([1..10000000][$ > 5])",
        "$contains('" + std::string(40, 'a') + "!', /^(a+)+$/)",
        "$contains('" + std::string(3000, 'a') + "', /(a*)*(a*)*(a*)*b/)",
        "$contains('" + std::string(30, 'a') + "', /(?=(a+)+$)(.*)*(?<=b)c/)",
        "$match('" + std::string(100, 'x') + "', /(x{0,100}){0,100}y/)",
        "($x := {'a': 1}; $f := function($y) { $f({'a': $y, 'b': $y}) }; $f($x))",
        "($d := function($x, $n) { $n = 0 ? $x : $d([$x, $x], $n - 1) }; $d('abcdefgh', 30))",
        "($d := function($x, $n) { $n = 0 ? $x : $d([$x], $n - 1) }; $d(1, 5000))",
        "($d := function($x, $n) { $n = 0 ? $x : $d([$x], $n - 1) }; $string($d(1, 5000)))",
        "($d := function($x, $n) { $n = 0 ? $x : $d([[$x]], $n - 1) }; $boolean($d(1, 5000)))",
        "($d := function($x, $n) { $n = 0 ? $x : $d([[$x]], $n - 1) }; $d(1, 5000) = $d(1, 5000))",
        "($d := function($x, $n) { $n = 0 ? $x : $d([[$x]], $n - 1) }; $d(1, 5000).a)",
        "($d := function($x, $n) { $n = 0 ? $x : $d({'a': $x}, $n - 1) }; $d(1, 5000) ~> |a|{}|)",
        "($c := function($f, $n) { $n = 0 ? $f : $c($f ~> $f, $n - 1) }; $c($abs, 40)(1))",
        "$eval('$eval(' & $string('$eval(1)') & ')') & $eval($string([1..100000]))",
        "($e := '$eval($e)'; $eval($e))",
        "$formatInteger(1e300, 'I') & $formatNumber(1e300, '" + std::string(2000, '#') + "0.0')",
        "$replace($pad('', 100000, 'a'), 'a', $pad('', 1000, 'b'))",
        "$replace($pad('', 100000, 'a'), /a/, $pad('', 1000, 'b'))",
        repeated("(", 5000) + "1" + repeated(")", 5000),
        repeated("[", 100000),
        repeated("a.", 10000) + "a",
        repeated("1+", 10000) + "1",
        repeated("1&", 400) + repeated("(", 150) + "1" + repeated(")", 150),
        repeated("-", 100000) + "1",
        repeated("a[", 10000),
        repeated("function(){", 10000),
        "/" + repeated("(", 10000) + repeated(")", 10000) + "/",
        "$fromMillis(0, '" + repeated("[Y,100-1000]", 2000) + "')",
    };
    for (const auto& bomb : bombs) {
        auto answer = answer_of(bomb);
        const auto* fault = std::get_if<Fault>(&answer);
        auto is_small =
            fault != nullptr || value::to_json(std::get<Value>(answer)).size() < 3'000'000;
        EXPECT_TRUE(is_small) << bomb.substr(0, 100);
    }
}

TEST(JsonataBombs, NameTheGuard) {
    EXPECT_EQ(evaluate("($f := function($x) { 1 + $f($x) }; $f(1))"), "U1001");
    EXPECT_EQ(evaluate("($f := function($x) { $f($x) }; $f(1))"), "U1001");
    EXPECT_EQ(evaluate("$pad('a', 100000000)"), "U1001");
    EXPECT_EQ(evaluate("[1..10000001]"), "D2014");
    EXPECT_EQ(evaluate("$contains('" + std::string(40, 'a') + "!', /^(a+)+$/)"), "U1001");
    EXPECT_EQ(evaluate(repeated("1+", 10000) + "1"), "U1001");
    EXPECT_EQ(wording(answer_of("$", *value::parse_json(R"(["0123456789", "0123456789"])"), {},
                                Value::object({}), {.output_bytes_max = 20})),
              "U1001");
    EXPECT_EQ(wording(answer_of("$map([1..1000], function($i) { [$i] })", {}, {}, Value::object({}),
                                {.memory_bytes_max = 10'000})),
              "U1001");
}

TEST(Jsonata, EvaluatesOnThreadsOfSmallStacks) {
    auto expression =
        Expression::compile("($f := function($n) { $n = 0 ? 0 : 1 + $f($n - 1) }; $f(300))");
    auto answers = std::vector<std::string>(4);
    auto threads = std::vector<std::thread>{};
    for (auto& answer : answers) {
        threads.emplace_back(
            [&] { answer = wording(expression->evaluate(std::nullopt, testing::MapBindings{})); });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_THAT(answers, ::testing::Each("300"));
}

RC_GTEST_PROP(JsonataProperty, SortsLikeTheLibrary, (std::vector<int> numbers)) {
    auto values = std::vector<Value>(numbers.begin(), numbers.end());
    auto answer = answer_of("[$sort($)]", Value::list(values));
    std::ranges::sort(numbers);
    RC_ASSERT(std::get<Value>(answer) == Value::list({numbers.begin(), numbers.end()}));
}

RC_GTEST_PROP(JsonataProperty, ReadsBackTheTimesItWrites, ()) {
    auto millis = *rc::gen::inRange<std::int64_t>(-60'000'000'000'000, 60'000'000'000'000);
    auto answer = answer_of("$toMillis($fromMillis($))", Value{millis});
    auto written = std::get<Value>(answer_of("$fromMillis($)", Value{millis})).as_string();
    RC_ASSERT(written.size() != 24U || answer == Answer{Value{millis}});
}

RC_GTEST_PROP(JsonataProperty, ReadsBackTheWordsItWrites, ()) {
    auto number = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000'000);
    for (const auto* picture : {"w", "Ww", "W", "w;o", "#,##0", "A", "0;o"}) {
        auto text = fmt::format("$parseInteger($formatInteger($, '{0}'), '{0}')", picture);
        RC_ASSERT(answer_of(text, Value{number}) == Answer{Value{number}});
    }
}

} // namespace
} // namespace sluice::expr::jsonata
