#include "expr/jsonata/internal/free_names.h"

#include <algorithm>
#include <cstddef>

namespace sluice::expr::jsonata::internal {

namespace {

/// Goes through an expression with what its parts are evaluated against.
class InputReading {
public:
    bool is_found() const { return is_found_; }

    void visit(const Node& node, bool is_of_input) {
        is_found_ |= is_input(node, is_of_input);
        if (is_found_) {
            return;
        }
        for (auto at = std::size_t{0}; at < node.children.size(); ++at) {
            visit_if(node.children[at], is_of_input && is_left_to(node, at));
        }
        visit_if(node.body, is_of_input);
        for (const auto& stage : node.stages) {
            visit_if(stage.filter, false);
        }
        for (const auto* predicate : node.predicates) {
            visit_if(predicate, false);
        }
        visit_if(node.group, false);
    }

private:
    static bool is_input(const Node& node, bool is_of_input) {
        switch (node.kind) {
            case Kind::Variable: return node.text == "$" || (node.text.empty() && is_of_input);
            case Kind::Name:
            case Kind::Wildcard:
            case Kind::Descendants: return is_of_input;
            default: return false;
        }
    }

    /// Whether a part of a node is evaluated against the same as the node: not so what is behind
    /// the first step of a path, and what transforms an argument.
    static bool is_left_to(const Node& node, std::size_t at) {
        return node.kind != Kind::Transform && (node.kind != Kind::Path || at == 0);
    }

    void visit_if(const Node* node, bool is_of_input) {
        if (node != nullptr) {
            visit(*node, is_of_input);
        }
    }

    bool is_found_ = false;
};

} // namespace

std::vector<std::string> free_variables(const Tree& tree) {
    auto names = std::vector<std::string>{};
    for (const auto& node : tree.nodes) {
        auto is_free = node.kind == Kind::Variable && node.external > 0 && !node.may_be_local;
        if (is_free && std::ranges::find(names, node.text) == names.end()) {
            names.push_back(node.text);
        }
    }
    return names;
}

bool reads_input(const Tree& tree) {
    auto reading = InputReading{};
    if (tree.root != nullptr) {
        reading.visit(*tree.root, true);
    }
    return reading.is_found();
}

} // namespace sluice::expr::jsonata::internal
