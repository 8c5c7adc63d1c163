#include "expr/jsonata/internal/arrange.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "expr/jsonata/internal/raise.h"

namespace sluice::expr::jsonata::internal {
namespace {

Node* last_step_of(Node* node) {
    return node->kind == Kind::Path ? node->children.back() : node;
}

void mark_constructor(Node* step) {
    if (step->kind == Kind::ArrayOf) {
        step->is_constructor = true;
    }
}

/// What a part still seeks, the whole seeks.
void push_ancestry(Node* whole, Node* part) {
    whole->seeking.insert(whole->seeking.end(), part->seeking.begin(), part->seeking.end());
    if (part->kind == Kind::Parent) {
        whole->seeking.push_back(part->slot);
    }
}

/// Before a node becomes a step, its predicates become stages.
void make_step(Node* node) {
    for (auto* predicate : node->predicates) {
        node->stages.push_back({.filter = predicate});
    }
    node->predicates.clear();
}

void mark_tail(Node* node) {
    if (!node->predicates.empty() || node->group != nullptr || node->keeps_array) {
        return;
    }
    switch (node->kind) {
        case Kind::Call: node->is_tail = true; break;
        case Kind::Condition:
            mark_tail(node->children[1]);
            if (node->children.size() > 2) {
                mark_tail(node->children[2]);
            }
            break;
        case Kind::Default:
        case Kind::Coalesce: mark_tail(node->children[1]); break;
        case Kind::Block:
            if (!node->children.empty()) {
                mark_tail(node->children.back());
            }
            break;
        default: break;
    }
}

} // namespace

Node* Arranger::arrange(Node* node) {
    auto keeps_array = node->keeps_array;
    auto* arranged = arrange_kind(node);
    arranged->keeps_array |= keeps_array;
    return arranged;
}

Node* Arranger::arrange_kind(Node* node) {
    switch (node->kind) {
        case Kind::Step: return arrange_step(node);
        case Kind::Predicate: return arrange_predicate(node);
        case Kind::Group: return arrange_group(node);
        case Kind::Order: return arrange_order(node);
        case Kind::Focus: return arrange_focus(node);
        case Kind::Index: return arrange_index(node);
        case Kind::Apply: return arrange_apply(node);
        case Kind::Negate: return arrange_negate(node);
        case Kind::Call:
        case Kind::Partial: return arrange_call(node);
        case Kind::Lambda: return arrange_lambda(node);
        case Kind::Block: return arrange_block(node);
        case Kind::Parent: return arrange_parent(node);
        case Kind::Keyword: return arrange_keyword(node);
        case Kind::Transform: return arrange_transform(node);
        case Kind::Bind: return arrange_bind(node);
        case Kind::Name: {
            auto* path = path_of(node);
            path->keeps_singleton = node->keeps_array;
            return path;
        }
        default: return arrange_parts(node);
    }
}

Node* Arranger::arrange_parts(Node* node) {
    for (auto*& part : node->children) {
        part = arrange(part);
        push_ancestry(node, part);
    }
    return node;
}

Node* Arranger::path_of(Node* step) {
    if (step->kind == Kind::Path) {
        return step;
    }
    auto* path = &tree_.nodes.emplace_back();
    path->kind = Kind::Path;
    path->position = step->position;
    path->children.push_back(step);
    return path;
}

Node* Arranger::arrange_step(Node* node) {
    auto* first = arrange(node->children[0]);
    auto* path = path_of(first);
    if (first->kind == Kind::Parent) {
        path->seeking = {first->slot};
    }
    auto* rest = arrange(node->children[1]);
    if (rest->kind == Kind::Path) {
        path->children.insert(path->children.end(), rest->children.begin(), rest->children.end());
    } else {
        make_step(rest);
        path->children.push_back(rest);
    }
    finish_path(path);
    return path;
}

void Arranger::finish_path(Node* path) {
    for (auto* step : path->children) {
        if (step->kind == Kind::Number || step->kind == Kind::Constant) {
            raise_at(step->position, "S0213",
                     "the literal value {} cannot be used as a step within a path expression",
                     step->text);
        }
        if (step->kind == Kind::String) {
            step->kind = Kind::Name;
        }
        path->keeps_singleton |= step->keeps_array;
    }
    mark_constructor(path->children.front());
    mark_constructor(path->children.back());
    resolve_ancestry(path);
}

Node* Arranger::arrange_predicate(Node* node) {
    auto* result = arrange(node->children[0]);
    auto* step = last_step_of(result);
    if (step->group != nullptr) {
        raise_at(node->position, "S0209",
                 "a predicate cannot follow a grouping expression in a step");
    }
    auto* filter = arrange(node->children[1]);
    for (auto* slot : filter->seeking) {
        if (slot->level == 1) {
            seek_parent(step, slot);
        } else {
            --slot->level;
        }
    }
    if (!filter->seeking.empty()) {
        push_ancestry(step, filter);
    }
    if (result->kind == Kind::Path) {
        step->stages.push_back({.filter = filter});
    } else {
        step->predicates.push_back(filter);
    }
    return result;
}

Node* Arranger::arrange_group(Node* node) {
    auto* result = arrange(node->body);
    if (result->group != nullptr) {
        raise_at(node->position, "S0210", "each step can only have one grouping expression");
    }
    for (auto*& part : node->children) {
        part = arrange(part);
    }
    node->kind = Kind::ObjectOf;
    node->body = nullptr;
    result->group = node;
    return result;
}

Node* Arranger::arrange_order(Node* node) {
    auto* path = path_of(arrange(node->body));
    node->kind = Kind::Sort;
    node->body = nullptr;
    for (auto* term : node->children) {
        term->children[0] = arrange(term->children[0]);
        push_ancestry(node, term->children[0]);
    }
    path->children.push_back(node);
    resolve_ancestry(path);
    return path;
}

Node* Arranger::arrange_focus(Node* node) {
    auto* result = arrange(node->children[0]);
    auto* step = last_step_of(result);
    if (!step->stages.empty() || !step->predicates.empty()) {
        raise_at(node->position, "S0215", "a context variable binding must precede any predicates "
                                          "on a step");
    }
    if (step->kind == Kind::Sort) {
        raise_at(node->position, "S0216",
                 "a context variable binding must precede the 'order-by' clause on a step");
    }
    step->keeps_array |= node->keeps_array;
    step->focus = node->name;
    step->is_tuple = true;
    return result;
}

Node* Arranger::arrange_index(Node* node) {
    auto* result = arrange(node->children[0]);
    auto* step = last_step_of(result);
    if (result->kind != Kind::Path) {
        result = path_of(result);
        make_step(step);
    }
    if (step->stages.empty()) {
        step->index = node->name;
    } else {
        step->stages.push_back({.index = node->name});
    }
    step->is_tuple = true;
    return result;
}

Node* Arranger::arrange_apply(Node* node) {
    for (auto*& part : node->children) {
        part = arrange(part);
        node->keeps_array |= part->keeps_array;
    }
    return node;
}

Node* Arranger::arrange_negate(Node* node) {
    auto* operand = arrange(node->children[0]);
    node->children[0] = operand;
    if (operand->kind != Kind::Number) {
        push_ancestry(node, operand);
        return node;
    }
    auto constant = operand->constant;
    operand->constant =
        constant.type == Type::Int ? Item::of(-constant.integer) : Item::of(-constant.real);
    return operand;
}

Node* Arranger::arrange_call(Node* node) {
    for (auto*& argument : node->children) {
        if (argument->kind == Kind::Keyword && argument->text == "?") {
            continue;
        }
        argument = arrange(argument);
        push_ancestry(node, argument);
    }
    node->body = arrange(node->body);
    return node;
}

Node* Arranger::arrange_lambda(Node* node) {
    auto* outer = std::exchange(block_, nullptr);
    node->body = arrange(node->body);
    block_ = outer;
    mark_tail(node->body);
    return node;
}

Node* Arranger::arrange_block(Node* node) {
    auto* outer = std::exchange(block_, node);
    for (auto*& part : node->children) {
        part = arrange(part);
        push_ancestry(node, part);
        auto* first = part->kind == Kind::Path ? part->children[0] : part;
        node->is_constructor |= first->is_constructor;
    }
    block_ = outer;
    return node;
}

Node* Arranger::arrange_bind(Node* node) {
    if (block_ != nullptr) {
        block_->has_bindings = true;
    }
    return arrange_parts(node);
}

Node* Arranger::arrange_parent(Node* node) {
    node->slot = &tree_.slots.emplace_back();
    node->slot->label = tree_.names.make_label();
    return node;
}

Node* Arranger::arrange_keyword(Node* node) {
    if (node->text == "?") {
        raise_at(node->position, "S0201", "syntax error: \"?\"");
    }
    node->kind = Kind::Name;
    return arrange(node);
}

Node* Arranger::arrange_transform(Node* node) {
    for (auto*& part : node->children) {
        part = arrange(part);
    }
    return node;
}

void Arranger::resolve_ancestry(Node* path) {
    auto* last = path->children.back();
    auto slots = last->seeking;
    if (last->kind == Kind::Parent) {
        slots.push_back(last->slot);
    }
    for (auto* slot : slots) {
        auto index = std::ssize(path->children) - 2;
        auto step_at = [&](std::ptrdiff_t at) { return path->children[static_cast<std::size_t>(at)]; };
        while (slot->level > 0) {
            if (index < 0) {
                path->seeking.push_back(slot);
                break;
            }
            auto* step = step_at(index--);
            // Steps that bind a focus in a row have one input.
            while (index >= 0 && step->focus != 0 && step_at(index)->focus != 0) {
                step = step_at(index--);
            }
            seek_parent(step, slot);
        }
    }
}

void Arranger::seek_parent(Node* node, Slot* slot) {
    switch (node->kind) {
        case Kind::Name:
        case Kind::Wildcard:
            if (--slot->level == 0) {
                if (node->ancestor != nullptr) {
                    slot->label = node->ancestor->label;
                }
                node->ancestor = slot;
                node->is_tuple = true;
            }
            break;
        case Kind::Parent: ++slot->level; break;
        case Kind::Block:
            if (!node->children.empty()) {
                node->is_tuple = true;
                seek_parent(node->children.back(), slot);
            }
            break;
        case Kind::Path: {
            node->is_tuple = true;
            auto index = node->children.size();
            do {
                seek_parent(node->children[--index], slot);
            } while (slot->level > 0 && index > 0);
            break;
        }
        default:
            raise_at(node->position, "S0217", "the object representing the 'parent' cannot be "
                                              "derived from this expression");
    }
}

} // namespace sluice::expr::jsonata::internal
