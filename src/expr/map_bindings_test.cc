#include "expr/map_bindings.h"

#include <vector>

#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::expr {
namespace {

using Path = std::vector<std::string_view>;

TEST(MapBindings, FindMembersAndItems) {
    auto names = *value::parse_json(R"({"a":{"b":[10,{"c":null}]},"t":"text"})");
    auto bindings = MapBindings{names};

    EXPECT_EQ(bindings.resolve(Path{"a", "b", "0"}), Value{10});
    EXPECT_EQ(bindings.resolve(Path{"a", "b", "1", "c"}), Value{});
    EXPECT_EQ(bindings.resolve(Path{"t"}), Value{"text"});
}

TEST(MapBindings, HaveNothingWhereThereIsNothing) {
    auto bindings = MapBindings{*value::parse_json(R"({"a":[1],"t":"text","m":{"0":1}})")};

    for (const auto& path :
         {Path{"b"}, Path{"a", "1"}, Path{"a", "x"}, Path{"a", "0x"}, Path{"a", "-1"},
          Path{"a", ""}, Path{"t", "0"}, Path{"m", "0"}, Path{"a", "0", "0"}}) {
        EXPECT_EQ(bindings.resolve(path), std::nullopt) << path.back();
    }
}

} // namespace
} // namespace sluice::expr
