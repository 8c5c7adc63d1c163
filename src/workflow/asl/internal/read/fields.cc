#include "workflow/asl/internal/read/fields.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "expr/program.h"
#include "workflow/asl/internal/read/payload_check.h"
#include "workflow/asl/internal/read/variable_name.h"

namespace sluice::workflow::asl::internal {

namespace {

std::optional<Template> compile_template(const Object& object, std::string_view name,
                                         const TemplateSite& site) {
    auto compiled = Template::compile(*object.find(name), site);
    if (compiled) {
        note_names(*compiled, object.at(name), object.report());
        return *std::move(compiled);
    }
    for (const auto& problem : compiled.error()) {
        object.report().add(object.at(name) + problem.pointer, problem.message);
    }
    return std::nullopt;
}

bool is_in(double number, const WholeRange& range) {
    return number >= static_cast<double>(range.min) && number <= static_cast<double>(range.max);
}

void refuse_number(const Object& object, Language language, const NumberRule& rule) {
    object.refuse(rule.name,
                  fmt::format("The field '{}' must be a {} from {} to {}{}", rule.name,
                              rule.may_be_fraction ? "number" : "whole number", rule.range.min,
                              rule.range.max,
                              language == Language::Jsonata ? ", or an expression {% … %}" : ""));
}

NumberField read_given_number(const Object& object, Language language, const NumberRule& rule) {
    const auto& value = *object.find(rule.name);
    if (value.is_string() && language == Language::Jsonata && is_expression(value.as_string())) {
        auto field = NumberField{};
        if (auto compiled = read_template(object, rule.name, {.language = language})) {
            field.source = *std::move(compiled);
        }
        return field;
    }
    auto whole = whole_of(value);
    if (whole && *whole >= rule.range.min && *whole <= rule.range.max) {
        return {.source = *whole};
    }
    if (rule.may_be_fraction && value.is_double() && is_in(value.as_double(), rule.range)) {
        return {.source = value.as_double()};
    }
    refuse_number(object, language, rule);
    return {};
}

} // namespace

NumberField read_number(const Object& object, Language language, const NumberRule& rule) {
    auto has_path = !rule.path_name.empty() && object.has(rule.path_name);
    if (has_path && !object.allow_one_of({rule.name, rule.path_name})) {
        return {};
    }
    if (has_path) {
        auto field = NumberField{};
        if (auto path = read_selector(object, rule.path_name, Selector::Kind::Reference)) {
            field.source = *std::move(path);
        }
        return field;
    }
    return object.has(rule.name) ? read_given_number(object, language, rule) : NumberField{};
}

PathField read_path(const Object& object, std::string_view name) {
    const auto* value = object.find(name);
    if (value != nullptr && value->is_null()) {
        return {.is_null = true};
    }
    if (value != nullptr && value->is_string() && value->as_string() == "$") {
        return {};
    }
    return {.path = read_selector(object, name, Selector::Kind::Path)};
}

ResultPath read_result_path(const Object& object) {
    constexpr auto name = std::string_view{"ResultPath"};
    const auto* value = object.find(name);
    if (value != nullptr && value->is_null()) {
        return {.is_discarded = true};
    }
    auto text = object.text(name);
    if (!text || *text == "$") {
        return {};
    }
    // Amazon States Language, "ResultPath": it may name neither the context object nor a variable.
    if (!text->starts_with("$.") && !text->starts_with("$[")) {
        object.refuse(name, fmt::format("The value for the field 'ResultPath' must be a reference "
                                        "path in the input, such as '$.result', but is '{}'",
                                        *text));
        return {};
    }
    auto place = expr::jsonpath::ReferencePath::compile(*text);
    if (!place) {
        object.refuse(name, fmt::format("The value for the field 'ResultPath' must be a valid "
                                        "reference path: {}",
                                        expr::describe(place.error())));
        return {};
    }
    return {.place = *std::move(place)};
}

std::optional<Selector> read_selector(const Object& object, std::string_view name,
                                      Selector::Kind kind) {
    auto text = object.text(name);
    if (!text) {
        return std::nullopt;
    }
    auto compiled = Selector::compile(*text, kind);
    if (compiled) {
        object.report().note_reads(object.at(name), compiled->variables());
        return *std::move(compiled);
    }
    auto expected = kind == Selector::Kind::Path        ? "JSONPath"
                    : kind == Selector::Kind::Reference ? "reference path"
                                                        : "JSONPath or intrinsic function call";
    object.refuse(name, fmt::format("The value for the field '{}' must be a valid {}: {}", name,
                                    expected, compiled.error()));
    return std::nullopt;
}

std::optional<Template> read_template(const Object& object, std::string_view name,
                                      const TemplateSite& site) {
    const auto* value = object.find(name);
    if (value == nullptr || !check_payload(*value, object.at(name), site, object.report())) {
        return std::nullopt;
    }
    return compile_template(object, name, site);
}

std::optional<Template> read_object_template(const Object& object, std::string_view name,
                                             const TemplateSite& site) {
    const auto* value = object.find(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    auto is_computed = site.language == Language::Jsonata && value->is_string() &&
                       is_expression(value->as_string());
    if (!value->is_map() && !is_computed) {
        object.refuse(name, wrong_kind(name,
                                       site.language == Language::Jsonata
                                           ? "an object or an expression {% … %}"
                                           : "an object",
                                       *value));
        return std::nullopt;
    }
    return read_template(object, name, site);
}

std::optional<Template> read_assign(const Object& object, const TemplateSite& site) {
    constexpr auto name = std::string_view{"Assign"};
    auto assign = object.object(name);
    if (!assign) {
        return std::nullopt;
    }
    for (const auto& [key, value] : assign->form().as_map()) {
        if (auto fault = fault_of_variable(variable_of(key, site.language))) {
            assign->refuse(key, *std::move(fault));
        } else if (key.contains('-')) {
            object.report().warn(assign->at(key),
                                 fmt::format("'{}' is no name that paths and expressions can use; "
                                             "write letters, digits and '_'",
                                             key),
                                 code::odd_variable);
        }
    }
    return read_template(object, name, site);
}

FailState::Text read_fail_text(const Object& object, Language language, std::string_view name,
                               std::string_view path_name) {
    object.allow_one_of({name, path_name});
    if (object.has(path_name)) {
        auto path = read_selector(object, path_name, Selector::Kind::PathOrFunction);
        return path ? FailState::Text{*std::move(path)} : FailState::Text{};
    }
    auto text = object.text(name);
    if (!text) {
        return {};
    }
    if (language == Language::Jsonata) {
        auto compiled = read_template(object, name, {.language = language});
        return compiled && !compiled->is_constant() ? FailState::Text{*std::move(compiled)}
                                                    : FailState::Text{std::string{*text}};
    }
    warn_of_path(*text, name, object.at(name), object.report());
    return std::string{*text};
}

} // namespace sluice::workflow::asl::internal
