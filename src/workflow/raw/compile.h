#pragma once

#include <string>
#include <vector>

#include "value/value.h"
#include "workflow/raw/function_form.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::raw {

/// A definition in the form that trigger::parse_set reads, with what its author put around it.
struct Definition {
    std::string name;
    std::string language = "triggers";
    Value form;
    std::vector<Definition> nested;
    std::vector<FunctionForm> functions; ///< Of the whole file; none in nested ones.
    Value input;                         ///< For a run that is started without; null: none.
};

/// The document must have passed `check`.
Definition compile(const Document& document);
/// The same of a form that is a part of another document.
Definition compile(const Value& form);

} // namespace sluice::workflow::raw
