#include "expr/jsonpath/reference_path.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::expr::jsonpath {
namespace {

std::string after_write(std::string_view text, std::string_view json) {
    auto path = ReferencePath::compile(text);
    EXPECT_TRUE(path) << text;
    auto made = path->write(value::parse_json(json).value(), Value{"new"});
    return made ? value::to_json(*made) : "fault " + made.error().code;
}

TEST(ReferencePath, ReadsOnePlace) {
    auto root = value::parse_json(R"({"a": {"b c": [1, 2]}})").value();

    EXPECT_EQ(ReferencePath::compile("$.a['b c'][1]")->read(root).value(), Value{2});
    EXPECT_EQ(ReferencePath::compile("$")->read(root).value(), root);
    EXPECT_EQ(ReferencePath::compile("$.a.x")->read(root).error().code, "no_such_member");
    EXPECT_EQ(ReferencePath::compile("$.a['b c'][2]")->read(root).error().code, "no_such_member");
}

TEST(ReferencePath, WritesAndMakesObjectsOnTheWay) {
    EXPECT_EQ(after_write("$", "1"), R"("new")");
    EXPECT_EQ(after_write("$.a", R"({"a": 1, "b": 2})"), R"({"a":"new","b":2})");
    EXPECT_EQ(after_write("$.x.y.z", R"({"a": 1})"), R"({"a":1,"x":{"y":{"z":"new"}}})");
    EXPECT_EQ(after_write("$.a.c", R"({"a": {"b": 1}})"), R"({"a":{"b":1,"c":"new"}})");
    EXPECT_EQ(after_write("$.a[1].b", R"({"a": [1, {"b": 2}]})"), R"({"a":[1,{"b":"new"}]})");
    EXPECT_EQ(after_write("$[0]", "[1, 2]"), R"(["new",2])");
}

TEST(ReferencePath, RefusesToWriteWhereNothingHolds) {
    EXPECT_EQ(after_write("$.a", "[1]"), "fault no_container");
    EXPECT_EQ(after_write("$.a", "null"), "fault no_container");
    EXPECT_EQ(after_write("$.a.b", R"({"a": "text"})"), "fault no_container");
    EXPECT_EQ(after_write("$.a.b", R"({"a": null})"), "fault no_container");
    EXPECT_EQ(after_write("$.a[1]", R"({"a": [1]})"), "fault no_container");
    EXPECT_EQ(after_write("$.a[0]", "{}"), "fault no_container");
    EXPECT_EQ(after_write("$.x.y[0].z", "{}"), "fault no_container");
}

TEST(ReferencePath, NamesOnePlaceOnly) {
    for (const auto* text : {"$..a", "$.*", "$[*]", "$[0,1]", "$[1:2]", "$[?(@.a)]", "$.a.length()",
                             "@.a", "a", "$.a.", "$['a','b']"}) {
        auto path = ReferencePath::compile(text);
        ASSERT_FALSE(path) << text;
        EXPECT_EQ(path.error().code, "invalid_path");
    }
}

TEST(ReferencePath, HasABoundedLength) {
    auto text = std::string{"$"};
    for (auto step = 0; step < 10'000; ++step) {
        text += ".a";
    }
    EXPECT_FALSE(ReferencePath::compile(text));
}

} // namespace
} // namespace sluice::expr::jsonpath
