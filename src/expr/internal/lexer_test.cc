#include "expr/internal/lexer.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "expr/internal/utf8.h"

namespace sluice::expr::internal {
namespace {

std::vector<std::string> texts_of(std::string_view source) {
    auto texts = std::vector<std::string>{};
    auto tokens = tokenize(source, 0, Until::End);
    EXPECT_TRUE(tokens) << source;
    for (const auto& token : tokens ? *tokens : std::vector<Token>{}) {
        texts.emplace_back(token.text);
    }
    return texts;
}

using Texts = std::vector<std::string>;

TEST(Lexer, SplitsNumbersFromWhatFollows) {
    EXPECT_EQ(texts_of("1.5e-3 .5 1.a 0x1Fu 12u 1e 1..2"),
              (Texts{"1.5e-3", ".5", "1", ".", "a", "0x1Fu", "12u", "1", "e", "1", ".", ".2", ""}));
}

TEST(Lexer, TakesTheLongestSymbol) {
    EXPECT_EQ(texts_of("a<=b!=!c"), (Texts{"a", "<=", "b", "!=", "!", "c", ""}));
}

TEST(Lexer, SkipsSpaceAndComments) {
    EXPECT_EQ(texts_of("a\t// 'b\n\f c // d"), (Texts{"a", "c", ""}));
}

TEST(Lexer, KeepsTextsWhole) {
    EXPECT_EQ(texts_of(R"('a\'b' r'\' """x"y""")"),
              (Texts{R"('a\'b')", R"(r'\')", R"("""x"y""")", ""}));
}

TEST(Lexer, EndsAtTheBraceThatClosesNothing) {
    auto tokens = tokenize("x ${ {'}': 1} } y", 4, Until::ClosingBrace);

    ASSERT_TRUE(tokens);
    EXPECT_EQ(tokens->back().kind, TokenKind::End);
    EXPECT_EQ(tokens->back().position, 14U);
}

TEST(Utf8, FindsTheFirstBadByte) {
    EXPECT_EQ(valid_utf8_prefix("aä€😀"), 10U);
    EXPECT_EQ(valid_utf8_prefix("a\xc0\x80"), 1U);
    EXPECT_EQ(valid_utf8_prefix("ab\xed\xa0\x80"), 2U);
    EXPECT_EQ(valid_utf8_prefix("\xe0\x80\x80"), 0U);
    EXPECT_EQ(valid_utf8_prefix("\xf4\x90\x80\x80"), 0U);
    EXPECT_EQ(valid_utf8_prefix("a\xe2\x82"), 1U);
}

TEST(Utf8, WritesWhatItFindsValid) {
    for (auto point = std::uint32_t{0}; point <= 0x10ffff; point += 97) {
        if (!is_character(point)) {
            continue;
        }
        auto text = std::string{};
        append_utf8(point, text);
        ASSERT_EQ(valid_utf8_prefix(text), text.size()) << point;
        ASSERT_EQ(count_code_points(text), 1U) << point;
    }
}

} // namespace
} // namespace sluice::expr::internal
