#include "workflow/dag/template.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/result.h"
#include "expr/cel/compile.h"
#include "expr/cel/template.h"
#include "expr/jsonata/expression.h"

namespace sluice::workflow::dag {

namespace {

bool is_whole(std::string_view text) {
    return text.size() > 3 && text.starts_with("${") && text.ends_with('}');
}

std::string_view inside(std::string_view text) {
    return is_whole(text) ? text.substr(2, text.size() - 3) : text;
}

/// A JSONata pattern: an expression, a constant, or a list or map of such.
struct Node {
    std::variant<Value, expr::Program, std::vector<Node>> content;
    std::vector<std::string> keys; ///< Of a map.
    bool is_map = false;
};

using Made = std::expected<Node, expr::Fault>;

Made make_node(const Value& pattern, const expr::CompileOptions& options) {
    if (pattern.is_string() && is_whole(pattern.as_string())) {
        return Node{.content = TRY(expr::jsonata::compile(inside(pattern.as_string()), options))};
    }
    auto items = std::vector<Node>{};
    if (pattern.is_list()) {
        for (const auto& item : pattern.as_list()) {
            items.push_back(TRY(make_node(item, options)));
        }
        return Node{.content = std::move(items)};
    }
    if (!pattern.is_map()) {
        return Node{.content = pattern};
    }
    auto node = Node{.is_map = true};
    for (const auto& [key, member] : pattern.as_map()) {
        node.keys.push_back(key);
        items.push_back(TRY(make_node(member, options)));
    }
    node.content = std::move(items);
    return node;
}

expr::Outcome fill(const Node& node, const expr::Bindings& bindings, const expr::Budget& budget) {
    if (const auto* constant = std::get_if<Value>(&node.content)) {
        return *constant;
    }
    if (const auto* program = std::get_if<expr::Program>(&node.content)) {
        return program->evaluate(bindings, budget);
    }
    auto values = std::vector<Value>{};
    auto members = std::vector<value::Member>{};
    for (const auto& item : std::get<std::vector<Node>>(node.content)) {
        auto outcome = fill(item, bindings, budget);
        if (std::holds_alternative<expr::Fault>(outcome)) {
            return outcome;
        }
        auto value = std::get<Value>(std::move(outcome));
        if (node.is_map) {
            members.push_back({node.keys[members.size()], std::move(value)});
        } else {
            values.push_back(std::move(value));
        }
    }
    return node.is_map ? Value::map(std::move(members)) : Value::list(std::move(values));
}

bool has_expression(const Value& form) {
    if (form.is_string()) {
        return form.as_string().contains("${");
    }
    if (form.is_list()) {
        return std::ranges::any_of(form.as_list(), has_expression);
    }
    return form.is_map() && std::ranges::any_of(form.as_map(), [](const value::Member& member) {
               return has_expression(member.value);
           });
}

} // namespace

class Template::Form {
public:
    std::variant<expr::cel::Template, expr::Program, Node> content;
};

std::expected<Template, expr::Fault> Template::compile_jsonata(const Value& pattern,
                                                               const ExpressionSite& site) {
    auto node = TRY(make_node(pattern, {.names = site.names}));
    return Template{std::make_shared<const Form>(Form{.content = std::move(node)})};
}

std::expected<Template, expr::Fault> Template::compile(const Value& pattern,
                                                       const ExpressionSite& site) {
    if (site.language == Language::Jsonata) {
        return compile_jsonata(pattern, site);
    }
    auto compiled = TRY(expr::cel::Template::compile(pattern, {.names = site.names}));
    return Template{std::make_shared<const Form>(Form{.content = std::move(compiled)})};
}

std::expected<Template, expr::Fault> Template::compile_condition(std::string_view text,
                                                                 const ExpressionSite& site) {
    auto options = expr::CompileOptions{.names = site.names, .must_be_bool = true};
    auto program =
        TRY(site.language == Language::Jsonata ? expr::jsonata::compile(inside(text), options)
                                               : expr::cel::compile(inside(text), options));
    return Template{std::make_shared<const Form>(Form{.content = std::move(program)})};
}

expr::Outcome Template::evaluate(const expr::Bindings& bindings, const expr::Budget& budget) const {
    if (!form_) {
        return Value{};
    }
    return std::visit(
        [&]<typename T>(const T& content) -> expr::Outcome {
            if constexpr (std::is_same_v<T, Node>) {
                return fill(content, bindings, budget);
            } else {
                return content.evaluate(bindings, budget);
            }
        },
        form_->content);
}

std::vector<std::string> tasks_named_in(const Value& form, const ExpressionSite& site) {
    auto names = std::vector<std::string>{};
    if (site.language != Language::Cel || !has_expression(form)) {
        return names;
    }
    // What does not compile is said elsewhere, with its place.
    auto compiled = expr::cel::Template::compile(form, {.names = site.names});
    if (!compiled) {
        return names;
    }
    for (auto& path : compiled->paths()) {
        if (path.size() > 1 && path.front() == "tasks" &&
            std::ranges::find(names, path[1]) == names.end()) {
            names.push_back(std::move(path[1]));
        }
    }
    return names;
}

} // namespace sluice::workflow::dag
