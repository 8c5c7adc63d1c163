#include "expr/cel/internal/parser.h"

#include <array>

#include "base/result.h"
#include "expr/cel/internal/number_text.h"
#include "expr/cel/internal/parsing.h"
#include "expr/cel/runtime/excerpt.h"

namespace sluice::expr::cel::internal {

std::string describe(const Token& token) {
    switch (token.kind) {
        case TokenKind::End: return "the end";
        case TokenKind::String: return "a text";
        case TokenKind::Bytes: return "bytes";
        default: return fmt::format("\"{}\"", excerpt(token.text));
    }
}

Parsed<Tree> Parser::parse() && {
    auto root = TRY(expression());
    if (current().kind != TokenKind::End) {
        return fail_at(current().position, "expected an operator or the end, found {}",
                       describe(current()));
    }
    if (reading_.options.must_be_bool && (build_[root].kinds & bool_only) == 0) {
        return refuse("not_bool", build_[root].position,
                      "expected a condition, found what is never a bool");
    }
    return std::move(build_).finish(root, deepest_, slots_);
}

Token Parser::advance() {
    auto token = current();
    at_ = std::min(at_ + 1, tokens_.size() - 1);
    return token;
}

bool Parser::accept(std::string_view symbol) {
    if (!current().is(symbol)) {
        return false;
    }
    advance();
    return true;
}

Parsed<void> Parser::expect(std::string_view symbol) {
    if (!accept(symbol)) {
        return fail_at(current().position, "expected \"{}\", found {}", symbol,
                       describe(current()));
    }
    return {};
}

std::size_t Parser::end_of_last() const {
    const auto& last = tokens_[at_ - 1];
    return last.position + last.text.size();
}

Parsed<void> Parser::enter() {
    if (++nesting_ > nesting_max) {
        return refuse("too_deep", current().position, "an expression is nested deeper than {}",
                      nesting_max);
    }
    deepest_ = std::max(deepest_, nesting_);
    return {};
}

Parsed<NodeId> Parser::expression() {
    TRY(enter());
    auto result = TRY(conditional());
    --nesting_;
    return result;
}

Parsed<NodeId> Parser::conditional() {
    auto position = current().position;
    auto operands = std::vector<NodeId>{TRY(disjunction())};
    auto kinds = KindSet{0};
    while (accept("?")) {
        operands.push_back(TRY(disjunction()));
        kinds |= build_[operands.back()].kinds;
        TRY(expect(":"));
        operands.push_back(TRY(disjunction()));
    }
    if (operands.size() == 1) {
        return operands[0];
    }
    kinds |= build_[operands.back()].kinds;
    return build_.node(Op::Conditional, position, kinds, operands);
}

Parsed<NodeId> Parser::disjunction() {
    auto position = current().position;
    auto operands = std::vector<NodeId>{TRY(conjunction())};
    while (accept("||")) {
        operands.push_back(TRY(conjunction()));
    }
    return operands.size() == 1 ? operands[0] : build_.node(Op::Or, position, bool_only, operands);
}

Parsed<NodeId> Parser::conjunction() {
    auto position = current().position;
    auto operands = std::vector<NodeId>{TRY(binary(0))};
    while (accept("&&")) {
        operands.push_back(TRY(binary(0)));
    }
    return operands.size() == 1 ? operands[0] : build_.node(Op::And, position, bool_only, operands);
}

const BinaryOperator* Parser::current_operator(std::size_t level) const {
    auto matches = [&](const auto& one) {
        return current().is(one.symbol) || (one.op == Op::In && current().is_word("in"));
    };
    auto found = std::ranges::find_if(levels[level], matches);
    return found == levels[level].end() ? nullptr : &*found;
}

Parsed<NodeId> Parser::binary(std::size_t level) {
    auto operand = [&] { return level + 1 < levels.size() ? binary(level + 1) : unary(); };
    auto whole = Operand{TRY(operand()), {}};
    auto kinds = build_[whole.first].kinds;
    while (const auto* found = current_operator(level)) {
        auto position = advance().position;
        auto right = TRY(operand());
        kinds = result_kinds(found->op, kinds, build_[right].kinds);
        whole.steps.push_back(found->op == Op::In
                                  ? build_.in(position, right)
                                  : build_.node(found->op, position, kinds, std::array{right}));
    }
    return put_together(whole);
}

bool Parser::is_at_negative_number() const {
    auto kind = ahead(1).kind;
    return current().is("-") && (kind == TokenKind::Int || kind == TokenKind::Double);
}

Parsed<NodeId> Parser::unary() {
    auto position = current().position;
    auto op = current().is("!") ? Op::Not : Op::Negate;
    auto repeated = std::size_t{0};
    while (current().is(op == Op::Not ? "!" : "-") && !is_at_negative_number()) {
        advance();
        ++repeated;
    }
    auto inner = TRY(postfix());
    auto operand = TRY(put_together(inner));
    if (repeated == 0) {
        return operand;
    }
    auto kinds =
        op == Op::Not ? bool_only : static_cast<KindSet>(build_[operand].kinds & arithmetic_kinds);
    auto node = build_.node(op, position, kinds, std::array{operand}, repeated);
    return settled(build_.folded(node), node);
}

/// Kinds that do not fit are seen when the expression is read, unless it is read leniently.
Parsed<NodeId> Parser::settled(Parsed<NodeId> folded, NodeId otherwise) const {
    return !folded && reading_.is_lenient ? Parsed<NodeId>{otherwise} : folded;
}

Parsed<NodeId> Parser::put_together(const Operand& operand) {
    auto chain = build_.chain(operand.first, operand.steps);
    if (chain || !reading_.is_lenient) {
        return chain;
    }
    return build_.fail(chain.error().position, "no_such_overload", chain.error().message);
}

Parsed<Parser::Operand> Parser::postfix() {
    auto start = current().position;
    auto operand = TRY(primary());
    auto path_end = end_of_last();
    while (current().is(".") || current().is("[")) {
        if (current().is(".")) {
            TRY(selection(operand));
        } else {
            TRY(indexing(operand));
        }
        path_end = operand.steps.empty() ? end_of_last() : path_end;
    }
    build_.set_path_text(operand.first, source_.substr(start, path_end - start));
    return operand;
}

Parsed<void> Parser::selection(Operand& operand) {
    auto position = advance().position;
    auto is_optional = accept("?");
    auto name = advance();
    auto text = name.text;
    if (name.kind == TokenKind::Escaped) {
        text = text.substr(1, text.size() - 2);
    } else if (name.kind != TokenKind::Name || is_keyword(text)) {
        return fail_at(name.position, "expected the name of a member, found {}", describe(name));
    }
    if (current().is("(") && name.kind == TokenKind::Name && !is_optional) {
        return member_call(operand, name);
    }
    if (!is_optional && operand.steps.empty() && build_.extend(operand.first, text)) {
        return {};
    }
    operand.steps.push_back(
        build_.member(is_optional ? Op::OptionalMember : Op::Member, position, text));
    return {};
}

Parsed<void> Parser::indexing(Operand& operand) {
    auto position = advance().position;
    auto is_optional = accept("?");
    auto index = TRY(expression());
    TRY(expect("]"));
    if (!is_optional && operand.steps.empty() && build_.extend(operand.first, index)) {
        return {};
    }
    operand.steps.push_back(build_.node(is_optional ? Op::OptionalIndex : Op::Index, position,
                                        is_optional ? only(Kind::Optional) : any_kind,
                                        std::array{index}));
    return {};
}

Parsed<Parser::Operand> Parser::primary() {
    auto token = current();
    auto is_rooted = token.is(".") && ahead(1).kind == TokenKind::Name;
    if (token.kind == TokenKind::Name || is_rooted) {
        return name();
    }
    if (accept("(")) {
        auto inner = TRY(expression());
        TRY(expect(")"));
        return Operand{inner, {}};
    }
    if (accept("[")) {
        return Operand{TRY(list(token.position)), {}};
    }
    if (accept("{")) {
        return Operand{TRY(map(token.position)), {}};
    }
    return Operand{TRY(literal()), {}};
}

Parsed<NodeId> Parser::literal() {
    auto token = current();
    if (token.kind == TokenKind::String || token.kind == TokenKind::Bytes) {
        advance();
        auto kind = token.kind == TokenKind::String ? Kind::String : Kind::Bytes;
        return build_.text(token.position, TRY(unquote(token)), kind);
    }
    if (token.kind >= TokenKind::Int && token.kind <= TokenKind::Double) {
        return number(advance(), "");
    }
    if (is_at_negative_number()) {
        advance();
        return number(advance(), "-");
    }
    return fail_at(token.position, "expected a value, found {}", describe(token));
}

Parsed<NodeId> Parser::number(const Token& token, std::string_view sign) {
    auto number = read_number(token, sign);
    if (!number) {
        return fail_at(token.position, "the number {}{} is out of range", sign,
                       excerpt(token.text));
    }
    return build_.constant(token.position, Cell::view(*number));
}

Parsed<NodeId> Parser::value_if(bool is_optional) {
    auto position = current().position;
    auto value = TRY(expression());
    return is_optional ? build_.node(Op::IfPresent, position, any_kind, std::array{value}) : value;
}

Parsed<NodeId> Parser::list(std::size_t position) {
    auto items = std::vector<NodeId>{};
    while (!accept("]")) {
        auto is_optional = accept("?");
        items.push_back(TRY(value_if(is_optional)));
        if (!accept(",") && !current().is("]")) {
            return fail_at(current().position, "expected \",\" or \"]\", found {}",
                           describe(current()));
        }
    }
    auto node = build_.node(Op::List, position, only(Kind::List), items);
    return settled(build_.folded(node), node);
}

Parsed<NodeId> Parser::map(std::size_t position) {
    auto entries = std::vector<NodeId>{};
    while (!accept("}")) {
        auto is_optional = accept("?");
        entries.push_back(TRY(expression()));
        TRY(expect(":"));
        entries.push_back(TRY(value_if(is_optional)));
        if (!accept(",") && !current().is("}")) {
            return fail_at(current().position, "expected \",\" or \"}}\", found {}",
                           describe(current()));
        }
    }
    auto node = build_.node(Op::Map, position, only(Kind::Map), entries);
    return settled(build_.folded(node), node);
}

Parsed<Tree> parse(std::string_view source, std::span<const Token> tokens, const Reading& reading) {
    return Parser{source, tokens, reading}.parse();
}

} // namespace sluice::expr::cel::internal
