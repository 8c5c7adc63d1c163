#include "workflow/raw/compile.h"

namespace sluice::workflow::raw {

namespace {

Definition compile_form(const Value& form) {
    auto definition = Definition{};
    const auto* name = form.find("name");
    if (name != nullptr && name->is_string()) {
        definition.name = name->as_string();
    }
    definition.form = form.without("functions").without("definitions");
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
    return compile(document.form);
}

Definition compile(const Value& form) {
    auto definition = compile_form(form);
    if (const auto* section = form.find("functions")) {
        auto problems = std::vector<trigger::Problem>{};
        definition.functions = read_functions(*section, problems);
    }
    if (const auto* input = form.find("input")) {
        definition.input = *input;
    }
    return definition;
}

} // namespace sluice::workflow::raw
