#include "workflow/dag/template.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/result.h"
#include "expr/cel/compile.h"
#include "expr/cel/template.h"
#include "expr/jsonata/expression.h"
#include "expr/map_bindings.h"

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

void add_once(std::vector<std::string>& names, std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) {
        names.emplace_back(name);
    }
}

bool is_word(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    });
}

std::string_view trimmed(std::string_view text) {
    auto begin = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

} // namespace

class Template::Form {
public:
    std::variant<expr::cel::Template, expr::Program, Node, Value> content;
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
    if (compiled.is_constant()) {
        auto outcome = compiled.evaluate(expr::MapBindings{});
        if (auto* value = std::get_if<Value>(&outcome)) {
            return Template{std::make_shared<const Form>(Form{.content = std::move(*value)})};
        }
    }
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
            if constexpr (std::is_same_v<T, Value>) {
                return content;
            } else if constexpr (std::is_same_v<T, Node>) {
                return fill(content, bindings, budget);
            } else {
                return content.evaluate(bindings, budget);
            }
        },
        form_->content);
}

const Value* Template::constant() const {
    static const auto null = Value{};
    return form_ ? std::get_if<Value>(&form_->content) : &null;
}

std::string_view handed_on_by(std::string_view text) {
    constexpr auto before = std::string_view{"tasks"};
    constexpr auto behind = std::string_view{".result"};
    text = is_whole(text) ? trimmed(inside(text)) : std::string_view{};
    if (!text.starts_with(before) || !text.ends_with(behind)) {
        return {};
    }
    text = text.substr(before.size(), text.size() - before.size() - behind.size());
    if (text.starts_with('.')) {
        return is_word(text.substr(1)) ? text.substr(1) : std::string_view{};
    }
    auto is_quoted = text.size() > 4 && text.starts_with("[\"") && text.ends_with("\"]");
    auto name = is_quoted ? text.substr(2, text.size() - 4) : std::string_view{};
    return name.find_first_of("\"\\") == std::string_view::npos ? name : std::string_view{};
}

void TaskUses::add_jsonata(std::string_view text, const ExpressionSite& site) {
    // What does not compile is said elsewhere, with its place.
    auto compiled = expr::jsonata::Expression::compile(inside(text), {.names = site.names});
    if (!compiled) {
        return;
    }
    for (const auto& path : compiled->questions()) {
        if (path.size() > 1 && path.front() == "tasks") {
            add_once(names, path[1]);
        }
    }
}

void TaskUses::add(std::string_view text, const ExpressionSite& site, Handling handling) {
    if (site.language == Language::Jsonata) {
        if (is_whole(text)) {
            add_jsonata(text, site);
        }
        return;
    }
    if (auto name = handed_on_by(text); !name.empty()) {
        add_once(names, name);
        if (handling == Handling::LooksInto) {
            add_once(looked_at, name);
        }
        return;
    }
    // What does not compile is said elsewhere, with its place.
    auto compiled = expr::cel::Template::compile(Value{text}, {.names = site.names});
    for (const auto& path :
         compiled ? compiled->paths() : std::vector<std::vector<std::string>>{}) {
        if (path.front() != "tasks") {
            continue;
        }
        if (path.size() == 1) {
            looks_at_any = true;
            continue;
        }
        add_once(names, path[1]);
        if (path.size() == 2 || path[2] == "result") {
            add_once(looked_at, path[1]);
        }
    }
}

void add_uses(const Value& form, const ExpressionSite& site, Handling handling, TaskUses& uses) {
    if (form.is_string() && form.as_string().contains("${")) {
        uses.add(form.as_string(), site, handling);
    } else if (form.is_list()) {
        for (const auto& item : form.as_list()) {
            add_uses(item, site, handling, uses);
        }
    } else if (form.is_map()) {
        for (const auto& [key, member] : form.as_map()) {
            add_uses(member, site, handling, uses);
        }
    }
}

} // namespace sluice::workflow::dag
