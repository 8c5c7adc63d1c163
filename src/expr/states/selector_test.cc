#include "expr/states/selector.h"

#include <string>

#include <gtest/gtest.h>

#include "expr/states/testing/scene.h"
#include "value/json.h"

namespace sluice::expr::states {
namespace {

using testing::Scene;
using testing::told;

const auto orders = Scene{R"({"a": {"b": [1, 2, {"c": 3}]}, "t": "x", "n": null})",
                          R"({"Map": {"Item": {"Index": 4}}})", R"({"limit": {"max": 9}})"};

std::string read(std::string_view text, Selector::Kind kind = Selector::Kind::PathOrFunction) {
    auto selector = Selector::compile(text, kind);
    return selector ? told(selector->read(orders.sight())) : "refused";
}

TEST(Selector, ReadsDataContextAndVariables) {
    EXPECT_EQ(read("$.a.b[0]"), "1");
    EXPECT_EQ(read("$.a.b[-1].c"), "3");
    EXPECT_EQ(read("$['a']['b'][1]"), "2");
    EXPECT_EQ(read("$.n"), "null");
    EXPECT_EQ(read("$$.Map.Item.Index"), "4");
    EXPECT_EQ(read("$$"), R"({"Map":{"Item":{"Index":4}}})");
    EXPECT_EQ(read("$limit"), R"({"max":9})");
    EXPECT_EQ(read("$limit.max"), "9");
    EXPECT_EQ(read("$limit['max']"), "9");
}

TEST(Selector, GivesAListForWhatMayBeSeveral) {
    EXPECT_EQ(read("$.a.b[0:2]"), "[1,2]");
    EXPECT_EQ(read("$.a.b[?(@.c == 3)].c"), "[3]");
    EXPECT_EQ(read("$..c"), "[3]");
    EXPECT_EQ(read("$.nope.items[1:5].x"), "[]");
    EXPECT_EQ(read("$.a.b[(@.length-1)].c"), "3");
}

TEST(Selector, FailsInTheServicesWords) {
    EXPECT_EQ(read("$.nope"),
              "States.Runtime: Invalid path '$.nope' : No results for path: $['nope']");
    EXPECT_EQ(read("$.nope.x"),
              "States.Runtime: Invalid path '$.nope.x' : Missing property in path $['nope']");
    EXPECT_EQ(read("$unknown.x"),
              "States.Runtime: Invalid path '$unknown.x' : No results for path: $unknown.x");
    EXPECT_EQ(read("States.ArrayLength($.nope)"),
              "States.Runtime: The function 'States.ArrayLength($.nope)' had the following error: "
              "The JsonPath argument for the field '$.nope' could not be found in the input "
              R"('{"a":{"b":[1,2,{"c":3}]},"t":"x","n":null}')");
    auto selector = Selector::compile("$.nope", Selector::Kind::PathOrFunction);
    EXPECT_EQ(told(selector->read_for("ErrorPath", Scene{"{}"}.sight())),
              "States.Runtime: The JSONPath '$.nope' specified for the field 'ErrorPath' could not "
              "be found in the input '{}'");
}

TEST(Selector, TellsNothingFromNull) {
    auto null = Selector::compile("$.n", Selector::Kind::Reference);
    auto nothing = Selector::compile("$.nope", Selector::Kind::Reference);

    EXPECT_EQ(null->find(orders.sight()), Value{});
    EXPECT_EQ(nothing->find(orders.sight()), std::nullopt);
}

TEST(Selector, RefusesWhatIsNoPath) {
    for (const auto* text : {"", "a.b", "$.", "$a b", "$1x", " $.a", "$...", "States.Nope()"}) {
        EXPECT_FALSE(Selector::compile(text, Selector::Kind::PathOrFunction)) << text;
    }
    for (const auto* text : {"$.a[*]", "$..a", "$.a[0:1]", "$.a[?(@.b)]", "$.a[0,1]",
                             "$.a.length()", "States.UUID()"}) {
        EXPECT_FALSE(Selector::compile(text, Selector::Kind::Reference)) << text;
    }
    EXPECT_FALSE(Selector::compile("States.UUID()", Selector::Kind::Path));
    EXPECT_TRUE(Selector::compile("$größe.a", Selector::Kind::Reference));
    EXPECT_FALSE(Selector::compile("$" + std::string(81, 'x'), Selector::Kind::Reference));
}

TEST(Selector, TellsWhatItIs) {
    auto function = Selector::compile("States.Format('{}', $a.b, States.Array($b))",
                                      Selector::Kind::PathOrFunction);

    EXPECT_TRUE(function->is_function());
    EXPECT_EQ(function->variables(), (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(Selector::compile("$", Selector::Kind::Path)->is_everything());
    EXPECT_EQ(Selector::compile("$v.x", Selector::Kind::Path)->variables(),
              std::vector<std::string>{"v"});
}

} // namespace
} // namespace sluice::expr::states
