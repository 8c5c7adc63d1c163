#include "expr/cel/internal/lexer.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::expr::cel::internal {
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

} // namespace
} // namespace sluice::expr::cel::internal
