#include "expr/cel/compile.h"

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "expr/testing/bindings.h"
#include "value/json.h"

namespace sluice::expr::cel {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const auto& names() {
    static const auto value = Value::object({
        {"event", Value::object({
                      {"type", "order.created"},
                      {"none", Value{}},
                      {"started", Time{std::chrono::seconds{1'000'000'000}}},
                      {"took", Nanos{std::chrono::milliseconds{60'001}}},
                      {"raw", Value::bytes("\xff\x01")},
                      {"data", Value::object({{"amount", 120},
                                              {"price", 1.5},
                                              {"items", Value::list({"a", "b"})},
                                              {"a b", true},
                                              {"0", "zero"}})},
                  })},
        {"context", Value::object({})},
    });
    return value;
}

Outcome run(std::string_view text, const Budget& budget = {}) {
    auto program = compile(text, testing::options_for(names()));
    if (!program) {
        return program.error();
    }
    return program->evaluate(testing::MapBindings{names()}, budget);
}

/// The result as JSON, or the code of the fault.
std::string result_of(std::string_view text) {
    auto outcome = run(text);
    const auto* fault = std::get_if<Fault>(&outcome);
    return fault != nullptr ? fault->code : value::to_json(std::get<Value>(outcome));
}

std::string refusal_of(std::string_view text,
                       CompileOptions options = {.names = {"event", "run"}}) {
    auto program = compile(text, options);
    return program ? "accepted" : describe(program.error());
}

std::string repeated(std::string_view text, std::size_t times) {
    auto result = std::string{};
    for (auto i = std::size_t{0}; i < times; ++i) {
        result += text;
    }
    return result;
}

TEST(Program, KeepsItsText) {
    auto program = compile(" 1 + 1 ", {});

    ASSERT_TRUE(program);
    EXPECT_EQ(program->text(), " 1 + 1 ");
}

TEST(Program, BindsOperatorsAsCelDoes) {
    EXPECT_EQ(result_of("1 + 2 * 3 - 4 / 2"), "5");
    EXPECT_EQ(result_of("1 < 2 == true"), "true");
    EXPECT_EQ(result_of("false && true || true"), "true");
    EXPECT_EQ(result_of("true ? 1 : false ? 2 : 3"), "1");
    EXPECT_EQ(result_of("false ? 1 : false ? 2 : 3"), "3");
    EXPECT_EQ(result_of("!!true"), "true");
    EXPECT_EQ(result_of("---1"), "-1");
    EXPECT_EQ(result_of("5 -1"), "4");
}

TEST(Program, ChecksIntegerArithmetic) {
    EXPECT_EQ(result_of("9223372036854775807 + 1"), "overflow");
    EXPECT_EQ(result_of("-9223372036854775808 - 1"), "overflow");
    EXPECT_EQ(result_of("-(-9223372036854775808)"), "overflow");
    EXPECT_EQ(result_of("-9223372036854775808 / -1"), "overflow");
    EXPECT_EQ(result_of("-9223372036854775808 % -1"), "0");
    EXPECT_EQ(result_of("0u - 1u"), "overflow");
    EXPECT_EQ(result_of("1 / 0"), "divide_by_zero");
    EXPECT_EQ(result_of("1u % 0u"), "divide_by_zero");
    EXPECT_EQ(result_of("-7 / 2"), "-3");
    EXPECT_EQ(result_of("-7 % 2"), "-1");
}

TEST(Program, DoesNotMixKindsInArithmetic) {
    EXPECT_EQ(result_of("1 + 1u"), "no_such_overload");
    EXPECT_EQ(result_of("1 + 1.0"), "no_such_overload");
    EXPECT_EQ(result_of("1.0 % 1.0"), "no_such_overload");
    EXPECT_EQ(result_of("-1u"), "no_such_overload");
    EXPECT_EQ(result_of("'a' + 1"), "no_such_overload");
}

TEST(Program, ComparesNumbersOfAllKinds) {
    EXPECT_EQ(result_of("1 == 1u && 1u == 1.0"), "true");
    EXPECT_EQ(result_of("1 < 1.5 && 1u < 1.5 && -1 < 1u"), "true");
    EXPECT_EQ(result_of("18446744073709551615u > -1"), "true");
    EXPECT_EQ(result_of("0.0 / 0.0 == 0.0 / 0.0"), "false");
    EXPECT_EQ(result_of("[1, 'a'] == [1.0, 'a']"), "true");
    EXPECT_EQ(result_of("{'a': 1, 'b': 2} == {'b': 2u, 'a': 1.0}"), "true");
    EXPECT_EQ(result_of("1 == '1'"), "false");
    EXPECT_EQ(result_of("1 < 'a'"), "no_such_overload");
    EXPECT_EQ(result_of("[1] < [2]"), "no_such_overload");
    EXPECT_EQ(result_of("'Z' < 'a' && false < true"), "true");
}

TEST(Program, AbsorbsFaultsThatDoNotMatter) {
    EXPECT_EQ(result_of("event.nothing == 1 || true"), "true");
    EXPECT_EQ(result_of("true || event.nothing == 1"), "true");
    EXPECT_EQ(result_of("1 / 0 > 1 && false"), "false");
    EXPECT_EQ(result_of("'text' || true"), "true");
    EXPECT_EQ(result_of("'text' || false"), "no_such_overload");
    EXPECT_EQ(result_of("event.nothing == 1 || false"), "no_such_member");
    EXPECT_EQ(result_of("true && 1 / 0 > 1 && event.nothing"), "divide_by_zero");
    EXPECT_EQ(result_of("true ? 1 : 1 / 0"), "1");
    EXPECT_EQ(result_of("1 ? 1 : 2"), "no_such_overload");
}

TEST(Program, SelectsAndIndexes) {
    EXPECT_EQ(result_of("event.data.items[1]"), "\"b\"");
    EXPECT_EQ(result_of("event['data'][\"a b\"]"), "true");
    EXPECT_EQ(result_of("event.data.items[2]"), "no_such_member");
    EXPECT_EQ(result_of("event.data.items[-1]"), "no_such_member");
    EXPECT_EQ(result_of("event.data.items[1u] + event.data.items[0.0]"), "\"ba\"");
    EXPECT_EQ(result_of("event.data.items[0.5]"), "no_such_overload");
    EXPECT_EQ(result_of("event.data.items['0']"), "no_such_overload");
    EXPECT_EQ(result_of("event.data['0']"), "\"zero\"");
    EXPECT_EQ(result_of("event.data[0]"), "no_such_member");
    EXPECT_EQ(result_of("[{'a': [7]}][0].a[0]"), "7");
    EXPECT_EQ(result_of("{'a': 1}.b"), "no_such_member");
    EXPECT_EQ(result_of("'a'.b"), "no_such_overload");
    EXPECT_EQ(result_of("{'a': 1}[event.type]"), "no_such_member");
}

TEST(Program, AsksForMembersAsCelDoes) {
    EXPECT_EQ(result_of("has(event.none)"), "true");
    EXPECT_EQ(result_of("has(event.nothing)"), "false");
    EXPECT_EQ(result_of("has(event.nothing.more)"), "no_such_member");
    EXPECT_EQ(result_of("has(event.type.more)"), "no_such_overload");
    EXPECT_EQ(result_of("has({'a': 1}.a) && !has({'a': 1}.b)"), "true");
    EXPECT_EQ(result_of("has([1][0].a)"), "no_such_overload");
}

TEST(Program, FindsThingsInListsMapsAndTexts) {
    EXPECT_EQ(result_of("1 in [1.0] && !('c' in event.data.items)"), "true");
    EXPECT_EQ(result_of("'amount' in event.data && !(1 in event.data)"), "true");
    EXPECT_EQ(result_of("'a' in 'abc'"), "no_such_overload");
    EXPECT_EQ(result_of("'abc'.contains('b') && 'abc'.contains('') && !'abc'.contains('cb')"),
              "true");
    EXPECT_EQ(result_of("event.type.startsWith('order.') && event.type.endsWith('created')"),
              "true");
    EXPECT_EQ(result_of("event.data.amount.contains('1')"), "no_such_overload");
}

TEST(Program, CountsCodePointsItemsAndMembers) {
    EXPECT_EQ(result_of("size('häß') + 'ab'.size() + [1, 2].size() + size({'a': 1})"), "8");
    EXPECT_EQ(result_of("size(event.raw)"), "2");
    EXPECT_EQ(result_of("size(1)"), "no_such_overload");
}

TEST(Program, ComputesWithTimes) {
    EXPECT_EQ(result_of("event.started + event.took - event.took == event.started"), "true");
    EXPECT_EQ(result_of("event.took + event.started > event.started"), "true");
    EXPECT_EQ(result_of("event.started - event.started == event.took - event.took"), "true");
    EXPECT_EQ(result_of("event.started + event.started"), "no_such_overload");
    EXPECT_EQ(result_of("event.took - event.started"), "no_such_overload");
    EXPECT_EQ(result_of("event.took * event.took"), "no_such_overload");
    EXPECT_EQ(result_of("string(event.started)"), "\"2001-09-09T01:46:40Z\"");
    EXPECT_EQ(result_of("string(event.took)"), "\"60.001s\"");
    EXPECT_EQ(result_of("string(event.took - event.took - event.took)"), "\"-60.001s\"");
    EXPECT_EQ(result_of("int(event.started)"), "1000000000");
}

TEST(Program, ConvertsWhatFits) {
    EXPECT_EQ(result_of("int('-12') + int('+2') + int(2.9) + int(3u)"), "-5");
    EXPECT_EQ(result_of("int(9223372036854775808.0)"), "overflow");
    EXPECT_EQ(result_of("int('9223372036854775808')"), "overflow");
    EXPECT_EQ(result_of("int(' 1')"), "bad_conversion");
    EXPECT_EQ(result_of("int('+-1')"), "bad_conversion");
    EXPECT_EQ(result_of("uint(-1)"), "overflow");
    EXPECT_EQ(result_of("uint('7')"), "7");
    EXPECT_EQ(result_of("double('1.5') + double(1)"), "2.5");
    EXPECT_EQ(result_of("double('nan(1)')"), "bad_conversion");
    EXPECT_EQ(result_of("double('1e-999')"), "0.0");
    EXPECT_EQ(result_of("string(double('-inf')) + string(-4.5e-3)"), "\"-Infinity-0.0045\"");
    EXPECT_EQ(result_of("string(null)"), "no_such_overload");
    EXPECT_EQ(result_of("string(event.raw)"), "bad_conversion");
    EXPECT_EQ(result_of("bool('true') && !bool('0')"), "true");
    EXPECT_EQ(result_of("bool('TrUe')"), "bad_conversion");
}

TEST(Program, ReadsTextLiterals) {
    EXPECT_EQ(result_of(R"('\x41\u00e4\101\n' == "Aä\x41\n")"), "true");
    EXPECT_EQ(result_of(R"(r'\n'.size())"), "2");
    EXPECT_EQ(result_of("'''a'\nb'''.size()"), "4");
    EXPECT_EQ(result_of("''"), "\"\"");
    EXPECT_THAT(refusal_of(R"('\q')"), HasSubstr("no escape sequence"));
    EXPECT_THAT(refusal_of(R"('\ud800')"), HasSubstr("U+D800 is no character"));
    EXPECT_THAT(refusal_of("'a"), HasSubstr("not closed"));
    EXPECT_THAT(refusal_of("'a\n'"), HasSubstr("not closed"));
    EXPECT_THAT(refusal_of("'\xff'"), HasSubstr("found the byte 0xff (at byte 1)"));
    EXPECT_THAT(refusal_of(R"('\u12')"), HasSubstr("no escape sequence"));
    EXPECT_THAT(refusal_of("'\\"), HasSubstr("not closed"));
}

TEST(Program, FaultsAtARepeatedKey) {
    EXPECT_EQ(result_of("{'a': 1, 'a': 2}"), "repeated_key");
    EXPECT_EQ(result_of("{'a': event.type, 'a' + '': 2}.a == 1 || true"), "true");
}

TEST(Program, SaysWhereAFaultHappened) {
    auto outcome = run("1 + event.nothing");

    EXPECT_EQ(std::get<Fault>(outcome), (Fault{"no_such_member", "there is no event.nothing", 4}));
}

TEST(Program, RefusesUnknownNames) {
    EXPECT_EQ(refusal_of("1 + foo.bar"),
              "unknown name \"foo\": expected one of event, run (at byte 4)");
    EXPECT_EQ(refusal_of("foo", {}), "unknown name \"foo\": no names can be used here (at byte 0)");
}

TEST(Program, RefusesUnknownFunctionsAndNamesTheNearest) {
    EXPECT_EQ(refusal_of("event.id.startWith('a')"),
              "unknown function \"startWith\": did you mean \"startsWith\"? (at byte 9)");
    EXPECT_EQ(refusal_of("frobnicate(1)"), "unknown function \"frobnicate\" (at byte 0)");
    EXPECT_EQ(refusal_of("math.absolutely(1)"),
              "unknown name \"math\": expected one of event, run (at byte 0)");
    EXPECT_EQ(refusal_of("a.b.Message{c: 1}"),
              "messages such as a.b.Message{…} are not supported (at byte 0)");
}

TEST(Program, RefusesWrongNumbersOfArguments) {
    EXPECT_EQ(refusal_of("'a'.substring()"),
              "function \"substring\" takes 1 to 2 arguments, found 0 (at byte 4)");
    EXPECT_EQ(refusal_of("math.greatest()"),
              "function \"math.greatest\" takes 1 or more arguments, found 0 (at byte 5)");
    EXPECT_EQ(refusal_of("size()"), "function \"size\" takes 1 argument, found 0 (at byte 0)");
    EXPECT_THAT(refusal_of("event.a.all(x)"), HasSubstr("all() does not take 1 arguments"));
}

TEST(Program, RefusesConstantsThatDoNotFit) {
    EXPECT_EQ(refusal_of("event.a == 1 || 1 + 'a' == 2"), "there is no int + string (at byte 18)");
    EXPECT_EQ(refusal_of("size(3) == event.a"), "there is no size(int) (at byte 0)");
    EXPECT_EQ(refusal_of("event.a.matches('(')"),
              "the pattern cannot be used: missing ): ( (at byte 16)");
    EXPECT_EQ(refusal_of("event.a == 1 / 0"), "accepted") << "kinds fit: that is a fault";
}

TEST(Program, RefusesMacrosThatDoNotNameTheirVariable) {
    EXPECT_EQ(refusal_of("event.a.all(1, true)"),
              "all() expects a plain name here: all(x, …) (at byte 12)");
    EXPECT_EQ(refusal_of("event.a.map(a.b, true)"),
              "map() expects a plain name here: map(x, …) (at byte 12)");
    EXPECT_EQ(refusal_of("event.a.exists(x, x, true)"),
              "exists() expects two names, found x twice (at byte 18)");
    EXPECT_EQ(refusal_of("cel.bind(1, 2, 3)"),
              "bind() expects a plain name here: bind(x, …) (at byte 9)");
}

TEST(Program, RefusesBadSyntax) {
    for (const auto* text : {"",
                             "1 +",
                             "(1",
                             "[1",
                             "[1 2]",
                             "{'a' 1}",
                             "1 2",
                             "a b",
                             "event.",
                             "event.in",
                             "if",
                             "event[",
                             "true ? 1",
                             "&",
                             "event & run",
                             "#",
                             "has(event)",
                             "has(1 + 2)",
                             "size()",
                             "size(1, 2)",
                             "'a'.string()",
                             "contains('a', 'b')",
                             "!-event.a",
                             "99999999999999999999",
                             "1e999",
                             "in",
                             "event.size(",
                             "size(1,)",
                             "-",
                             "\x01"}) {
        EXPECT_THAT(refusal_of(text), HasSubstr("(at byte ")) << text;
    }
}

TEST(Program, RefusesAConditionThatIsNeverABool) {
    auto options = CompileOptions{.names = {"event"}, .must_be_bool = true};
    for (const auto* text : {"1", "'a'", "null", "[true]", "{'a': true}", "event.a + event.b",
                             "-event.a", "size(event.a)", "event.a ? 1 : 'b'", "string(event.a)"}) {
        EXPECT_THAT(refusal_of(text, options), HasSubstr("never a bool")) << text;
    }
    for (const auto* text : {"true", "event.a", "event.a ? 1 : true", "event.a[0]", "!event.a",
                             "event.a in event.b", "has(event.a)", "1 < 2", "bool(event.a)"}) {
        EXPECT_EQ(refusal_of(text, options), "accepted") << text;
    }
}

TEST(Program, BoundsNestingButNotTheLengthOfChains) {
    EXPECT_THAT(refusal_of(repeated("(", 100'000)), HasSubstr("longer than 65536 bytes"));
    EXPECT_THAT(refusal_of(repeated("[", 60'000)), HasSubstr("nested deeper than 64"));
    EXPECT_EQ(result_of(repeated("(", 60) + "1" + repeated(")", 60)), "1");
    EXPECT_EQ(result_of("0" + repeated(" + 1", 10'000)), "10000");
    EXPECT_EQ(result_of("true" + repeated(" && true", 7'000)), "true");
    EXPECT_EQ(result_of(repeated("false ? 0 : ", 5'000) + "1"), "1");
    EXPECT_EQ(result_of(repeated("!", 60'000) + "true"), "true");
    EXPECT_EQ(result_of("[1]" + repeated("[0]", 10'000)), "no_such_overload");
}

TEST(Program, StopsWhenItsBudgetIsSpent) {
    auto code = [](std::string_view text, const Budget& budget) {
        auto outcome = run(text, budget);
        const auto* fault = std::get_if<Fault>(&outcome);
        return fault != nullptr ? fault->code : "value";
    };
    EXPECT_EQ(code("event.data.amount + 1 + 1", {.steps_max = 3}), "budget");
    EXPECT_EQ(code("event.data.amount + 1 + 1", {.steps_max = 30}), "value");
    EXPECT_EQ(code("[[event.type]]", {.depth_max = 2}), "budget");
    EXPECT_EQ(code("event.type + 'def'", {.output_bytes_max = 15}), "budget");
    EXPECT_EQ(code("event.type + 'def' == 'abcdef' || true", {.output_bytes_max = 15}), "budget");
    EXPECT_EQ(code("event.type", {.output_bytes_max = 5}), "budget");
    EXPECT_EQ(code("[event.type, event.type].map(x, x + x)", {.memory_bytes_max = 10}), "value");
    EXPECT_EQ(code("event.data.items.map(x, event.data.items.map(y, [x + y, x, y, x, y, x, y]))",
                   {.memory_bytes_max = 100}),
              "budget");
    auto long_text = " + '" + std::string(1000, 'a') + "'";
    EXPECT_EQ(code("event.type" + repeated(long_text, 60), {.steps_max = 200}), "budget");
}

class AskedPaths final : public Bindings {
public:
    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        asked.emplace_back(path.begin(), path.end());
        return Value{1};
    }
    mutable std::vector<std::vector<std::string>> asked;
};

TEST(Program, AsksForTheLongestStaticPathAtOnce) {
    auto program =
        compile("event.data['a b'].list[3].x == 1 && event.y[run.z].q['0'] != 2 || (event).w == 0",
                {.names = {"event", "run"}});
    ASSERT_TRUE(program);
    auto bindings = AskedPaths{};

    auto outcome = program->evaluate(bindings);

    EXPECT_EQ(std::get<Fault>(outcome).code, "no_such_overload");
    auto expected = std::vector<std::vector<std::string>>{
        {"event", "data", "a b", "list", "3", "x"}, {"event", "y"}, {"run", "z"}, {"event", "w"}};
    EXPECT_EQ(bindings.asked, expected);
}

TEST(Program, IsSharedBetweenThreads) {
    auto program = compile("event.data.items == ['a', 'b'] && event.type + '!' != ''",
                           testing::options_for(names()));
    ASSERT_TRUE(program);
    auto bindings = testing::MapBindings{names()};
    auto truths = std::vector<int>(4);

    auto threads = std::vector<std::jthread>{};
    for (auto& truth : truths) {
        threads.emplace_back([&truth, copy = *program, &bindings] {
            for (auto i = 0; i < 200; ++i) {
                truth += std::get<Value>(copy.evaluate(bindings)).as_bool() ? 1 : 0;
            }
        });
    }
    threads.clear();

    EXPECT_THAT(truths, ::testing::Each(200));
}

__extension__ typedef __int128 Wide;

RC_GTEST_PROP(Program, AddsAsIntegersOfAnyWidthDo, (std::int64_t left, std::int64_t right)) {
    auto bindings = testing::MapBindings{Value::object({{"a", left}, {"b", right}})};
    auto program = compile("a + b", {.names = {"a", "b"}});
    auto sum = static_cast<Wide>(left) + right;
    auto fits = sum <= std::numeric_limits<std::int64_t>::max() &&
                sum >= std::numeric_limits<std::int64_t>::min();

    auto outcome = program->evaluate(bindings);

    RC_ASSERT(std::holds_alternative<Value>(outcome) == fits);
    if (fits) {
        RC_ASSERT(std::get<Value>(outcome).as_int() == static_cast<std::int64_t>(sum));
    }
}

RC_GTEST_PROP(Program, ReadsBackWhatStringWrites, (std::int64_t whole, double real)) {
    auto bindings = testing::MapBindings{Value::object({{"a", whole}, {"b", real}})};
    auto program = compile("int(string(a)) == a && double(string(b)) == b", {.names = {"a", "b"}});

    RC_ASSERT(std::get<Value>(program->evaluate(bindings)) == Value{true});
}

RC_GTEST_PROP(Program, DecidesAlikeInEitherOrder, ()) {
    auto operand = rc::gen::element<std::string>("true", "false", "1", "a.missing", "1 / 0 == 1");
    auto left = *operand;
    auto right = *operand;
    auto op = *rc::gen::element<std::string>(" && ", " || ");
    auto truth = [](const std::string& text) {
        auto outcome = compile(text, {.names = {"a"}})->evaluate(testing::MapBindings{});
        const auto* value = std::get_if<Value>(&outcome);
        return value == nullptr ? -1 : static_cast<int>(value->as_bool());
    };

    RC_ASSERT(truth(left + op + right) == truth(right + op + left));
}

RC_GTEST_PROP(Program, EitherRefusesOrEvaluatesAnyTokens, ()) {
    auto token = rc::gen::element<std::string>("event", ".", "a", "[", "]", "(", ")", "{", "}", ":",
                                               "?", ",", "1", "'t'", "+", "-", "!", "&&", "||",
                                               "==", "in", "has", "size", " ", "2.5", "u");
    auto text = std::string{};
    for (const auto& piece : *rc::gen::container<std::vector<std::string>>(token)) {
        text += piece;
    }

    auto program = compile(text, {.names = {"event"}});
    if (program) {
        program->evaluate(
            testing::MapBindings{Value::object({{"event", Value::object({{"a", 1}})}})});
    } else {
        RC_ASSERT(!program.error().code.empty());
        RC_ASSERT(program.error().position <= text.size());
    }
}

} // namespace
} // namespace sluice::expr::cel
