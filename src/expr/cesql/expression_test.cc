#include "expr/cesql/expression.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "expr/testing/bindings.h"
#include "value/json.h"

namespace sluice::expr::cesql {
namespace {

const auto sample = Value::object({{"id", "myId"},
                                   {"type", "com.example.test"},
                                   {"source", "/test"},
                                   {"priority", 5},
                                   {"urgent", true},
                                   {"sequence", "12"}});

/// The value as JSON, and the codes of the errors behind it.
std::string answer_to(std::string_view text) {
    auto expression = Expression::compile(text);
    if (!expression) {
        return "parse at " + std::to_string(expression.error().position);
    }
    auto answer = expression->evaluate(testing::MapBindings{sample});
    auto out = value::to_json(answer.value);
    for (const auto& error : answer.errors) {
        out += " " + error.code;
    }
    return out;
}

TEST(CeSql, ReadsAttributesInAnyCase) {
    EXPECT_EQ(answer_to("id"), R"("myId")");
    EXPECT_EQ(answer_to("ID = 'myId'"), "true");
    EXPECT_EQ(answer_to("priority"), "5");
    EXPECT_EQ(answer_to("urgent"), "true");
    EXPECT_EQ(answer_to("missing"), "false missingAttribute");
    EXPECT_EQ(answer_to("EXISTS Source AND NOT EXISTS missing"), "true");
}

TEST(CeSql, CastsToWhatTheOperatorTakes) {
    EXPECT_EQ(answer_to("sequence = 12"), "true");
    EXPECT_EQ(answer_to("12 = sequence"), "true");
    EXPECT_EQ(answer_to("012 = sequence"), "true");
    EXPECT_EQ(answer_to("id = 12"), "false cast");
    EXPECT_EQ(answer_to("id != 12"), "false cast");
    EXPECT_EQ(answer_to("'1' + '+2'"), "3");
    EXPECT_EQ(answer_to("'1 ' + 2"), "0 cast");
    EXPECT_EQ(answer_to("'+-1' + 2"), "0 cast");
    EXPECT_EQ(answer_to("'TrUe' AND 1"), "true");
    EXPECT_EQ(answer_to("TRUE < 2"), "true");
    EXPECT_EQ(answer_to("NOT 10"), "false");
    EXPECT_EQ(answer_to("'2147483648' + 0"), "0 cast");
}

TEST(CeSql, AnswersZeroAroundAnError) {
    EXPECT_EQ(answer_to("missing * 5"), "0 missingAttribute");
    EXPECT_EQ(answer_to("LENGTH(missing)"), "0 missingAttribute");
    EXPECT_EQ(answer_to("UPPER(missing)"), "\"\" missingAttribute");
    EXPECT_EQ(answer_to("true AND (1 != 1 / 0)"), "false math");
    EXPECT_EQ(answer_to("(1 / 0 = 1) OR true"), "false math");
    EXPECT_EQ(answer_to("NOT missing"), "false missingAttribute");
    EXPECT_EQ(answer_to("missing NOT IN (1)"), "false missingAttribute");
    EXPECT_EQ(answer_to("CONCAT(LEFT('abc', -1), 'd')"), "\"\" functionEvaluation");
    EXPECT_EQ(answer_to("NOPE(1) = 2"), "false missingFunction");
}

TEST(CeSql, StopsWhereTheTruthIsKnown) {
    EXPECT_EQ(answer_to("false AND missing"), "false");
    EXPECT_EQ(answer_to("true OR missing"), "true");
    EXPECT_EQ(answer_to("FALSE AND missing OR TRUE"), "true");
    EXPECT_EQ(answer_to("TRUE OR TRUE AND FALSE"), "false");
    EXPECT_EQ(answer_to("TRUE XOR TRUE OR TRUE"), "true");
}

TEST(CeSql, BindsAsTheSpecificationSays) {
    EXPECT_EQ(answer_to("2 + 3 * 4 - 1"), "13");
    EXPECT_EQ(answer_to("10 - 2 - 3"), "5");
    EXPECT_EQ(answer_to("-7 / 2"), "-3");
    EXPECT_EQ(answer_to("-7 % 3"), "-1");
    EXPECT_EQ(answer_to("5 -1"), "4");
    EXPECT_EQ(answer_to("1 + 1 = 2 AND 3 > 2"), "true");
    EXPECT_EQ(answer_to("'ab' LIKE 'a%' = TRUE"), "true");
    EXPECT_EQ(answer_to("1 IN (1) LIKE 'tr__'"), "true");
    EXPECT_EQ(answer_to("NOT 'true' LIKE 'f%'"), "true");
}

TEST(CeSql, StaysWithin32Bits) {
    EXPECT_EQ(answer_to("-2147483648"), "-2147483648");
    EXPECT_EQ(answer_to("2147483648"), "parse at 0");
    EXPECT_EQ(answer_to("2147483647 + 1"), "0 math");
    EXPECT_EQ(answer_to("2147483647 * 2147483647"), "0 math");
    EXPECT_EQ(answer_to("-2147483648 / -1"), "0 math");
    EXPECT_EQ(answer_to("-2147483648 % -1"), "0");
    EXPECT_EQ(answer_to("-(-2147483648)"), "0 math");
    EXPECT_EQ(answer_to("ABS(-2147483648)"), "2147483647 math");
}

TEST(CeSql, LooksForPatterns) {
    EXPECT_EQ(answer_to("'a.c' LIKE 'a.c' AND 'abc' NOT LIKE 'a.c'"), "true");
    EXPECT_EQ(answer_to(R"('50%' LIKE '50\%')"), "true");
    EXPECT_EQ(answer_to(R"('a\b' LIKE 'a\b')"), "true");
    EXPECT_EQ(answer_to("'äöü' LIKE '___'"), "true");
    EXPECT_EQ(answer_to("'aab' LIKE '%ab' AND 'mississippi' LIKE 'm%iss%i'"), "true");
    EXPECT_EQ(answer_to("'' LIKE '%' AND '' LIKE ''"), "true");
    EXPECT_EQ(answer_to("'a' LIKE ''"), "false");
    EXPECT_EQ(answer_to("id LIKE type"), "parse at 8");
}

TEST(CeSql, LooksInSets) {
    EXPECT_EQ(answer_to("5 IN ('1', '5')"), "true");
    EXPECT_EQ(answer_to("5 IN ('x', '5')"), "false cast");
    EXPECT_EQ(answer_to("5 IN (5, missing)"), "true");
    EXPECT_EQ(answer_to("'5' NOT IN (5)"), "false");
    EXPECT_EQ(answer_to("5 IN ()"), "parse at 6");
}

TEST(CeSql, CallsFunctions) {
    EXPECT_EQ(answer_to("length('äöü')"), "3");
    EXPECT_EQ(answer_to("UPPER('straße ä')"), "\"STRAßE Ä\"");
    EXPECT_EQ(answer_to("Concat_Ws('-', 'a', 1, TRUE)"), R"("a-1-true")");
    EXPECT_EQ(answer_to("TRIM('\t a ')"), R"("a")");
    EXPECT_EQ(answer_to("LEFT('äöü', 2)"), R"("äö")");
    EXPECT_EQ(answer_to("RIGHT('äöü', 2)"), R"("öü")");
    EXPECT_EQ(answer_to("RIGHT('abc', -1)"), R"("abc" functionEvaluation)");
    EXPECT_EQ(answer_to("SUBSTRING('äöü', -2, 1)"), R"("ö")");
    EXPECT_EQ(answer_to("SUBSTRING('abc', 1, -1)"), "\"\" functionEvaluation");
    EXPECT_EQ(answer_to("SUBSTRING('abc', 2, 100)"), R"("bc")");
    EXPECT_EQ(answer_to("LENGTH('a', 'b')"), "false missingFunction");
}

TEST(CeSql, UnescapesOnlyQuotes) {
    EXPECT_EQ(answer_to(R"('it\'s')"), R"("it's")");
    EXPECT_EQ(answer_to(R"("a\"b")"), R"("a\"b")");
    EXPECT_EQ(answer_to(R"('a\"b')"), R"("a\\\"b")");
    EXPECT_EQ(answer_to("'it''s'"), R"("it's")");
}

TEST(CeSql, SaysWhereAMistakeIs) {
    EXPECT_EQ(answer_to(""), "parse at 0");
    EXPECT_EQ(answer_to("id = "), "parse at 5");
    EXPECT_EQ(answer_to("id == 1"), "parse at 4");
    EXPECT_EQ(answer_to("(id"), "parse at 3");
    EXPECT_EQ(answer_to("id id"), "parse at 3");
    EXPECT_EQ(answer_to("'abc"), "parse at 0");
    EXPECT_EQ(answer_to("a_b"), "parse at 0");
    EXPECT_EQ(answer_to("F1(2)"), "parse at 0");
    EXPECT_EQ(answer_to("id = #"), "parse at 5");
    EXPECT_EQ(answer_to("AND"), "parse at 0");
    EXPECT_EQ(answer_to("+ 5"), "parse at 0");
    EXPECT_EQ(answer_to("\xff"), "parse at 0");
}

TEST(CeSqlBudget, RefusesDeepNesting) {
    for (const auto* unit : {"(", "NOT ", "- ", "ABS(", "1 IN (", "1 + (", "NOT - ("}) {
        auto text = std::string{};
        for (auto level = 0; level < 10'000; ++level) {
            text += unit;
        }
        EXPECT_TRUE(answer_to(text).starts_with("parse")) << unit;
    }
    auto patterns = std::string{"id"};
    for (auto level = 0; level < 10'000; ++level) {
        patterns += " LIKE 'a'";
    }
    EXPECT_TRUE(answer_to(patterns).starts_with("parse"));
}

TEST(CeSqlBudget, TakesManyTermsWithinItsSteps) {
    auto text = std::string{"1"};
    for (auto term = 0; term < 10'000; ++term) {
        text += " + 1";
    }
    EXPECT_EQ(answer_to(text), "10001");
    auto answer =
        Expression::compile(text)->evaluate(testing::MapBindings{sample}, {.steps_max = 1'000});
    EXPECT_EQ(answer.errors.at(0).code, "generic");
    EXPECT_EQ(answer_to(std::string(100'000, ' ') + "1"), "parse at 0");
}

TEST(CeSqlBudget, CountsTexts) {
    auto pattern = std::string{};
    for (auto part = 0; part < 1'000; ++part) {
        pattern += "%a_";
    }
    auto like = Expression::compile("t LIKE '" + pattern + "x'").value();
    auto joined = std::string{"CONCAT_WS(t"};
    for (auto part = 0; part < 100; ++part) {
        joined += ", t";
    }
    auto concat = Expression::compile(joined + ")").value();
    auto long_text = Value::object({{"t", std::string(100'000, 'a')}});

    EXPECT_EQ(like.evaluate(testing::MapBindings{long_text}).errors.at(0).code, "generic");
    EXPECT_EQ(concat.evaluate(testing::MapBindings{long_text}).errors.at(0).code, "generic");
}

} // namespace
} // namespace sluice::expr::cesql
