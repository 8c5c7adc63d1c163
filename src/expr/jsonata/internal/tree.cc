#include "expr/jsonata/internal/tree.h"

#include <algorithm>
#include <ranges>
#include <unordered_set>

#include "expr/jsonata/internal/arrange.h"
#include "expr/jsonata/internal/builtin.h"
#include "expr/jsonata/internal/parser.h"
#include "expr/jsonata/internal/raise.h"

namespace sluice::expr::jsonata::internal {
namespace {

std::unordered_set<std::uint32_t> names_bound_in(const Tree& tree) {
    auto bound = std::unordered_set<std::uint32_t>{};
    for (const auto& node : tree.nodes) {
        if (node.kind == Kind::Bind) {
            bound.insert(node.name);
        }
        if (node.kind == Kind::Lambda) {
            for (const auto* parameter : node.children) {
                bound.insert(parameter->name);
            }
        }
        bound.insert(node.focus);
        bound.insert(node.index);
        for (const auto& stage : node.stages) {
            bound.insert(stage.index);
        }
    }
    return bound;
}

const Function* function_named(Tree& tree, std::string_view name) {
    for (auto i = std::size_t{0}; i < tree.options.functions.size(); ++i) {
        if (tree.options.functions[i].name == name) {
            auto* function = &tree.functions.emplace_back();
            function->kind = FunctionKind::Host;
            function->host = static_cast<std::uint32_t>(i);
            return function;
        }
    }
    return name == "eval" && !tree.options.has_eval ? nullptr : find_builtin(name);
}

std::uint32_t ask_for(Tree& tree, std::vector<std::string> path) {
    auto found = std::ranges::find(tree.externals, path);
    auto place = found - tree.externals.begin();
    if (found == tree.externals.end()) {
        tree.externals.push_back(std::move(path));
    }
    return static_cast<std::uint32_t>(place + 1);
}

bool is_index(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_plain(const Node& step) {
    return step.stages.empty() && step.predicates.empty() && step.group == nullptr &&
           !step.is_tuple && !step.keeps_array;
}

/// `$a.b.c` is one question, answered unless one on the way is an array.
void ask_for_path(Tree& tree, Node& path) {
    const auto& first = *path.children[0];
    if (first.kind != Kind::Variable || first.external == 0 || first.may_be_local || !is_plain(first)) {
        return;
    }
    auto parts = tree.externals[first.external - 1];
    for (const auto* step : path.children | std::views::drop(1)) {
        if (step->kind != Kind::Name || !is_plain(*step) || is_index(step->text)) {
            break;
        }
        parts.push_back(step->text);
    }
    if (parts.size() > 1) {
        path.external_steps = static_cast<std::uint32_t>(parts.size());
        path.external = ask_for(tree, std::move(parts));
    }
}

void resolve_variable(Tree& tree, Node& node) {
    if (node.text.empty() || node.text == "$") {
        return;
    }
    const auto& names = tree.options.names;
    auto is_given = std::ranges::find(names, node.text) != names.end();
    node.function = is_given ? nullptr : function_named(tree, node.text);
    if (node.function != nullptr) {
        return;
    }
    if (!names.empty() && !is_given) {
        if (!node.may_be_local) {
            raise_at(node.position, "unknown_name", "there is no variable ${}", node.text);
        }
        return;
    }
    node.external = ask_for(tree, {node.text});
}

/// Settles what variables mean and what the bindings will be asked for.
void resolve_names(Tree& tree) {
    auto bound = names_bound_in(tree);
    auto is_variable = [](const Node& node) { return node.kind == Kind::Variable; };
    // A text that is evaluated may bind any name.
    auto has_eval = tree.options.has_eval && std::ranges::any_of(tree.nodes, [&](const Node& node) {
        return is_variable(node) && node.text == "eval";
    });
    for (auto& node : tree.nodes) {
        node.has_frills = !node.predicates.empty() || node.group != nullptr || node.keeps_array;
        node.has_bindings |= has_eval;
        node.may_be_local = has_eval || bound.contains(node.name);
        if (is_variable(node)) {
            resolve_variable(tree, node);
        }
        if (node.kind == Kind::String || node.kind == Kind::Name) {
            node.constant = Item::of(std::string_view{node.text});
        }
    }
    for (auto& node : tree.nodes) {
        if (node.kind == Kind::Path) {
            ask_for_path(tree, node);
        }
    }
}

} // namespace

std::uint32_t Names::intern(std::string_view name) {
    if (auto found = numbers_.find(name); found != numbers_.end()) {
        return found->second;
    }
    texts_.emplace_back(name);
    auto number = static_cast<std::uint32_t>(texts_.size());
    numbers_.emplace(texts_.back(), number);
    return number;
}

std::unique_ptr<Tree> parse(std::string_view text, const Options& options, const Names& names) {
    auto tree = std::make_unique<Tree>();
    tree->text = text;
    tree->options = options;
    for (const auto& name : names.texts()) {
        tree->names.intern(name);
    }
    for (const auto& function : options.functions) {
        const auto& signature = function.signature;
        tree->host_signatures.push_back(
            signature.empty() ? nullptr
                              : std::make_unique<const Signature>(Signature::parse(signature)));
    }
    tree->root = Arranger{*tree}.arrange(Parser{tree->text, *tree}.parse());
    if (tree->root->kind == Kind::Parent || !tree->root->seeking.empty()) {
        raise_at(tree->root->position, "S0217", "the object representing the 'parent' cannot be "
                                                "derived from this expression");
    }
    resolve_names(*tree);
    return tree;
}

} // namespace sluice::expr::jsonata::internal
