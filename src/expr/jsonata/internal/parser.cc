#include "expr/jsonata/internal/parser.h"

#include <algorithm>
#include <array>
#include <utility>

#include "expr/jsonata/internal/raise.h"

namespace sluice::expr::jsonata::internal {
namespace {

constexpr int nesting_max = 200;
constexpr std::uint32_t height_max = 600;

constexpr int join_power = 80;
constexpr int bind_power = 10;

struct Power {
    std::string_view op;
    int power = 0;
};

constexpr auto powers = std::array<Power, 27>{{
    {".", 75}, {"[", 80},  {"{", 70},  {"(", 80},  {"@", 80},  {"#", 80},
    {"?", 20}, {"+", 50},  {"-", 50},  {"*", 60},  {"/", 60},  {"%", 60},
    {"=", 40}, {"<", 40},  {">", 40},  {"^", 40},  {":=", 10}, {"!=", 40},
    {"<=", 40}, {">=", 40}, {"~>", 40}, {"and", 30}, {"or", 25}, {"in", 40},
    {"&", 50}, {"?:", 40}, {"??", 40},
}};

int power_of(const Token& token) {
    if (token.kind != TokenKind::Operator) {
        return 0;
    }
    const auto* found = std::ranges::find(powers, token.text, &Power::op);
    return found == powers.end() ? 0 : found->power;
}

struct Spelling {
    std::string_view text;
    Operator op = Operator::None;
};

constexpr auto spellings = std::array<Spelling, 15>{{
    {"+", Operator::Add},
    {"-", Operator::Subtract},
    {"*", Operator::Multiply},
    {"/", Operator::Divide},
    {"%", Operator::Remainder},
    {"=", Operator::Equal},
    {"!=", Operator::NotEqual},
    {"<", Operator::Less},
    {"<=", Operator::LessOrEqual},
    {">", Operator::Greater},
    {">=", Operator::GreaterOrEqual},
    {"&", Operator::Concatenate},
    {"in", Operator::In},
    {"and", Operator::And},
    {"or", Operator::Or},
}};

bool is_lambda_name(const Node& node) {
    return node.kind == Kind::Name && (node.text == "function" || node.text == "λ");
}

[[noreturn]] void raise_nesting(std::size_t position) {
    raise_at(position, "U1001", "the expression is nested too deep; take it apart with variables");
}

} // namespace

Node* Parser::parse() {
    advance();
    auto* node = parse_expression(0);
    if (token_.kind != TokenKind::End) {
        raise_at(token_.position, "S0201", "syntax error: \"{}\"", token_.text);
    }
    tree_.has_lone_surrogates = lexer_.has_lone_surrogates();
    return node;
}

/// Gives the token that was next and reads another.
Token Parser::advance(Place place) {
    auto token = std::exchange(token_, lexer_.next(place));
    if (token_.is("!") || token_.is("~")) {
        raise_at(token_.position, "S0204", "unknown operator: \"{}\"", token_.text);
    }
    return token;
}

void Parser::expect(std::string_view op, Place place) {
    if (token_.kind == TokenKind::End) {
        raise_at(token_.position, "S0203", "expected \"{}\" before end of expression", op);
    }
    if (!token_.is(op)) {
        raise_at(token_.position, "S0202", "expected \"{}\", got \"{}\"", op, token_.text);
    }
    advance(place);
}

bool Parser::skip(std::string_view op) {
    if (!token_.is(op)) {
        return false;
    }
    advance();
    return true;
}

Node* Parser::make(Kind kind, const Token& token) {
    auto* node = &tree_.nodes.emplace_back();
    node->kind = kind;
    node->position = static_cast<std::uint32_t>(token.position);
    node->text = token.text;
    return node;
}

void Parser::add(Node* node, Node* part) {
    node->children.push_back(part);
    node->height = std::max(node->height, part->height + 1);
    if (node->height > height_max) {
        raise_nesting(node->position);
    }
}

Node* Parser::parse_expression(int power) {
    if (++depth_ > nesting_max) {
        raise_nesting(token_.position);
    }
    auto token = advance(Place::Infix);
    auto* left = parse_prefix(token);
    while (power < power_of(token_)) {
        token = advance();
        left = parse_infix(token, left);
    }
    --depth_;
    return left;
}

Node* Parser::parse_prefix(const Token& token) {
    switch (token.kind) {
        case TokenKind::Name: return make(Kind::Name, token);
        case TokenKind::String: return make(Kind::String, token);
        case TokenKind::Regex: return parse_regex(token);
        case TokenKind::Variable: {
            auto* node = make(Kind::Variable, token);
            node->name = tree_.names.intern(token.text);
            return node;
        }
        case TokenKind::Number:
        case TokenKind::Constant: {
            auto* node = make(token.kind == TokenKind::Number ? Kind::Number : Kind::Constant, token);
            node->constant = token.constant;
            return node;
        }
        case TokenKind::Operator: return parse_operator_prefix(token);
        case TokenKind::End: break;
    }
    raise_at(token.position, "S0207", "unexpected end of expression");
}

Node* Parser::parse_operator_prefix(const Token& token) {
    if (token.is("(")) {
        return parse_block(token);
    }
    if (token.is("[")) {
        return parse_array(token);
    }
    if (token.is("{")) {
        return parse_object(Kind::ObjectOf, token);
    }
    if (token.is("|")) {
        return parse_transform(token);
    }
    if (token.is("-")) {
        auto* node = make(Kind::Negate, token);
        add(node, parse_expression(70));
        return node;
    }
    if (token.is("*")) {
        return make(Kind::Wildcard, token);
    }
    if (token.is("**")) {
        return make(Kind::Descendants, token);
    }
    if (token.is("%")) {
        return make(Kind::Parent, token);
    }
    if (token.is("and") || token.is("or") || token.is("in")) {
        return make(Kind::Keyword, token);
    }
    raise_at(token.position, "S0211", "the symbol \"{}\" cannot be used as a unary operator",
             token.text);
}

Node* Parser::parse_regex(const Token& token) {
    auto* node = make(Kind::Regex, token);
    try {
        node->regex = std::make_unique<Regex>(token.text, token.flags);
    } catch (Raised& raised) {
        raised.fault.position = token.position;
        throw;
    }
    return node;
}

Node* Parser::parse_infix(const Token& token, Node* left) {
    if (token.is("(")) {
        return parse_call(token, left);
    }
    if (token.is("[")) {
        return parse_predicate(token, left);
    }
    if (token.is("{")) {
        auto* node = parse_object(Kind::Group, token);
        node->body = left;
        node->height = std::max(node->height, left->height + 1);
        return node;
    }
    if (token.is("^")) {
        return parse_order(token, left);
    }
    if (token.is("?") || token.is("?:") || token.is("??")) {
        return parse_condition(token, left);
    }
    if (token.is(":=")) {
        return parse_bind(token, left);
    }
    if (token.is("@") || token.is("#")) {
        return parse_join(token.is("@") ? Kind::Focus : Kind::Index, token, left);
    }
    return parse_binary(token, left);
}

Node* Parser::parse_binary(const Token& token, Node* left) {
    auto kind = token.is(".") ? Kind::Step : token.is("~>") ? Kind::Apply : Kind::Binary;
    auto* node = make(kind, token);
    if (kind == Kind::Binary) {
        node->op = std::ranges::find(spellings, token.text, &Spelling::text)->op;
    }
    add(node, left);
    add(node, parse_expression(power_of(token)));
    return node;
}

Node* Parser::parse_block(const Token& token) {
    auto* node = make(Kind::Block, token);
    while (!token_.is(")")) {
        add(node, parse_expression(0));
        if (!skip(";")) {
            break;
        }
    }
    expect(")", Place::Infix);
    return node;
}

Node* Parser::parse_array(const Token& token) {
    auto* node = make(Kind::ArrayOf, token);
    if (!token_.is("]")) {
        do {
            auto* item = parse_expression(0);
            if (token_.is("..")) {
                auto* range = make(Kind::Binary, advance());
                range->op = Operator::Range;
                add(range, item);
                add(range, parse_expression(0));
                item = range;
            }
            add(node, item);
        } while (skip(","));
    }
    expect("]", Place::Infix);
    return node;
}

Node* Parser::parse_object(Kind kind, const Token& token) {
    auto* node = make(kind, token);
    if (!token_.is("}")) {
        do {
            add(node, parse_expression(0));
            expect(":");
            add(node, parse_expression(0));
        } while (skip(","));
    }
    expect("}", Place::Infix);
    return node;
}

Node* Parser::parse_transform(const Token& token) {
    auto* node = make(Kind::Transform, token);
    add(node, parse_expression(0));
    expect("|");
    add(node, parse_expression(0));
    if (skip(",")) {
        add(node, parse_expression(0));
    }
    expect("|", Place::Infix);
    return node;
}

Node* Parser::parse_call(const Token& token, Node* left) {
    auto* node = make(Kind::Call, token);
    node->body = left;
    node->height = left->height + 1;
    if (!token_.is(")")) {
        do {
            if (token_.is("?")) {
                node->kind = Kind::Partial;
                add(node, make(Kind::Keyword, advance()));
            } else {
                add(node, parse_expression(0));
            }
        } while (skip(","));
    }
    expect(")", Place::Infix);
    return is_lambda_name(*left) ? parse_lambda(node) : node;
}

Node* Parser::parse_lambda(Node* call) {
    for (const auto* parameter : call->children) {
        if (parameter->kind != Kind::Variable) {
            raise_at(parameter->position, "S0208",
                     "parameter of function definition must be a variable name (start with $): "
                     "\"{}\"",
                     parameter->text);
        }
    }
    call->kind = Kind::Lambda;
    if (token_.is("<")) {
        auto position = token_.position;
        auto text = std::string{};
        auto depth = 0;
        do {
            depth += token_.is("<") ? 1 : 0;
            depth -= token_.is(">") ? 1 : 0;
            text += token_.text;
            advance();
        } while (depth > 0 && !token_.is("{") && token_.kind != TokenKind::End);
        try {
            call->signature = std::make_unique<Signature>(Signature::parse(text));
        } catch (Raised& raised) {
            raised.fault.position = position;
            throw;
        }
    }
    expect("{");
    call->body = parse_expression(0);
    call->height = std::max(call->height, call->body->height + 1);
    expect("}", Place::Infix);
    return call;
}

Node* Parser::parse_predicate(const Token& token, Node* left) {
    if (token_.is("]")) {
        auto* step = left;
        while (step->kind == Kind::Predicate) {
            step = step->children[0];
        }
        step->keeps_array = true;
        expect("]", Place::Infix);
        return left;
    }
    auto* node = make(Kind::Predicate, token);
    add(node, left);
    add(node, parse_expression(0));
    expect("]", Place::Infix);
    return node;
}

Node* Parser::parse_order(const Token& token, Node* left) {
    auto* node = make(Kind::Order, token);
    node->body = left;
    node->height = left->height + 1;
    expect("(");
    do {
        auto is_descending = token_.is(">");
        if (is_descending || token_.is("<")) {
            advance();
        }
        auto* term = make(Kind::Block, token_);
        term->is_descending = is_descending;
        add(term, parse_expression(0));
        add(node, term);
    } while (skip(","));
    expect(")", Place::Infix);
    return node;
}

Node* Parser::parse_condition(const Token& token, Node* left) {
    auto kind = token.is("?") ? Kind::Condition : token.is("?:") ? Kind::Default : Kind::Coalesce;
    auto* node = make(kind, token);
    add(node, left);
    add(node, parse_expression(0));
    if (kind == Kind::Condition && skip(":")) {
        add(node, parse_expression(0));
    }
    return node;
}

Node* Parser::parse_bind(const Token& token, Node* left) {
    if (left->kind != Kind::Variable) {
        raise_at(left->position, "S0212",
                 "the left side of := must be a variable name (start with $)");
    }
    auto* node = make(Kind::Bind, token);
    node->name = left->name;
    add(node, parse_expression(bind_power - 1));
    return node;
}

Node* Parser::parse_join(Kind kind, const Token& token, Node* left) {
    auto* node = make(kind, token);
    auto* variable = parse_expression(join_power);
    if (variable->kind != Kind::Variable) {
        raise_at(variable->position, "S0214",
                 "the right side of {} must be a variable name (start with $)", token.text);
    }
    add(node, left);
    node->name = variable->name;
    return node;
}

} // namespace sluice::expr::jsonata::internal
