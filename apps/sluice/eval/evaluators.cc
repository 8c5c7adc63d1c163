#include <algorithm>
#include <array>
#include <expected>
#include <span>
#include <utility>
#include <variant>

#include "base/result.h"
#include "event/builder.h"
#include "event/dialect/event_bindings.h"
#include "expr/cel/typed.h"
#include "expr/cesql/expression.h"
#include "expr/jsonata/expression.h"
#include "expr/jsonpath/path.h"
#include "expr/map_bindings.h"
#include "sluice/eval/expression_case.h"
#include "sluice/eval/typed_value.h"

namespace sluice::app {
namespace {

using expr::Fault;

Value shown(Value value, Kinds kinds) {
    return kinds == Kinds::Shown ? with_kinds(value) : std::move(value);
}

ExpressionAnswer answer_of(std::expected<Value, Fault> outcome, Kinds kinds) {
    auto answer = ExpressionAnswer{};
    if (outcome) {
        answer.value = shown(*std::move(outcome), kinds);
    } else {
        answer.fault = std::move(outcome).error();
    }
    return answer;
}

/// What the author bound, and beside it `input`, `event` and `data`.
Value names_of(const ExpressionCase& one) {
    auto names = Value::map({});
    if (one.input) {
        names = names.with("input", *one.input);
    }
    if (one.event) {
        auto bindings = event::EventBindings{*one.event};
        for (auto name : {std::string_view{"event"}, std::string_view{"data"}}) {
            if (auto value = bindings.resolve(std::span{&name, 1})) {
                names = names.with(name, *std::move(value));
            }
        }
    }
    if (one.bindings.is_map()) {
        for (const auto& [name, value] : one.bindings.as_map()) {
            names = names.with(name, value);
        }
    }
    return names;
}

ExpressionAnswer evaluate_cel(const ExpressionCase& one, Kinds kinds) {
    auto outcome = expr::cel::evaluate_case({.text = one.text,
                                             .bindings = names_of(one),
                                             .typed_bindings = one.typed_bindings,
                                             .names = one.names,
                                             .container = one.container},
                                            {}, kinds == Kinds::Shown);
    if (auto* fault = std::get_if<Fault>(&outcome)) {
        return {.fault = std::move(*fault)};
    }
    return {.value = std::get<Value>(std::move(outcome))};
}

ExpressionAnswer evaluate_jsonata(const ExpressionCase& one, Kinds kinds) {
    auto expression = expr::jsonata::Expression::compile(one.text);
    if (!expression) {
        return {.fault = expression.error()};
    }
    auto answer = expression->evaluate(one.input, expr::MapBindings{names_of(one)});
    if (auto* fault = std::get_if<Fault>(&answer)) {
        return {.fault = std::move(*fault)};
    }
    auto* value = std::get_if<Value>(&answer);
    return value != nullptr ? ExpressionAnswer{.value = shown(std::move(*value), kinds)}
                            : ExpressionAnswer{};
}

std::expected<Value, Fault> read_path(const ExpressionCase& one, expr::jsonpath::Dialect dialect) {
    auto path = TRY(expr::jsonpath::Path::compile(one.text, dialect));
    if (!one.input) {
        return std::unexpected(Fault{"no_input", "a path needs a document: expected an input", 0});
    }
    if (dialect == expr::jsonpath::Dialect::Jayway) {
        return path.read(*one.input);
    }
    return Value::list(TRY(path.select(*one.input)));
}

ExpressionAnswer evaluate_rfc_path(const ExpressionCase& one, Kinds kinds) {
    return answer_of(read_path(one, expr::jsonpath::Dialect::Rfc9535), kinds);
}

ExpressionAnswer evaluate_jayway_path(const ExpressionCase& one, Kinds kinds) {
    return answer_of(read_path(one, expr::jsonpath::Dialect::Jayway), kinds);
}

/// Where none is given any event will do.
const event::Event& some_event() {
    static const auto event = event::Builder{"myid", "/test", "com.example.test"}.build();
    return event;
}

ExpressionAnswer evaluate_cesql(const ExpressionCase& one, Kinds kinds) {
    auto expression = expr::cesql::Expression::compile(one.text);
    if (!expression) {
        // It has no value: told as a fault, and with the others where CESQL's readers look.
        return {.fault = expression.error(), .errors = std::vector{expression.error()}};
    }
    const auto& event = one.event ? *one.event : some_event();
    auto answer = expression->evaluate(event::AttributeBindings{event});
    return {.value = shown(std::move(answer.value), kinds), .errors = std::move(answer.errors)};
}

struct Language {
    std::string_view name;
    Evaluator evaluate;
};

constexpr auto languages = std::to_array<Language>({
    {"cel", evaluate_cel},
    {"jsonata", evaluate_jsonata},
    {"jsonpath", evaluate_rfc_path},
    {"jsonpath-jayway", evaluate_jayway_path},
    {"cesql", evaluate_cesql},
});

} // namespace

Evaluator evaluator_of(std::string_view language) {
    const auto* found = std::ranges::find(languages, language, &Language::name);
    return found != languages.end() ? found->evaluate : nullptr;
}

std::vector<std::string> language_names() {
    auto names = std::vector<std::string>{};
    for (const auto& language : languages) {
        names.emplace_back(language.name);
    }
    return names;
}

} // namespace sluice::app
