#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "expr/cel/compile.h"
#include "expr/testing/bindings.h"
#include "value/json.h"

namespace sluice::expr::cel {
namespace {

std::string times(std::string_view text, std::size_t count) {
    auto result = std::string{};
    for (auto i = std::size_t{0}; i < count; ++i) {
        result += text;
    }
    return result;
}

/// What becomes of it on a thread with the usual stack.
std::string explode(const std::string& text) {
    auto code = std::string{};
    auto thread = std::jthread{[&] {
        auto many = std::vector<Value>(2000, Value{std::string(50, 'a')});
        auto names = Value::object(
            {{"text", std::string(20'000, 'a')}, {"list", Value::list(std::move(many))}});
        auto program = compile(text, testing::options_for(names));
        auto outcome =
            program ? program->evaluate(testing::MapBindings{names}) : Outcome{program.error()};
        const auto* fault = std::get_if<Fault>(&outcome);
        code = fault == nullptr ? "value" : fault->code;
    }};
    thread.join();
    return code;
}

TEST(Bomb, OfNestedMacrosIsStopped) {
    EXPECT_EQ(explode("list.all(a, list.all(b, list.all(c, list.all(d, a == b))))"), "budget");
    EXPECT_EQ(explode("list.map(a, list.map(b, list.map(c, a + b + c)))"), "budget");
    EXPECT_EQ(explode(times("list.map(x, ", 100) + "1" + times(")", 100)), "too_deep");
    EXPECT_EQ(explode("list" + times(".map(x, x)", 5000)), "budget");
}

TEST(Bomb, OfDoublingIsStopped) {
    auto text = std::string{"text"};
    auto list = std::string{"[text]"};
    for (auto i = 0; i < 40; ++i) {
        text = "cel.bind(x, " + text + ", x + x)";
        list = "cel.bind(x, " + list + ", [x, x])";
    }
    EXPECT_EQ(explode(text), "budget");
    EXPECT_EQ(explode(list), "budget");
    EXPECT_EQ(explode("(" + list + ") == (" + list + ")"), "budget");
    EXPECT_EQ(explode("'%s'.format([" + list + "])"), "budget");
    EXPECT_EQ(explode("text.replace('', text)"), "budget");
    EXPECT_EQ(explode("list.join(text)"), "budget");
}

TEST(Bomb, OfRegularExpressionsIsStopped) {
    EXPECT_EQ(explode("text.matches('(a*)*(a*)*b')"), "value");
    EXPECT_EQ(explode("text.matches('((a{1,100}){1,100}){1,100}')"), "bad_pattern");
    EXPECT_EQ(explode("text.matches('(a|b)*a(a|b){100}c')"), "value");
    EXPECT_EQ(explode("list.exists(x, text.matches(x + '(a|b)*a(a|b){100}c'))"), "budget");
    EXPECT_EQ(explode("(" + times("text + ", 40) + "text).matches('(a|b)*a(a|b){500}c')"),
              "budget");
}

TEST(Bomb, OfNestingIsStopped) {
    for (const auto* open : {"(", "[", "{1: ", "-(", "!(", "size(", "has(", "has(text.a[", "x.y(",
                             "text[", "text[?", "true ? (", "cel.bind(x, ", "[?", "list.all(x, "}) {
        EXPECT_NE(explode(times(open, 5000)), "value") << open;
    }
}

TEST(Bomb, OfManyTermsIsEvaluatedOrStopped) {
    EXPECT_EQ(explode("size(text)" + times(" + 1", 10'000)), "value");
    EXPECT_EQ(explode("text == 'a'" + times(" || text == 'b'", 4000)), "value");
    EXPECT_EQ(explode("text" + times(".a", 20'000)), "no_such_member");
    EXPECT_EQ(explode("text" + times(".trim()", 8'000)), "budget");
    EXPECT_EQ(explode(times("!", 60'000) + "(text == '')"), "value");
    EXPECT_EQ(explode("[" + times("1,", 30'000) + "1]"), "value");
    EXPECT_EQ(explode("{" + times("text: 1,", 7'000) + "}"), "repeated_key");
    EXPECT_EQ(explode(times("text.a ? text : ", 4'000) + "1"), "no_such_member");
}

} // namespace
} // namespace sluice::expr::cel
