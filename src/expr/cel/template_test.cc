#include "expr/cel/template.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "expr/testing/bindings.h"
#include "value/json.h"

namespace sluice::expr::cel {
namespace {

using ::testing::HasSubstr;

const auto& template_names() {
    static const auto value = Value::object(
        {{"event", Value::object({{"name", "Ada"},
                                  {"count", 3},
                                  {"tags", Value::list({"x", 1.5, Value{}})},
                                  {"at", Time{std::chrono::seconds{1'000'000'000}}}})}});
    return value;
}

Template compiled(const Value& pattern) {
    auto result = Template::compile(pattern, testing::options_for(template_names()));
    EXPECT_TRUE(result) << describe(result.error());
    return result ? *result : Template{};
}

Value filled(const Value& pattern) {
    auto outcome = compiled(pattern).evaluate(testing::MapBindings{template_names()});
    return std::holds_alternative<Value>(outcome) ? std::get<Value>(outcome)
                                                  : Value{std::get<Fault>(outcome).message};
}

std::string refused_pattern(const Value& pattern) {
    auto result = Template::compile(pattern, testing::options_for(template_names()));
    return result ? "accepted" : describe(result.error());
}

TEST(Template, YieldsTheValueOfATextThatIsOneExpression) {
    EXPECT_EQ(filled("${event.count}"), Value{3});
    EXPECT_EQ(filled("${event.tags}"), Value::list({"x", 1.5, Value{}}));
    EXPECT_EQ(filled("${ event.count + 1 }"), Value{4});
}

TEST(Template, PutsValuesIntoATextAroundThem) {
    EXPECT_EQ(filled("${event.name} has ${event.count}"), Value{"Ada has 3"});
    EXPECT_EQ(filled(" ${event.tags}"), Value{R"( ["x",1.5,null])"});
    EXPECT_EQ(filled("${event.name}${event.name}"), Value{"AdaAda"});
    EXPECT_EQ(filled("at ${event.at}"), Value{"at 2001-09-09T01:46:40Z"});
}

TEST(Template, KeepsAnEscapedOpening) {
    EXPECT_EQ(filled("$${event.count}"), Value{"${event.count}"});
    EXPECT_EQ(filled("a $${x} ${event.count}"), Value{"a ${x} 3"});
    EXPECT_EQ(filled("$${"), Value{"${"});
    EXPECT_EQ(filled("$5 and $$ and {}"), Value{"$5 and $$ and {}"});
    EXPECT_EQ(filled("${'$'}${event.count}"), Value{"$3"});
}

TEST(Template, FindsTheClosingBraceBehindTextsAndMaps) {
    EXPECT_EQ(filled("${'}'}"), Value{"}"});
    EXPECT_EQ(filled("${{'a': {'b': \"}\"}}.a.b}!"), Value{"}!"});
    EXPECT_EQ(filled("${1 // }\n}"), Value{1});
}

TEST(Template, FillsListsAndMapsAtAnyDepthButNoKeys) {
    auto pattern = Value::object(
        {{"${event.count}",
          Value::list({1, "${event.count}", Value::object({{"n", "${event.name}"}})})},
         {"fixed", true}});

    auto result = filled(pattern);

    EXPECT_EQ(value::to_json(result), R"({"${event.count}":[1,3,{"n":"Ada"}],"fixed":true})");
}

TEST(Template, IsConstantWithoutExpressions) {
    EXPECT_TRUE(Template{}.is_constant());
    EXPECT_TRUE(compiled(Value::list({1, "text", "$${escaped}"})).is_constant());
    EXPECT_FALSE(compiled(Value::list({1, "${1}"})).is_constant());
    EXPECT_EQ(filled(Value::list({1, "$${escaped}"})), Value::list({1, "${escaped}"}));
    EXPECT_EQ(compiled("$${a}").pattern(), Value{"$${a}"});
}

TEST(Template, SaysWhichTextItRefuses) {
    auto pattern =
        Value::object({{"items", Value::list({"ok", Value::object({{"name", "é ${foo}"}})})}});

    EXPECT_EQ(refused_pattern(pattern),
              "in \"items[1].name\": unknown name \"foo\": expected one of event (at byte 5)");
    EXPECT_THAT(refused_pattern("a ${1"), HasSubstr("not closed: expected } (at byte 4)"));
    EXPECT_THAT(refused_pattern("${}"), HasSubstr("expected a value, found the end (at byte 2)"));
    EXPECT_THAT(refused_pattern("${1 2}"), HasSubstr("(at byte 4)"));
}

TEST(Template, SaysWhichTextHasAFault) {
    auto outcome = compiled(Value::object({{"a", Value::list({"x ${event.missing}"})}}))
                       .evaluate(testing::MapBindings{template_names()});

    EXPECT_EQ(std::get<Fault>(outcome),
              (Fault{"no_such_member", "in \"a[0]\": there is no event.missing", 4}));
}

TEST(Template, BoundsTheTextItProduces) {
    auto names = Value::object({{"a", std::string(1000, 'a')}});
    auto run = [&](const Value& pattern) {
        auto made = Template::compile(pattern, testing::options_for(names));
        return made->evaluate(testing::MapBindings{names}, {.output_bytes_max = 2500});
    };

    EXPECT_TRUE(std::holds_alternative<Value>(run("${a} ${a}")));
    EXPECT_EQ(std::get<Fault>(run("${a} ${a} ${a}")).code, "budget");
    EXPECT_EQ(std::get<Fault>(run(Value::list({"-${a}", "-${a}", "-${a}"}))).code, "budget");
    EXPECT_EQ(std::get<Fault>(run("-${[[a, a], [a, a]]}")).code, "budget");
}

TEST(Template, RefusesPatternsNestedTooDeep) {
    auto pattern = Value{"${1}"};
    for (auto i = 0; i < 200; ++i) {
        pattern = Value::list({pattern});
    }

    EXPECT_THAT(refused_pattern(pattern), HasSubstr("nested deeper than 128"));
}

RC_GTEST_PROP(Template, YieldsAnyEscapedTextAsItWas, ()) {
    auto piece = rc::gen::element<std::string>("$", "{", "}", "${", "a", "'", " ");
    auto text = std::string{};
    auto escaped = std::string{};
    for (const auto& part : *rc::gen::container<std::vector<std::string>>(piece)) {
        text += part;
    }
    for (auto i = std::size_t{0}; i < text.size(); ++i) {
        auto opens = text.substr(i, 2) == "${";
        escaped += opens ? "$$" : text.substr(i, 1);
    }

    auto outcome = Template::compile(escaped, {})->evaluate(testing::MapBindings{});

    RC_ASSERT(std::get<Value>(outcome) == Value{text});
}

TEST(Template, TellsThePathsItAsksFor) {
    auto pattern =
        Value::object({{"a", "${tasks.one.result.x + size(input.list)}"},
                       {"b", Value::list({Value{"no"}, Value{R"(${tasks["two-b"].result})"}})}});

    auto compiled = Template::compile(pattern, {.names = {"tasks", "input"}});

    ASSERT_TRUE(compiled);
    auto expected = std::vector<std::vector<std::string>>{
        {"tasks", "one", "result", "x"}, {"input", "list"}, {"tasks", "two-b", "result"}};
    EXPECT_EQ(compiled->paths(), expected);
}

} // namespace
} // namespace sluice::expr::cel
