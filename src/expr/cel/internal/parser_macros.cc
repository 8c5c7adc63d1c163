#include <array>

#include "base/result.h"
#include "expr/cel/internal/parsing.h"

namespace sluice::expr::cel::internal {
namespace {

/// A macro that goes through a list or map, in one of its forms.
struct LoopForm {
    std::string_view name;
    std::size_t arguments;
    std::size_t variables;
    Loop::Kind kind;
    bool is_filter = false;
};

constexpr auto loop_forms = std::array{
    LoopForm{"all", 2, 1, Loop::Kind::All},
    LoopForm{"all", 3, 2, Loop::Kind::All},
    LoopForm{"exists", 2, 1, Loop::Kind::Exists},
    LoopForm{"exists", 3, 2, Loop::Kind::Exists},
    LoopForm{"exists_one", 2, 1, Loop::Kind::ExistsOne},
    LoopForm{"exists_one", 3, 2, Loop::Kind::ExistsOne},
    LoopForm{"existsOne", 2, 1, Loop::Kind::ExistsOne},
    LoopForm{"existsOne", 3, 2, Loop::Kind::ExistsOne},
    LoopForm{"map", 2, 1, Loop::Kind::List},
    LoopForm{"map", 3, 1, Loop::Kind::List},
    LoopForm{"filter", 2, 1, Loop::Kind::List, true},
    LoopForm{"transformList", 3, 2, Loop::Kind::List},
    LoopForm{"transformList", 4, 2, Loop::Kind::List},
    LoopForm{"transformMap", 3, 2, Loop::Kind::Map},
    LoopForm{"transformMap", 4, 2, Loop::Kind::Map},
    LoopForm{"transformMapEntry", 3, 2, Loop::Kind::Entries},
    LoopForm{"transformMapEntry", 4, 2, Loop::Kind::Entries},
};

KindSet kinds_of(Loop::Kind kind) {
    switch (kind) {
        case Loop::Kind::List: return only(Kind::List);
        case Loop::Kind::Map:
        case Loop::Kind::Entries: return only(Kind::Map);
        default: return only(Kind::Bool);
    }
}

} // namespace

/// Of the call whose bracket opens here.
std::size_t Parser::count_arguments() const {
    auto depth = std::size_t{0};
    auto count = ahead(1).is(")") ? std::size_t{0} : std::size_t{1};
    for (const auto& token : tokens_.subspan(at_)) {
        auto opens = token.is("(") || token.is("[") || token.is("{");
        auto closes = token.is(")") || token.is("]") || token.is("}");
        depth += opens ? 1 : 0;
        if (closes && --depth == 0) {
            break;
        }
        count += depth == 1 && token.is(",") ? 1 : 0;
    }
    return count;
}

Parsed<bool> Parser::macro(Operand& operand, const Token& name) {
    auto is_optional = name.text == "optMap" || name.text == "optFlatMap";
    auto is_loop = std::ranges::find(loop_forms, name.text, &LoopForm::name) != loop_forms.end();
    if (!is_optional && !is_loop) {
        return false;
    }
    auto count = count_arguments();
    if (is_optional && count == 2) {
        operand.steps.push_back(TRY(optional_map(name)));
        return true;
    }
    for (const auto& form : loop_forms) {
        if (form.name == name.text && form.arguments == count) {
            auto has_condition = form.is_filter || count == form.variables + 2;
            auto loop = Loop{.kind = form.kind,
                             .slot = static_cast<std::uint32_t>(locals_.size()),
                             .has_second = form.variables == 2,
                             .has_condition = has_condition};
            operand.steps.push_back(TRY(this->loop(name, loop, form.variables, form.is_filter)));
            return true;
        }
    }
    return refuse("macro", name.position, "{0}() does not take {1} arguments: expected {2}",
                  name.text, count,
                  is_optional ? "x.optMap(name, value)" : "x.all(name, …) or x.all(key, name, …)");
}

Parsed<std::string_view> Parser::variable(const Token& macro) {
    auto token = advance();
    if (token.kind != TokenKind::Name || is_keyword(token.text) || is_reserved(token.text) ||
        !accept(",")) {
        return refuse("macro", token.position, "{0}() expects a plain name here: {0}(x, …)",
                      macro.text);
    }
    return token.text;
}

Parsed<NodeId> Parser::loop(const Token& name, Loop loop, std::size_t variables, bool is_filter) {
    TRY(expect("("));
    for (auto i = std::size_t{0}; i < variables; ++i) {
        auto position = current().position;
        auto local = TRY(variable(name));
        if (i == 1 && locals_.back() == local) {
            return refuse("macro", position, "{}() expects two names, found {} twice", name.text,
                          local);
        }
        add_local(local);
    }
    auto operands = std::vector<NodeId>{TRY(expression())};
    if (is_filter) {
        operands.push_back(build_.node(Op::Local, name.position, any_kind, {}, loop.slot));
    } else if (loop.has_condition) {
        TRY(expect(","));
        operands.push_back(TRY(expression()));
    }
    TRY(expect(")"));
    remove_locals(variables);
    return build_.loop(name.position, loop, kinds_of(loop.kind), operands);
}

Parsed<NodeId> Parser::optional_map(const Token& name) {
    TRY(expect("("));
    auto slot = locals_.size();
    add_local(TRY(variable(name)));
    auto body = TRY(expression());
    TRY(expect(")"));
    remove_locals(1);
    auto op = name.text == "optMap" ? Op::OptionalMap : Op::OptionalFlatMap;
    return build_.node(op, name.position, only(Kind::Optional), std::array{body}, slot);
}

/// `cel.bind(x, value, what sees it)`
Parsed<NodeId> Parser::binding(const Token& name) {
    TRY(expect("("));
    auto local = TRY(variable(name));
    auto value = TRY(expression());
    TRY(expect(","));
    auto slot = locals_.size();
    add_local(local);
    auto body = TRY(expression());
    TRY(expect(")"));
    remove_locals(1);
    return build_.node(Op::Bind, name.position, build_[body].kinds, std::array{value, body}, slot);
}

void Parser::add_local(std::string_view name) {
    locals_.push_back(name);
    slots_ = std::max(slots_, locals_.size());
}

std::optional<std::size_t> Parser::local_named(std::string_view name) const {
    for (auto at = locals_.size(); at > 0; --at) {
        if (locals_[at - 1] == name) {
            return at - 1;
        }
    }
    return std::nullopt;
}

} // namespace sluice::expr::cel::internal
