#include "workflow/raw/compile.h"

#include "workflow/raw/internal/function_reader.h"

namespace sluice::workflow::raw {

namespace {

Definition compile_form(const Value& form) {
    auto definition = Definition{};
    const auto* name = form.find("name");
    if (name != nullptr && name->is_string()) {
        definition.name = name->as_string();
    }
    definition.form = form.without("functions").without("definitions").without("input");
    const auto* nested = form.find("definitions");
    if (nested != nullptr && nested->is_map()) {
        for (const auto& [key, inner] : nested->as_map()) {
            definition.nested.push_back(compile_form(inner.with("name", key)));
        }
    }
    return definition;
}

} // namespace

Definition compile(const Document& document) {
    auto definition = compile_form(document.form);
    if (const auto* section = document.form.find("functions")) {
        auto problems = std::vector<trigger::Problem>{};
        definition.functions = internal::read_functions(*section, problems);
    }
    if (const auto* input = document.form.find("input")) {
        definition.input = *input;
    }
    return definition;
}

} // namespace sluice::workflow::raw
