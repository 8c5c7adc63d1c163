#include "expr/cel/internal/parser.h"

#include <algorithm>
#include <array>

#include "expr/cel/internal/excerpt.h"
#include "expr/cel/internal/function.h"
#include "expr/cel/internal/grammar.h"
#include "expr/cel/internal/number_text.h"
#include "expr/cel/internal/tree_builder.h"

namespace sluice::expr::cel::internal {
namespace {

using value::Kind;

std::string describe(const Token& token) {
    switch (token.kind) {
        case TokenKind::End: return "the end";
        case TokenKind::String: return "a text";
        default: return fmt::format("\"{}\"", excerpt(token.text));
    }
}

class Parser {
public:
    Parser(std::string_view source, std::span<const Token> tokens, const CompileOptions& options)
        : source_{source}, tokens_{tokens}, options_{options} {}

    Result<Tree> parse() && {
        auto root = TRY(expression());
        if (current().kind != TokenKind::End) {
            return fail_at(current().position, "expected an operator or the end, found {}",
                           describe(current()));
        }
        if (options_.must_be_bool && (build_[root].kinds & bool_only) == 0) {
            return fail_at(build_[root].position,
                           "expected a condition, found what is never a bool");
        }
        return std::move(build_).finish(root, deepest_);
    }

private:
    const Token& current() const { return tokens_[at_]; }
    const Token& following() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }

    Token advance() {
        auto token = current();
        at_ = std::min(at_ + 1, tokens_.size() - 1);
        return token;
    }

    bool accept(std::string_view symbol) {
        if (!current().is(symbol)) {
            return false;
        }
        advance();
        return true;
    }

    Result<void> expect(std::string_view symbol) {
        if (!accept(symbol)) {
            return fail_at(current().position, "expected \"{}\", found {}", symbol,
                           describe(current()));
        }
        return {};
    }

    Result<NodeId> expression() {
        if (++nesting_ > nesting_max) {
            return fail_at(current().position, "an expression is nested deeper than {}",
                           nesting_max);
        }
        deepest_ = std::max(deepest_, nesting_);
        auto result = TRY(conditional());
        --nesting_;
        return result;
    }

    Result<NodeId> conditional() {
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

    Result<NodeId> disjunction() {
        auto position = current().position;
        auto operands = std::vector<NodeId>{TRY(conjunction())};
        while (accept("||")) {
            operands.push_back(TRY(conjunction()));
        }
        return operands.size() == 1 ? operands[0]
                                    : build_.node(Op::Or, position, bool_only, operands);
    }

    Result<NodeId> conjunction() {
        auto position = current().position;
        auto operands = std::vector<NodeId>{TRY(binary(0))};
        while (accept("&&")) {
            operands.push_back(TRY(binary(0)));
        }
        return operands.size() == 1 ? operands[0]
                                    : build_.node(Op::And, position, bool_only, operands);
    }

    const BinaryOperator* current_operator(std::size_t level) const {
        auto matches = [&](const auto& one) {
            return current().is(one.symbol) || (one.op == Op::In && current().is_word("in"));
        };
        auto found = std::ranges::find_if(levels[level], matches);
        return found == levels[level].end() ? nullptr : &*found;
    }

    Result<NodeId> binary(std::size_t level) {
        auto operand = [&] { return level + 1 < levels.size() ? binary(level + 1) : unary(); };
        auto first = TRY(operand());
        auto kinds = build_[first].kinds;
        auto steps = std::vector<NodeId>{};
        while (const auto* found = current_operator(level)) {
            auto position = advance().position;
            auto right = TRY(operand());
            kinds = result_kinds(found->op, kinds, build_[right].kinds);
            steps.push_back(build_.node(found->op, position, kinds, std::array{right}));
        }
        return build_.chain(first, steps);
    }

    bool is_at_negative_number() const {
        auto kind = following().kind;
        return current().is("-") && (kind == TokenKind::Int || kind == TokenKind::Double);
    }

    Result<NodeId> unary() {
        auto position = current().position;
        auto repeated = std::uint32_t{0};
        if (current().is("!")) {
            while (accept("!")) {
                ++repeated;
            }
            return build_.node(Op::Not, position, bool_only, std::array{TRY(postfix())}, repeated);
        }
        while (current().is("-") && !is_at_negative_number()) {
            advance();
            ++repeated;
        }
        auto operand = TRY(postfix());
        if (repeated == 0) {
            return operand;
        }
        auto kinds = static_cast<KindSet>(build_[operand].kinds & arithmetic_kinds);
        return build_.node(Op::Negate, position, kinds, std::array{operand}, repeated);
    }

    Result<NodeId> postfix() {
        auto start = current().position;
        auto first = TRY(primary());
        auto path_end = end_of_last();
        auto steps = std::vector<NodeId>{};
        while (current().is(".") || current().is("[")) {
            if (current().is(".")) {
                TRY(selection(first, steps));
            } else {
                TRY(index(first, steps));
            }
            path_end = steps.empty() ? end_of_last() : path_end;
        }
        if (build_[first].op == Op::Path) {
            build_.set_path_text(first, source_.substr(start, path_end - start));
        }
        return build_.chain(first, steps);
    }

    std::size_t end_of_last() const {
        const auto& last = tokens_[at_ - 1];
        return last.position + last.text.size();
    }

    Result<void> index(NodeId first, std::vector<NodeId>& steps) {
        auto position = advance().position;
        auto key = TRY(expression());
        TRY(expect("]"));
        if (!steps.empty() || !build_.extend(first, key)) {
            steps.push_back(build_.node(Op::Index, position, any_kind, std::array{key}));
        }
        return {};
    }

    Result<void> selection(NodeId first, std::vector<NodeId>& steps) {
        advance();
        auto name = advance();
        if (name.is("?")) {
            return fail_at(name.position, "optional selection \".?\" is not supported yet");
        }
        if (name.kind != TokenKind::Name || is_keyword(name.text)) {
            return fail_at(name.position, "expected the name of a member, found {}",
                           describe(name));
        }
        if (current().is("(")) {
            steps.push_back(TRY(member_call(name)));
        } else if (!steps.empty() || !build_.extend(first, name.text)) {
            steps.push_back(build_.member(name.position, name.text));
        }
        return {};
    }

    Result<const Function*> function_named(const Token& name) {
        const auto* function = find_function(name.text);
        if (function == nullptr) {
            return fail_at(name.position,
                           "function \"{}\" is not supported yet: expected one of {}",
                           excerpt(name.text), function_names());
        }
        return function;
    }

    Result<std::vector<NodeId>> arguments(const Token& name, std::size_t count) {
        TRY(expect("("));
        auto found = std::vector<NodeId>{};
        if (!accept(")")) {
            do {
                found.push_back(TRY(expression()));
            } while (accept(","));
            TRY(expect(")"));
        }
        if (found.size() != count) {
            return fail_at(name.position, "function \"{}\" takes {} argument{}, found {}",
                           name.text, count, count == 1 ? "" : "s", found.size());
        }
        return found;
    }

    Result<NodeId> member_call(const Token& name) {
        const auto* function = TRY(function_named(name));
        if (function->style == CallStyle::Global) {
            return fail_at(name.position, "function \"{0}\" is written {0}(x), found x.{0}(…)",
                           name.text);
        }
        auto operands = TRY(arguments(name, function->arguments));
        return build_.node(function->op, name.position, function->result, operands);
    }

    Result<NodeId> global_call() {
        auto name = advance();
        if (name.text == "has") {
            return presence(name);
        }
        const auto* function = TRY(function_named(name));
        if (function->style == CallStyle::Member) {
            return fail_at(name.position, "function \"{0}\" is written x.{0}(y), found {0}(…)",
                           name.text);
        }
        auto operands = TRY(arguments(name, function->arguments + 1));
        auto rest = std::span{operands}.subspan(1);
        auto step = build_.node(function->op, name.position, function->result, rest);
        return build_.chain(operands[0], std::array{step});
    }

    Result<NodeId> presence(const Token& name) {
        auto operands = TRY(arguments(name, 1));
        if (!build_.ask_for_presence(operands[0])) {
            return fail_at(name.position, "has() asks for a member: expected has(x.y)");
        }
        return operands[0];
    }

    Result<NodeId> primary() {
        auto token = current();
        if (token.kind == TokenKind::Name) {
            return name();
        }
        if (token.kind == TokenKind::String) {
            advance();
            return build_.constant(token.position, TRY(unquote(token)));
        }
        if (token.kind >= TokenKind::Int && token.kind <= TokenKind::Double) {
            return number(advance(), "");
        }
        if (is_at_negative_number()) {
            advance();
            return number(advance(), "-");
        }
        if (accept("(")) {
            auto inner = TRY(expression());
            TRY(expect(")"));
            return inner;
        }
        if (accept("[")) {
            return list(token.position);
        }
        if (accept("{")) {
            return map(token.position);
        }
        return fail_at(token.position, "expected a value, found {}", describe(token));
    }

    Result<NodeId> name() {
        if (following().is("(") && !is_keyword(current().text)) {
            return global_call();
        }
        auto token = advance();
        if (token.text == "true" || token.text == "false") {
            return build_.constant(token.position, token.text == "true");
        }
        if (token.text == "null") {
            return build_.constant(token.position, Value{});
        }
        if (token.text == "in" || is_reserved(token.text)) {
            return fail_at(token.position, "expected a value, found the reserved word \"{}\"",
                           token.text);
        }
        if (std::ranges::find(options_.names, token.text) == options_.names.end()) {
            return unknown_name(token);
        }
        return build_.path(token.position, token.text);
    }

    std::unexpected<Error> unknown_name(const Token& token) const {
        if (options_.names.empty()) {
            return fail_at(token.position, "unknown name \"{}\": no names can be used here",
                           excerpt(token.text));
        }
        return fail_at(token.position, "unknown name \"{}\": expected one of {}",
                       excerpt(token.text), fmt::join(options_.names, ", "));
    }

    Result<NodeId> number(const Token& token, std::string_view sign) {
        auto number = read_number(token, sign);
        if (!number) {
            return fail_at(token.position, "the number {}{} is out of range", sign,
                           excerpt(token.text));
        }
        return build_.constant(token.position, *std::move(number));
    }

    Result<NodeId> list(std::size_t position) {
        auto items = std::vector<NodeId>{};
        while (!accept("]")) {
            items.push_back(TRY(expression()));
            if (!accept(",") && !current().is("]")) {
                return fail_at(current().position, "expected \",\" or \"]\", found {}",
                               describe(current()));
            }
        }
        return build_.list(position, items);
    }

    Result<NodeId> map(std::size_t position) {
        auto entries = std::vector<NodeId>{};
        while (!accept("}")) {
            auto key_position = current().position;
            entries.push_back(TRY(expression()));
            if (build_[entries.back()].kinds != only(Kind::String)) {
                return fail_at(key_position,
                               "a map key other than a text is not supported yet: expected a text "
                               "or string(x)");
            }
            TRY(expect(":"));
            entries.push_back(TRY(expression()));
            if (!accept(",") && !current().is("}")) {
                return fail_at(current().position, "expected \",\" or \"}}\", found {}",
                               describe(current()));
            }
        }
        return build_.map(position, entries);
    }

    std::string_view source_;
    std::span<const Token> tokens_;
    const CompileOptions& options_;
    TreeBuilder build_;
    std::size_t at_ = 0;
    std::size_t nesting_ = 0;
    std::size_t deepest_ = 0;
};

} // namespace

Result<Tree> parse(std::string_view source, std::span<const Token> tokens,
                   const CompileOptions& options) {
    return Parser{source, tokens, options}.parse();
}

} // namespace sluice::expr::cel::internal
