#pragma once

#include <string_view>

#include "expr/jsonata/internal/lexer.h"
#include "expr/jsonata/internal/tree.h"

namespace sluice::expr::jsonata::internal {

/// Text to nodes by operator precedence (Pratt). What paths mean is for `Arranger`.
class Parser {
public:
    Parser(std::string_view text, Tree& tree) : lexer_{text}, tree_{tree} {}

    /// Raises S02xx.
    Node* parse();

private:
    Node* parse_expression(int power);
    Node* parse_prefix(const Token& token);
    Node* parse_operator_prefix(const Token& token);
    Node* parse_infix(const Token& token, Node* left);
    Node* parse_binary(const Token& token, Node* left);
    Node* parse_block(const Token& token);
    Node* parse_array(const Token& token);
    Node* parse_object(Kind kind, const Token& token);
    Node* parse_transform(const Token& token);
    Node* parse_call(const Token& token, Node* left);
    Node* parse_lambda(Node* call);
    Node* parse_predicate(const Token& token, Node* left);
    Node* parse_order(const Token& token, Node* left);
    Node* parse_condition(const Token& token, Node* left);
    Node* parse_bind(const Token& token, Node* left);
    Node* parse_join(Kind kind, const Token& token, Node* left);
    Node* parse_regex(const Token& token);

    Token advance(Place place = Place::Prefix);
    void expect(std::string_view op, Place place = Place::Prefix);
    bool skip(std::string_view op);
    Node* make(Kind kind, const Token& token);
    /// Adds a part, and holds the tree to its height.
    void add(Node* node, Node* part);

    Lexer lexer_;
    Tree& tree_;
    Token token_; ///< The next one.
    int depth_ = 0;
};

} // namespace sluice::expr::jsonata::internal
