#include "expr/cel/constraints.h"

#include <string>

#include <gtest/gtest.h>

#include "expr/cel/compile.h"
#include "value/json.h"

namespace sluice::expr::cel {
namespace {

/// `data.kind == ["a"] data.id ^ ["x"]`
std::string demands_of(std::string_view text) {
    auto program = compile(text, {.names = {"data", "run"}});
    EXPECT_TRUE(program) << text;
    auto out = std::string{};
    for (const auto& constraint : constraints_of(*program)) {
        auto path = fmt::format("{}", fmt::join(constraint.path, "."));
        auto symbol = constraint.form == Constraint::Form::Equals ? "==" : "^";
        out += fmt::format("{}{} {} {}", out.empty() ? "" : " ", path, symbol,
                           value::to_json(Value::list(constraint.constants)));
    }
    return out;
}

TEST(Constraints, AreComparisonsWithConstantsThatAndJoins) {
    EXPECT_EQ(demands_of("data.kind == 'a'"), R"(data.kind == ["a"])");
    EXPECT_EQ(demands_of("'a' == data.kind && data.n in [1, 2u, 1.5] && data.id.startsWith('x')"),
              R"(data.kind == ["a"] data.n == [1,2,1.5] data.id ^ ["x"])");
    EXPECT_EQ(demands_of("data.total > 100 && has(data.x) && data.ok && data['kind'] == 'a' + 'b'"),
              R"(data.kind == ["ab"])");
    EXPECT_EQ(demands_of("data.n in [1, 2, 3, 4, 5, 6, 7, 8, 9]"), "data.n == [1,2,3,4,5,6,7,8,9]");
}

TEST(Constraints, StopAtWhatMayCostTheWholeBudget) {
    EXPECT_EQ(demands_of("data.a == 1 && data.list.all(x, x > 0) && data.b == 2"), "data.a == [1]");
    EXPECT_EQ(demands_of("data.a == data.b && data.c == 1"), "");
}

TEST(Constraints, AreNoneWhereNothingMustHold) {
    for (const auto* text :
         {"data.a == 1 || data.b == 2", "!(data.a == 1)", "data.a != 1", "data.a == null",
          "data.a == [1]", "data.a in [null]", "data.a < 5", "true", "data.a == 1 ? true : false",
          "data.list[run.at] == 1", "data.a.endsWith('x')", "'x'.startsWith(data.a)"}) {
        EXPECT_EQ(demands_of(text), "") << text;
    }
}

} // namespace
} // namespace sluice::expr::cel
