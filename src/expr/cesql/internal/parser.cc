#include "expr/cesql/internal/parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "expr/cesql/internal/lexer.h"
#include "expr/cesql/internal/like.h"

namespace sluice::expr::cesql::internal {
namespace {

/// Brackets, calls and prefixes within each other.
constexpr std::size_t nesting_max = 64;

struct Infix {
    std::string_view text;
    Level level;
    Operator meaning;
};

constexpr auto infixes = std::to_array<Infix>({
    {"AND", Level::Logic, Operator::And},
    {"OR", Level::Logic, Operator::Or},
    {"XOR", Level::Logic, Operator::Xor},
    {"=", Level::Comparison, Operator::Equal},
    {"!=", Level::Comparison, Operator::NotEqual},
    {"<>", Level::Comparison, Operator::NotEqual},
    {"<", Level::Comparison, Operator::Less},
    {"<=", Level::Comparison, Operator::LessEqual},
    {">", Level::Comparison, Operator::Greater},
    {">=", Level::Comparison, Operator::GreaterEqual},
    {"+", Level::Sum, Operator::Add},
    {"-", Level::Sum, Operator::Subtract},
    {"*", Level::Product, Operator::Multiply},
    {"/", Level::Product, Operator::Divide},
    {"%", Level::Product, Operator::Modulo},
});

constexpr auto keywords = std::to_array<std::string_view>(
    {"AND", "OR", "XOR", "NOT", "LIKE", "EXISTS", "IN", "TRUE", "FALSE"});

Level tighter(Level level) {
    return static_cast<Level>(static_cast<std::uint8_t>(level) + 1);
}

std::string lowered(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

class SqlParser {
public:
    explicit SqlParser(std::vector<Token> tokens) : tokens_{std::move(tokens)} {}

    std::expected<Node, Fault> run() {
        auto root = TRY(expression(Level::Logic));
        if (peek().kind != Token::Kind::End) {
            return expected("an operator or the end");
        }
        return root;
    }

private:
    const Token& peek(std::size_t ahead = 0) const {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }

    bool is_next(std::string_view text, std::size_t ahead = 0) const {
        const auto& token = peek(ahead);
        return (token.kind == Token::Kind::Word || token.kind == Token::Kind::Sign) &&
               token.text == text;
    }

    bool take(std::string_view text) {
        auto is_there = is_next(text);
        at_ += is_there ? 1 : 0;
        return is_there;
    }

    std::unexpected<Fault> expected(std::string_view what) const {
        const auto& token = peek();
        return parse_fault(token.position,
                           token.kind == Token::Kind::End
                               ? fmt::format("expected {}, found the end", what)
                               : fmt::format("expected {}, found {}", what, token.text));
    }

    std::expected<void, Fault> enter() {
        if (++depth_ > nesting_max) {
            return parse_fault(peek().position,
                               fmt::format("at most {} operations nest", nesting_max));
        }
        return {};
    }

    std::expected<Node, Fault> expression(Level lowest) {
        auto before = depth_;
        TRY(enter());
        auto left = TRY(prefix());
        auto open_chain = Level::None;
        while (true) {
            if (lowest <= Level::Like && is_postfix("LIKE")) {
                left = TRY(like(std::move(left)));
                open_chain = Level::None;
            } else if (lowest <= Level::In && is_postfix("IN")) {
                left = TRY(in(std::move(left)));
                open_chain = Level::None;
            } else if (const auto* infix = next_infix(lowest)) {
                TRY(extend(left, *infix, open_chain));
            } else {
                depth_ = before;
                return left;
            }
        }
    }

    bool is_postfix(std::string_view word) const {
        return is_next(word) || (is_next("NOT") && is_next(word, 1));
    }

    const Infix* next_infix(Level lowest) const {
        const auto* found =
            std::ranges::find_if(infixes, [&](const Infix& infix) { return is_next(infix.text); });
        return found != infixes.end() && found->level >= lowest ? found : nullptr;
    }

    std::expected<void, Fault> extend(Node& left, const Infix& infix, Level& open_chain) {
        auto position = peek().position;
        ++at_;
        auto right = TRY(expression(tighter(infix.level)));
        if (open_chain != infix.level) {
            auto chain =
                Node{.kind = Node::Kind::Chain, .level = infix.level, .position = position};
            chain.parts.push_back(std::move(left));
            left = std::move(chain);
            open_chain = infix.level;
        }
        left.parts.push_back(std::move(right));
        left.operators.push_back(infix.meaning);
        return {};
    }

    std::expected<Node, Fault> like(Node left) {
        // Each goes around the one before: what nests in the tree counts as nesting.
        TRY(enter());
        auto made = Node{.kind = Node::Kind::Like, .position = peek().position};
        made.is_negated = take("NOT");
        ++at_;
        if (peek().kind != Token::Kind::Text) {
            return expected("a text literal as the pattern of LIKE");
        }
        made.pattern = compile_like(peek().text);
        ++at_;
        made.parts.push_back(std::move(left));
        return made;
    }

    std::expected<Node, Fault> in(Node left) {
        TRY(enter());
        auto made = Node{.kind = Node::Kind::In, .position = peek().position};
        made.is_negated = take("NOT");
        ++at_;
        made.parts.push_back(std::move(left));
        if (!take("(")) {
            return expected("( and the values behind IN");
        }
        TRY(list(made.parts));
        return made;
    }

    /// Expressions with commas between, at least one, and the closing bracket.
    std::expected<void, Fault> list(std::vector<Node>& out) {
        do {
            out.push_back(TRY(expression(Level::Logic)));
        } while (take(","));
        if (!take(")")) {
            return expected(", or )");
        }
        return {};
    }

    std::expected<Node, Fault> prefix() {
        auto position = peek().position;
        if (take("NOT")) {
            return unary(Node::Kind::Not, position);
        }
        if (is_signed_integer()) {
            auto is_negative = is_next("-");
            ++at_;
            return integer(is_negative ? "-" : "", position);
        }
        if (take("-")) {
            return unary(Node::Kind::Negate, position);
        }
        if (take("EXISTS")) {
            auto made = Node{.kind = Node::Kind::Exists, .position = position};
            made.name = TRY(attribute());
            return made;
        }
        if (take("(")) {
            auto made = TRY(expression(Level::Logic));
            if (!take(")")) {
                return expected("an operator or )");
            }
            return made;
        }
        return primary(position);
    }

    /// A sign belongs to the digits that follow it at once: there is no other way to -2147483648.
    bool is_signed_integer() const {
        return (is_next("-") || is_next("+")) && peek(1).kind == Token::Kind::Integer &&
               peek(1).position == peek().end;
    }

    std::expected<Node, Fault> unary(Node::Kind kind, std::size_t position) {
        auto made = Node{.kind = kind, .position = position};
        made.parts.push_back(TRY(expression(Level::Unary)));
        return made;
    }

    std::expected<Node, Fault> primary(std::size_t position) {
        const auto& token = peek();
        if (token.kind == Token::Kind::Integer) {
            return integer("", position);
        }
        auto made = Node{.position = position};
        if (token.kind == Token::Kind::Text) {
            made.literal = Value{token.text};
        } else if (is_next("TRUE") || is_next("FALSE")) {
            made.literal = Value{is_next("TRUE")};
        } else if (token.kind == Token::Kind::Word && is_next("(", 1)) {
            return call();
        } else {
            made.kind = Node::Kind::Attribute;
            made.name = TRY(attribute());
            return made;
        }
        ++at_;
        return made;
    }

    std::expected<Node, Fault> integer(std::string_view sign, std::size_t position) {
        auto text = std::string{sign} + peek().text;
        auto number = std::int32_t{0};
        auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        if (read.ec != std::errc{}) {
            return parse_fault(position,
                               fmt::format("expected an integer of 32 bits, found {}", text));
        }
        ++at_;
        return Node{.literal = Value{number}, .position = position};
    }

    std::expected<std::string, Fault> attribute() {
        const auto& token = peek();
        auto is_reserved = std::ranges::find(keywords, token.text) != keywords.end();
        if (token.kind != Token::Kind::Word || is_reserved ||
            token.text.find('_') != std::string::npos) {
            return expected("an attribute's name (letters and digits), a literal or a function");
        }
        ++at_;
        return lowered(token.text);
    }

    std::expected<Node, Fault> call() {
        const auto& token = peek();
        auto is_name = token.text.front() != '_' && std::ranges::none_of(token.text, [](char c) {
                           return c >= '0' && c <= '9';
                       });
        if (!is_name || std::ranges::find(keywords, token.text) != keywords.end()) {
            return expected("a function's name: letters and underscores");
        }
        auto made = Node{.kind = Node::Kind::Call, .name = token.text, .position = token.position};
        at_ += 2;
        if (!take(")")) {
            TRY(list(made.parts));
        }
        made.function = find_function(made.name, made.parts.size());
        return made;
    }

    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
};

} // namespace

std::expected<Node, Fault> parse(std::string_view text) {
    return SqlParser{TRY(tokenize(text))}.run();
}

} // namespace sluice::expr::cesql::internal
