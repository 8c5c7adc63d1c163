#include "base/result.h"
#include "expr/cel/internal/parsing.h"
#include "expr/cel/runtime/excerpt.h"

namespace sluice::expr::cel::internal {

using runtime::CallStyle;
using runtime::find_function;
using runtime::kind_named;
using runtime::many_arguments;
using runtime::suggest_function;

/// `a.b.c`, and what is called by such a name.
Parsed<Parser::Operand> Parser::name() {
    auto is_rooted = accept(".");
    auto parts = std::vector<Token>{advance()};
    auto first = parts.front();
    if (first.text == "true" || first.text == "false") {
        return Operand{build_.constant(first.position, Cell::boolean(first.text == "true")), {}};
    }
    if (first.text == "null") {
        return Operand{build_.constant(first.position, Cell{}), {}};
    }
    if (first.text == "in" || is_reserved(first.text)) {
        return fail_at(first.position, "expected a value, found the reserved word \"{}\"",
                       first.text);
    }
    if (current().is("(")) {
        return global_call(first, first.text, is_rooted);
    }
    auto full = std::string{first.text};
    while (current().is(".") && ahead(1).kind == TokenKind::Name && !is_keyword(ahead(1).text)) {
        if (ahead(2).is("(")) {
            auto called = fmt::format("{}.{}", full, ahead(1).text);
            auto is_known = called == "cel.bind" ||
                            function_named(called, CallStyle::Global, is_rooted) != nullptr;
            if (is_known && !local_named(first.text)) {
                advance();
                auto name = advance();
                return global_call(name, called, is_rooted);
            }
            break;
        }
        advance();
        parts.push_back(advance());
        full += '.';
        full += parts.back().text;
    }
    if (current().is("{")) {
        return refuse("unsupported", first.position, "messages such as {}{{…}} are not supported",
                      excerpt(full));
    }
    return resolve(parts, is_rooted);
}

/// CEL, "Name Resolution": a name in container a.b is tried as a.b.name, a.name, name.
std::vector<std::string> Parser::candidates(std::string_view name, bool is_rooted) const {
    auto found = std::vector<std::string>{};
    auto container = is_rooted ? std::string_view{} : reading_.container;
    while (!container.empty()) {
        found.push_back(fmt::format("{}.{}", container, name));
        auto dot = container.rfind('.');
        container = dot == std::string_view::npos ? std::string_view{} : container.substr(0, dot);
    }
    found.emplace_back(name);
    return found;
}

bool Parser::take_name(const std::string& name, std::size_t position, Operand& operand) {
    auto variable = std::ranges::find(reading_.variables, name);
    if (variable != reading_.variables.end()) {
        auto slot = static_cast<std::size_t>(variable - reading_.variables.begin());
        operand.first = build_.node(Op::Variable, position, any_kind, {}, slot);
        return true;
    }
    const auto& names = reading_.options.names;
    if (std::ranges::find(names, name) != names.end()) {
        operand.first = build_.path(position, name);
        return true;
    }
    if (auto kind = kind_named(name); kind != Kind::Fault) {
        operand.first = build_.constant(position, Cell::type(kind));
        return true;
    }
    return false;
}

/// No name that is known has more: looking for longer ones would take quadratic time.
std::size_t Parser::name_parts_max() const {
    auto most = std::size_t{3}; // `google.protobuf.Timestamp`
    auto count = [&](const std::string& name) {
        most = std::max(most, static_cast<std::size_t>(std::ranges::count(name, '.')) + 1);
    };
    std::ranges::for_each(reading_.variables, count);
    std::ranges::for_each(reading_.options.names, count);
    return most;
}

/// The longest beginning that names something; the rest are members.
Parsed<Parser::Operand> Parser::resolve(std::span<const Token> parts, bool is_rooted) {
    auto operand = Operand{};
    auto used = std::size_t{0};
    auto local = is_rooted ? std::nullopt : local_named(parts[0].text);
    if (local) {
        operand.first = build_.node(Op::Local, parts[0].position, any_kind, {}, *local);
        used = 1;
    }
    for (auto count = std::min(parts.size(), name_parts_max()); used == 0 && count > 0; --count) {
        auto name = std::string{parts[0].text};
        for (const auto& part : parts.subspan(1, count - 1)) {
            name += '.';
            name += part.text;
        }
        for (const auto& candidate : candidates(name, is_rooted)) {
            if (take_name(candidate, parts[0].position, operand)) {
                used = count;
                break;
            }
        }
    }
    if (used == 0) {
        operand.first = TRY(unknown_name(parts[0]));
        used = 1;
    }
    for (const auto& part : parts.subspan(used)) {
        if (!operand.steps.empty() || !build_.extend(operand.first, part.text)) {
            operand.steps.push_back(build_.member(Op::Member, part.position - 1, part.text));
        }
    }
    return operand;
}

Parsed<NodeId> Parser::unknown_name(const Token& token) {
    auto message = fmt::format("unknown name \"{}\"", excerpt(token.text));
    if (reading_.is_lenient) {
        return build_.fail(token.position, "unknown_name", std::move(message));
    }
    const auto& names = reading_.options.names;
    if (names.empty()) {
        return refuse("unknown_name", token.position, "{}: no names can be used here", message);
    }
    return refuse("unknown_name", token.position, "{}: expected one of {}", message,
                  fmt::join(names, ", "));
}

const Function* Parser::function_named(std::string_view name, CallStyle style,
                                       bool is_rooted) const {
    for (const auto& candidate : candidates(name, is_rooted)) {
        if (const auto* found = find_function(candidate, style)) {
            return found;
        }
    }
    return nullptr;
}

Parsed<std::vector<NodeId>> Parser::arguments() {
    TRY(expect("("));
    auto found = std::vector<NodeId>{};
    if (accept(")")) {
        return found;
    }
    do {
        found.push_back(TRY(expression()));
    } while (accept(","));
    TRY(expect(")"));
    return found;
}

/// A call that cannot be made: refused, or a fault of the evaluation.
Parsed<NodeId> Parser::refused_call(const Token& name, std::string code, std::string message) {
    if (reading_.is_lenient) {
        return build_.fail(name.position, code == "arity" ? "no_such_overload" : "unknown_function",
                           std::move(message));
    }
    return refuse(code, name.position, "{}", message);
}

Parsed<void> Parser::check_count(const Token& name, const Function& function,
                                 std::size_t found) const {
    if (found >= function.arguments_min && found <= function.arguments_max) {
        return {};
    }
    auto before = function.style == CallStyle::Member ? 1 : 0;
    auto least = function.arguments_min - before;
    auto most = function.arguments_max - before;
    auto expected = function.arguments_max == many_arguments ? fmt::format("{} or more", least)
                    : least == most                          ? fmt::format("{}", least)
                                                             : fmt::format("{} to {}", least, most);
    return refuse("arity", name.position, "function \"{}\" takes {} argument{}, found {}",
                  function.name, expected, expected == "1" ? "" : "s",
                  found - static_cast<std::size_t>(before));
}

Parsed<Parser::Operand> Parser::global_call(const Token& name, std::string_view full_name,
                                            bool is_rooted) {
    if (full_name == "has") {
        return presence(name);
    }
    if (full_name == "cel.bind" && count_arguments() == 3) {
        return Operand{TRY(binding(name)), {}};
    }
    auto operands = TRY(arguments());
    const auto* function = function_named(full_name, CallStyle::Global, is_rooted);
    if (function == nullptr) {
        auto is_member = find_function(full_name, CallStyle::Member) != nullptr;
        auto message =
            is_member ? fmt::format("function \"{0}\" is written x.{0}(…), found {0}(…)", full_name)
                      : fmt::format("unknown function \"{}\"{}", excerpt(full_name),
                                    suggest_function(full_name));
        return Operand{TRY(refused_call(name, "unknown_function", std::move(message))), {}};
    }
    if (auto fits = check_count(name, *function, operands.size()); !fits) {
        return Operand{TRY(refused_call(name, "arity", std::move(fits).error().message)), {}};
    }
    if (function->name == "matches" && build_.is_constant(operands[1])) {
        auto step = build_.match(name.position, operands[1]);
        if (step) {
            return Operand{operands[0], {*step}};
        }
        if (!reading_.is_lenient) {
            return std::unexpected(std::move(step).error());
        }
    }
    auto node = build_.call(Op::Call, name.position, *function, operands);
    return Operand{TRY(settled(build_.folded(node), node)), {}};
}

Parsed<void> Parser::member_call(Operand& operand, const Token& name) {
    if (TRY(macro(operand, name))) {
        return {};
    }
    auto operands = TRY(arguments());
    auto is_or = name.text == "or" || name.text == "orValue";
    if (is_or && operands.size() == 1) {
        auto op = name.text == "or" ? Op::OrOptional : Op::OrValue;
        operand.steps.push_back(build_.node(
            op, name.position, op == Op::OrOptional ? only(Kind::Optional) : any_kind, operands));
        return {};
    }
    const auto* function = find_function(name.text, CallStyle::Member);
    if (function == nullptr) {
        auto is_global = find_function(name.text, CallStyle::Global) != nullptr;
        auto message =
            is_global ? fmt::format("function \"{0}\" is written {0}(x), found x.{0}(…)", name.text)
                      : fmt::format("unknown function \"{}\"{}", excerpt(name.text),
                                    suggest_function(name.text));
        operand = {TRY(refused_call(name, "unknown_function", std::move(message))), {}};
        return {};
    }
    if (auto fits = check_count(name, *function, operands.size() + 1); !fits) {
        operand = {TRY(refused_call(name, "arity", std::move(fits).error().message)), {}};
        return {};
    }
    auto is_literal = function->name == "matches" && build_.is_constant(operands[0]) &&
                      build_.constant_of(operands[0]).is(Kind::String);
    auto step = is_literal
                    ? build_.match(name.position, operands[0])
                    : Parsed<NodeId>{build_.call(Op::CallOn, name.position, *function, operands)};
    if (!step && !reading_.is_lenient) {
        return std::unexpected(std::move(step).error());
    }
    operand.steps.push_back(step ? *step
                                 : build_.call(Op::CallOn, name.position, *function, operands));
    return {};
}

Parsed<Parser::Operand> Parser::presence(const Token& name) {
    TRY(enter());
    TRY(expect("("));
    auto operand = TRY(postfix());
    TRY(expect(")"));
    --nesting_;
    if (!build_.ask_for_presence(operand.first, operand.steps)) {
        return refuse("macro", name.position, "has() asks for a member: expected has(x.y)");
    }
    return operand;
}

} // namespace sluice::expr::cel::internal
