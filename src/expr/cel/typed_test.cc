#include "expr/cel/typed.h"

#include <string>

#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::expr::cel {
namespace {

Value json(std::string_view text) {
    return *value::parse_json(text);
}

std::string typed(const TypedCase& one, bool is_typed = true) {
    auto outcome = evaluate_case(one, {}, is_typed);
    const auto* fault = std::get_if<Fault>(&outcome);
    return fault != nullptr ? fault->code : value::to_json(std::get<Value>(outcome));
}

TEST(Typed, TellsKindsApart) {
    EXPECT_EQ(typed({.text = "[1, 1u, 1.0, 'a', b'a', null, true]"}),
              R"({"list":[{"int":"1"},{"uint":"1"},{"double":"1.0"},{"string":"a"},)"
              R"({"bytes":"YQ=="},{"null":null},{"bool":true}]})");
    EXPECT_EQ(typed({.text = "{1: type(1)}"}), R"({"map":[[{"int":"1"},{"type":"int"}]]})");
    EXPECT_EQ(typed({.text = "timestamp('1970-01-01T00:00:01.5Z')"}),
              R"({"timestamp":{"seconds":"1","nanos":500000000}})");
    EXPECT_EQ(typed({.text = "duration('-1.5s')"}),
              R"({"duration":{"seconds":"-1","nanos":-500000000}})");
    EXPECT_EQ(typed({.text = "optional.of(1)"}), R"({"optional":{"int":"1"}})");
    EXPECT_EQ(typed({.text = "[1u, optional.none()]"}, false), "[1,null]");
}

TEST(Typed, ReadsBackWhatItWrites) {
    auto text = std::string{
        "{'a': [1, 2u, 1.5, b'x', null], 2: {true: type('')},"
        " 'd': duration('3s'), 't': timestamp(7)}"};
    auto written = std::get<Value>(evaluate_case({.text = text}, {}, true));
    auto bound = Value::object({{"x", written}});

    EXPECT_EQ(std::get<Value>(evaluate_case({.text = "x", .typed_bindings = bound}, {}, true)),
              written);
    EXPECT_EQ(typed({.text = "x == " + text, .typed_bindings = bound}), R"({"bool":true})");
}

TEST(Typed, FindsNamesInTheirContainer) {
    auto bindings = json(R"({"a.b.x": 1, "a.x": 2, "x": 3, "y.z": {"w": 4}, "y": {"z": 5}})");

    EXPECT_EQ(typed({.text = "x", .bindings = bindings, .container = "a.b"}), R"({"int":"1"})");
    EXPECT_EQ(typed({.text = "x", .bindings = bindings, .container = "a.c"}), R"({"int":"2"})");
    EXPECT_EQ(typed({.text = ".x", .bindings = bindings, .container = "a.b"}), R"({"int":"3"})");
    EXPECT_EQ(typed({.text = "y.z.w", .bindings = bindings}), R"({"int":"4"})");
    EXPECT_EQ(typed({.text = "[{'z': 6}].map(y, y.z)[0]", .bindings = bindings}), R"({"int":"6"})");
}

TEST(Typed, LeavesWhatIsUnknownToTheEvaluation) {
    EXPECT_EQ(typed({.text = "nobody(1) || true"}), R"({"bool":true})");
    EXPECT_EQ(typed({.text = "nobody.knows || false"}), "unknown_name");
    EXPECT_EQ(typed({.text = "1 + 'a' == 2 || true"}), R"({"bool":true})");
    EXPECT_EQ(typed({.text = "size(1, 2)"}), "no_such_overload");
    EXPECT_EQ(typed({.text = "1 +"}), "syntax");
}

TEST(Typed, RefusesBindingsThatAreNotTyped) {
    for (const auto* text : {"5", R"({"int": 5})", R"({"int": "x"})", R"({"a": 1, "b": 2})",
                             R"({"map": [[1]]})", R"({"type": "nothing"})"}) {
        EXPECT_EQ(typed({.text = "x", .typed_bindings = Value::object({{"x", json(text)}})}),
                  "bad_input")
            << text;
    }
}

} // namespace
} // namespace sluice::expr::cel
