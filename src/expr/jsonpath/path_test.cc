#include "expr/jsonpath/path.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::expr::jsonpath {
namespace {

std::string written(const std::expected<Value, Fault>& read) {
    return read ? value::to_json(*read) : "fault " + read.error().code;
}

/// What a path selects, as JSON; `refused` or a fault otherwise.
std::string selected(std::string_view text, std::string_view json,
                     Dialect dialect = Dialect::Rfc9535) {
    auto path = Path::compile(text, dialect);
    if (!path) {
        EXPECT_EQ(path.error().code, "invalid_path");
        return "refused";
    }
    auto document = value::parse_json(json);
    EXPECT_TRUE(document) << json;
    if (dialect == Dialect::Jayway) {
        return written(path->read(*document));
    }
    auto values = path->select(*document);
    return values ? value::to_json(Value::list(*values)) : "fault " + values.error().code;
}

std::string jayway(std::string_view text, std::string_view json) {
    return selected(text, json, Dialect::Jayway);
}

std::size_t position_of_fault(std::string_view text, Dialect dialect = Dialect::Rfc9535) {
    auto path = Path::compile(text, dialect);
    EXPECT_FALSE(path) << text;
    return path ? 0 : path.error().position;
}

Value nested_lists(std::size_t depth) {
    auto value = Value{1};
    for (auto level = std::size_t{0}; level < depth; ++level) {
        value = Value::list({value, value});
    }
    return value;
}

TEST(JsonPath, SelectsByNameIndexSliceAndWildcard) {
    constexpr auto json = std::string_view{R"({"a": [1, 2, 3, 4], "b": {"c": 5}})"};

    EXPECT_EQ(selected("$.a[1]", json), "[2]");
    EXPECT_EQ(selected("$['a'][-1, 0]", json), "[4,1]");
    EXPECT_EQ(selected("$.a[::-2]", json), "[4,2]");
    EXPECT_EQ(selected("$.a[1:3]", json), "[2,3]");
    EXPECT_EQ(selected("$.b.*", json), "[5]");
    EXPECT_EQ(selected("$..c", json), "[5]");
    EXPECT_EQ(selected("$.nope.c", json), "[]");
}

TEST(JsonPath, VisitsANodeBeforeItsDescendants) {
    EXPECT_EQ(selected("$..[0]", "[[1, [2]], [3]]"), "[[1,[2]],1,2,3]");
}

TEST(JsonPath, ComparesNumbersByWhatTheySay) {
    EXPECT_EQ(selected("$[?@ == 1]", "[1, 1.0, 1e0, \"1\", true]"), "[1,1.0,1.0]");
    EXPECT_EQ(selected("$[?@ < 9007199254740993]", "[9007199254740992.0, 9007199254740994]"),
              "[9007199254740992.0]");
    EXPECT_EQ(selected("$[?@ == $[0]]", "[[1, {\"a\": 2}], [1.0, {\"a\": 2.0}], [1]]"),
              "[[1,{\"a\":2}],[1.0,{\"a\":2.0}]]");
}

TEST(JsonPath, CallsFunctions) {
    EXPECT_EQ(selected("$[?length(@) == 2]", R"(["äö", [1, 2], {"a": 1}, 22])"), R"(["äö",[1,2]])");
    EXPECT_EQ(selected("$[?count(@.*) > 1]", "[[1], [1, 2]]"), "[[1,2]]");
    EXPECT_EQ(selected("$[?value(@..a) == 3]", R"([{"a": 3}, {"a": 3, "b": {"a": 3}}])"),
              R"([{"a":3}])");
}

TEST(JsonPath, MatchesOnlyIRegexps) {
    EXPECT_EQ(selected(R"($[?match(@, '[a-c\\-]{2,3}|x')])", R"(["ab", "a-c", "abca", "x"])"),
              R"(["ab","a-c","x"])");
    EXPECT_EQ(selected(R"($[?search(@, '\\d')])", R"(["1"])"), "[]");
    EXPECT_EQ(selected(R"($[?search(@, '(?i)a')])", R"(["A"])"), "[]");
    EXPECT_EQ(selected(R"($[?match(@, '[^&&~~]')])", R"(["a", "&", "~"])"), R"(["a"])");
    EXPECT_EQ(selected(R"($[?match(@, '\\p{Cn}')])", R"(["\u0378", "a"])"), "[\"\u0378\"]");
    EXPECT_EQ(selected(R"($[?match(@, '[\\P{Cn}]')])", R"(["\u0378", "a"])"), R"(["a"])");
    EXPECT_EQ(selected(R"($[?match(@, '\\p{Greek}')])", R"(["α"])"), "[]");
    EXPECT_EQ(selected(R"($[?match(@, 'a{')])", R"(["a{"])"), "[]");
}

TEST(JsonPath, TellsWhereAMatchStands) {
    auto path = Path::compile("$..*", Dialect::Rfc9535).value();
    auto document = value::parse_json(R"({"it's": [true], "a\n\u0001": 1})").value();

    auto matches = path.locate(document).value();

    ASSERT_EQ(matches.size(), 3U);
    EXPECT_EQ(matches[0].path, R"($['it\'s'])");
    EXPECT_EQ(matches[1].path, R"($['a\n\u0001'])");
    EXPECT_EQ(matches[2].path, R"($['it\'s'][0])");
}

TEST(JsonPath, RefusesWhatIsIllTyped) {
    for (const auto* text : {"$[?length(@.*) == 1]", "$[?count(1) == 1]", "$[?length(@.a)]",
                             "$[?match(@.a, 'x') == 1]", "$[?@.* == 1]", "$[?1]",
                             "$[?length(@.a, 1) == 1]", "$[?nope(@.a)]", "$[?!@.a == 1]"}) {
        EXPECT_EQ(selected(text, "[]"), "refused") << text;
    }
}

TEST(JsonPath, SaysWhereAMistakeIs) {
    EXPECT_EQ(position_of_fault("$.a[01]"), 4U);
    EXPECT_EQ(position_of_fault("$.a b"), 3U);
    EXPECT_EQ(position_of_fault("$[?@.a == ]"), 10U);
    EXPECT_EQ(position_of_fault("$[9007199254740992]"), 2U);
    EXPECT_EQ(position_of_fault("$['\\ud800']"), 5U);
    EXPECT_EQ(position_of_fault("$.a[?(@.b ~ 1)]", Dialect::Jayway), 10U);
    EXPECT_EQ(position_of_fault("$.\xff"), 2U);
}

TEST(JaywayPath, YieldsTheValueOfADefinitePath) {
    constexpr auto json =
        std::string_view{R"({"a": {"b-c": [1, {"d": null}]}, "x.y": 2, "t": "s"})"};

    EXPECT_EQ(jayway("$", "5"), "5");
    EXPECT_EQ(jayway("$.a.b-c[0]", json), "1");
    EXPECT_EQ(jayway("$.a.b-c[-1].d", json), "null");
    EXPECT_EQ(jayway(R"($.x\.y)", json), "2");
    EXPECT_EQ(jayway("$['x.y']", json), "2");
    EXPECT_EQ(jayway(R"($['a\"b\'c'])", R"({"a\\\"b'c": 7})"), "7");
    EXPECT_EQ(jayway("$.a.nope", json), "fault no_such_member");
    EXPECT_EQ(jayway("$.a.b-c[2]", json), "fault no_such_member");
    EXPECT_EQ(jayway("$.t.x", json), "fault no_such_member");
}

TEST(JaywayPath, SaysWhyNothingIsThereAsJaywaySays) {
    auto document = value::parse_json(R"({"a": {"l": [1]}, "t": "s"})").value();
    auto reason = [&](std::string_view text) {
        return Path::compile(text, Dialect::Jayway)->explain_missing(document);
    };

    EXPECT_EQ(reason("$.nope"), "No results for path: $['nope']");
    EXPECT_EQ(reason("$.a.nope.x"), "Missing property in path $['a']['nope']");
    EXPECT_EQ(reason("$.a.l[7].x"), "No results for path: $['a']['l'][7]['x']");
    EXPECT_EQ(reason("$.t[0]"),
              "Filter: [0] can only be applied to arrays. Current context is: \"s\"");
    EXPECT_EQ(reason("$.t.x"),
              "Expected to find an object with property ['x'] in path $['t'] but found 'string'");
}

TEST(JaywayPath, YieldsAListOtherwiseEvenWhenTheParentIsMissing) {
    constexpr auto json = std::string_view{R"({"i": [{"x": 1}, {"x": 2}, {"y": 3}]})"};

    EXPECT_EQ(jayway("$.i[*].x", json), "[1,2]");
    EXPECT_EQ(jayway("$.i[1:].x", json), "[2]");
    EXPECT_EQ(jayway("$.i[0,1].x", json), "[1,2]");
    EXPECT_EQ(jayway("$.i[0]['x','z']", json), "[1]");
    EXPECT_EQ(jayway("$..x", json), "[1,2]");
    EXPECT_EQ(jayway("$.nope.items[1:5].x", json), "[]");
    EXPECT_EQ(jayway("$.nope[?(@.a == 1)]", json), "[]");
    EXPECT_TRUE(Path::compile("$.a['b'][1]", Dialect::Jayway)->is_definite());
    EXPECT_FALSE(Path::compile("$.a[1:2]", Dialect::Jayway)->is_definite());
}

TEST(JaywayPath, FiltersAsJaywayWritesThem) {
    constexpr auto json = std::string_view{
        R"([{"n": 1, "s": "Ab", "l": [1, 2]}, {"n": 2, "s": "", "l": []}, {"n": "2", "m": null}])"};
    auto numbers = [&](std::string_view filter) {
        return jayway("$[?(" + std::string{filter} + ")].n", json);
    };

    EXPECT_EQ(numbers("@.n == 2"), "[2,\"2\"]");
    EXPECT_EQ(numbers("@.n === 2"), "[2]");
    EXPECT_EQ(numbers("@.s != 'Ab'"), "[2,\"2\"]");
    EXPECT_EQ(numbers("@.n >= 1 && !(@.n == 1)"), "[2]");
    EXPECT_EQ(numbers("@.s =~ /a.*/i"), "[1]");
    EXPECT_EQ(numbers("@.s =~ /b/"), "[]");
    EXPECT_EQ(numbers("@.n in [1, 'x']"), "[1]");
    EXPECT_EQ(numbers("@.n NIN [1]"), "[2,\"2\"]");
    EXPECT_EQ(numbers("@.l subsetof [1, 2, 3]"), "[1,2]");
    EXPECT_EQ(numbers("@.l anyof [2]"), "[1]");
    EXPECT_EQ(numbers("@.l noneof [2]"), "[2]");
    EXPECT_EQ(numbers("@.l contains 2 || @.s contains 'zz'"), "[1]");
    EXPECT_EQ(numbers("@.s contains 'b'"), "[1]");
    EXPECT_EQ(numbers("@.l size 2"), "[1]");
    EXPECT_EQ(numbers("@.s empty true"), "[2]");
    EXPECT_EQ(numbers("@.m"), "[\"2\"]");
    EXPECT_EQ(numbers("!@.s"), "[\"2\"]");
    EXPECT_EQ(numbers("@.l.length() > 1"), "[1]");
    EXPECT_EQ(numbers("@.l[0] == $[0].n"), "[1]");
    EXPECT_EQ(numbers("@.m == null"), "[\"2\"]");
    EXPECT_EQ(numbers("@.s == Ab"), "[1]");
}

TEST(JaywayPath, CountsFromTheEndAsTheFirstJsonPathDid) {
    EXPECT_EQ(jayway("$.a[(@.length-1)].b", R"({"a": [1, {"b": 2}]})"), "2");
    EXPECT_EQ(jayway("$.a[( @.length - 2 )]", R"({"a": [1, 2]})"), "refused");
    EXPECT_EQ(jayway("$.a[(@.length+1)]", "{}"), "refused");
    EXPECT_TRUE(Path::compile("$[(@.length-1)]", Dialect::Jayway)->is_definite());
}

TEST(JaywayPath, TestsAnObjectItself) {
    EXPECT_EQ(jayway("$.o[?(@.a == 1)]", R"({"o": {"a": 1}})"), R"([{"a":1}])");
    EXPECT_EQ(jayway("$..[?(@.a)].a", R"({"o": {"a": 1}, "l": [{"a": 2}]})"), "[1,2]");
}

TEST(JaywayPath, EndsInFunctions) {
    constexpr auto json =
        std::string_view{R"({"n": [4, 2, 9], "m": {"a": 1, "b": "x"}, "t": "s"})"};

    EXPECT_EQ(jayway("$.n.length()", json), "3");
    EXPECT_EQ(jayway("$.m.length()", json), "2");
    EXPECT_EQ(jayway("$.t.length()", json), "null");
    EXPECT_EQ(jayway("$.n.sum()", json), "15.0");
    EXPECT_EQ(jayway("$.n.min()", json), "2.0");
    EXPECT_EQ(jayway("$.n.max()", json), "9.0");
    EXPECT_EQ(jayway("$.n.avg()", json), "5.0");
    EXPECT_EQ(jayway("$.sum($.n, 1)", json), "16.0");
    EXPECT_EQ(jayway("$.m.keys()", json), R"(["a","b"])");
    EXPECT_EQ(jayway("$.n.first()", json), "4");
    EXPECT_EQ(jayway("$.n.index(-2)", json), "2");
    EXPECT_EQ(jayway("$.n.append(1)", json), "[4,2,9,1]");
    EXPECT_EQ(jayway("$.concat($.t, '-', $.m.b)", json), R"("s-x")");
    EXPECT_EQ(jayway("$..a.length()", json), "1");
    EXPECT_EQ(jayway("$.t.sum()", json), "fault invalid_argument");
    EXPECT_EQ(jayway("$.nope.length()", json), "fault no_such_member");
}

TEST(JaywayPath, RefusesWhatItCannotRead) {
    for (const auto* text : {"", "a.b", "$.", "$..", "$.a b", "$.a[", "$.a[?(@.x)", "$.a[?@.x]",
                             "$[?(1)]", "$.a.nope()", "$.a.length().b", "$['a',1]",
                             "$[?(@ == {'a key that is longer than a small text': )]",
                             "$.a[?(@.x =~ /(?=a)/)]", "$.a[?(@.x =~ /(/)]", "$x"}) {
        EXPECT_EQ(jayway(text, "{}"), "refused") << text;
    }
}

TEST(JsonPathBudget, EndsWhatMultiplies) {
    auto wide = nested_lists(12);
    for (const auto* text : {"$..*..*..*..*", "$[*,*,*][*,*,*][*,*,*][*,*,*][*,*,*][*,*,*][*,*,*]",
                             "$..[?@..[?@..[?@..*]]]", "$..[?$..[?$..[?$..*]]]"}) {
        auto values = Path::compile(text, Dialect::Rfc9535)->select(wide);

        ASSERT_FALSE(values) << text;
        EXPECT_EQ(values.error().code, "budget");
    }
}

TEST(JsonPathBudget, EndsInDeepDocuments) {
    auto deep = Value{1};
    for (auto level = 0; level < 100'000; ++level) {
        deep = Value::list({deep});
    }
    for (const auto* text : {"$..*", "$[?@ == $]", "$..[?$..[?$..[?$..*]]]"}) {
        auto values =
            Path::compile(text, Dialect::Rfc9535)->select(deep, {.steps_max = 100'000'000});

        ASSERT_FALSE(values) << text;
        EXPECT_EQ(values.error().code, "budget");
    }
}

TEST(JsonPathBudget, CountsWhatPatternsCost) {
    auto document = Value::object({{"t", std::string(1'000'000, 'a')}, {"p", "(x?){100}y"}});
    for (const auto* text : {"$[?match($.t, $.p)]", "$[?search($.t, '((a?){50}){20}b')]"}) {
        auto values = Path::compile(text, Dialect::Rfc9535)->select(document);

        ASSERT_FALSE(values) << text;
        EXPECT_EQ(values.error().code, "budget");
    }
}

TEST(JsonPathBudget, CountsPatternsThatComeWithTheData) {
    auto patterns = std::vector<Value>{};
    for (auto number = 0; number < 1'000; ++number) {
        patterns.emplace_back("(a" + std::to_string(number) + "?){50}");
    }
    auto values = Path::compile("$[?match('a', @)]", Dialect::Rfc9535)
                      ->select(Value::list(std::move(patterns)));

    ASSERT_FALSE(values);
    EXPECT_EQ(values.error().code, "budget");
}

TEST(JsonPathBudget, RefusesDeepNestingAndTakesManyTerms) {
    auto nested = std::string{};
    for (auto level = 0; level < 10'000; ++level) {
        nested += "(";
    }
    EXPECT_EQ(selected("$[?" + nested, "[]"), "refused");
    EXPECT_EQ(jayway("$[?(" + nested, "[]"), "refused");
    EXPECT_EQ(jayway("$[?(@.a in " + std::string(10'000, '['), "[]"), "refused");
    auto brackets = std::string{"$"};
    auto calls = std::string{"$[?"};
    auto terms = std::string{"@.a == 0"};
    for (auto level = 0; level < 10'000; ++level) {
        brackets += "[?@";
        calls += "length(";
        terms += " || @.a == 1";
    }
    EXPECT_EQ(selected(brackets, "[]"), "refused");
    EXPECT_EQ(selected(calls, "[]"), "refused");
    EXPECT_EQ(selected("$" + std::string(300'000, ' ') + ".a", "{}"), "refused");
    EXPECT_EQ(selected("$[?" + terms + "]", R"([{"a": 1}])"), R"([{"a":1}])");
}

} // namespace
} // namespace sluice::expr::jsonpath
