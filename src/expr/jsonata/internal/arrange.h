#pragma once

#include <cstdint>

#include "expr/jsonata/internal/tree.h"

namespace sluice::expr::jsonata::internal {

/// Makes of what was written what is meant: chains of `.`, `[…]`, `^(…)`, `@`, `#` become paths of
/// steps, each `%` finds the step whose input it stands for, calls in tail position are marked.
class Arranger {
public:
    explicit Arranger(Tree& tree) : tree_{tree} {}

    /// Raises S02xx.
    Node* arrange(Node* node);

private:
    Node* arrange_kind(Node* node);
    Node* arrange_step(Node* node);
    Node* arrange_predicate(Node* node);
    Node* arrange_group(Node* node);
    Node* arrange_order(Node* node);
    Node* arrange_focus(Node* node);
    Node* arrange_index(Node* node);
    Node* arrange_apply(Node* node);
    Node* arrange_negate(Node* node);
    Node* arrange_call(Node* node);
    Node* arrange_lambda(Node* node);
    Node* arrange_block(Node* node);
    Node* arrange_parent(Node* node);
    Node* arrange_keyword(Node* node);
    Node* arrange_transform(Node* node);
    Node* arrange_bind(Node* node);
    Node* arrange_parts(Node* node);

    Node* path_of(Node* step);
    void finish_path(Node* path);
    void resolve_ancestry(Node* path);
    void seek_parent(Node* node, Slot* slot);

    Tree& tree_;
    Node* block_ = nullptr; ///< The innermost one.
};

} // namespace sluice::expr::jsonata::internal
