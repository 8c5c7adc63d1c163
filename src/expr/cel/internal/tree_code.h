#pragma once

#include <utility>

#include "expr/cel/internal/evaluate.h"
#include "expr/cel/internal/tree.h"
#include "expr/program.h"

namespace sluice::expr::cel::internal {

/// A tree as a program holds it.
class TreeCode final : public Code {
public:
    explicit TreeCode(Tree tree) : tree_{std::move(tree)} {}

    Outcome evaluate(const Bindings& bindings, const Budget& budget) const override {
        auto meter = Meter{budget};
        return internal::evaluate(tree_, bindings, budget, meter);
    }
    const Tree& tree() const { return tree_; }

private:
    Tree tree_;
};

} // namespace sluice::expr::cel::internal
