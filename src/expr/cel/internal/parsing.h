#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/cel/internal/grammar.h"
#include "expr/cel/internal/parser.h"
#include "expr/cel/internal/tree_builder.h"

namespace sluice::expr::cel::internal {

/// Tokens to a tree, by recursive descent.
class Parser {
public:
    Parser(std::string_view source, std::span<const Token> tokens, const Reading& reading)
        : source_{source}, tokens_{tokens}, reading_{reading} {}

    Parsed<Tree> parse() &&;

private:
    /// A value and what is applied to it, not yet put together.
    struct Operand {
        NodeId first = 0;
        std::vector<NodeId> steps;
    };

    const Token& current() const { return tokens_[at_]; }
    const Token& ahead(std::size_t count) const {
        return tokens_[std::min(at_ + count, tokens_.size() - 1)];
    }
    Token advance();
    bool accept(std::string_view symbol);
    Parsed<void> expect(std::string_view symbol);
    std::size_t end_of_last() const;
    Parsed<void> enter();

    // The grammar: parser.cc.
    Parsed<NodeId> expression();
    Parsed<NodeId> conditional();
    Parsed<NodeId> disjunction();
    Parsed<NodeId> conjunction();
    const BinaryOperator* current_operator(std::size_t level) const;
    Parsed<NodeId> binary(std::size_t level);
    bool is_at_negative_number() const;
    Parsed<NodeId> unary();
    Parsed<NodeId> settled(Parsed<NodeId> folded, NodeId otherwise) const;
    Parsed<NodeId> put_together(const Operand& operand);
    Parsed<Operand> postfix();
    Parsed<void> selection(Operand& operand);
    Parsed<void> indexing(Operand& operand);
    Parsed<Operand> primary();
    Parsed<NodeId> literal();
    Parsed<NodeId> number(const Token& token, std::string_view sign);
    Parsed<NodeId> list(std::size_t position);
    Parsed<NodeId> map(std::size_t position);
    Parsed<NodeId> value_if(bool is_optional);

    // Names and calls: parser_names.cc.
    Parsed<Operand> name();
    Parsed<Operand> resolve(std::span<const Token> parts, bool is_rooted);
    std::size_t name_parts_max() const;
    bool take_name(const std::string& name, std::size_t position, Operand& operand);
    std::vector<std::string> candidates(std::string_view name, bool is_rooted) const;
    Parsed<NodeId> unknown_name(const Token& token);
    const Function* function_named(std::string_view name, runtime::CallStyle style,
                                   bool is_rooted) const;
    Parsed<std::vector<NodeId>> arguments();
    Parsed<NodeId> refused_call(const Token& name, std::string code, std::string message);
    Parsed<void> check_count(const Token& name, const Function& function, std::size_t found) const;
    Parsed<Operand> global_call(const Token& name, std::string_view full_name, bool is_rooted);
    Parsed<void> member_call(Operand& operand, const Token& name);
    Parsed<Operand> presence(const Token& name);

    // Macros: parser_macros.cc.
    std::size_t count_arguments() const;
    Parsed<bool> macro(Operand& operand, const Token& name);
    Parsed<std::string_view> variable(const Token& macro);
    Parsed<NodeId> loop(const Token& name, Loop loop, std::size_t variables, bool is_filter);
    Parsed<NodeId> optional_map(const Token& name);
    Parsed<NodeId> binding(const Token& name);
    void add_local(std::string_view name);
    void remove_locals(std::size_t count) { locals_.resize(locals_.size() - count); }
    std::optional<std::size_t> local_named(std::string_view name) const;

    std::string_view source_;
    std::span<const Token> tokens_;
    const Reading& reading_;
    TreeBuilder build_;
    std::vector<std::string_view> locals_;
    std::size_t slots_ = 0;
    std::size_t at_ = 0;
    std::size_t nesting_ = 0;
    std::size_t deepest_ = 0;
};

/// For messages.
std::string describe(const Token& token);

} // namespace sluice::expr::cel::internal
