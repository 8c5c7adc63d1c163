#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "value/value.h"
#include "workflow/asl/machine.h"

namespace sluice::workflow::asl::testing {

/// A definition's form; the text must be JSON.
Value form_of(std::string_view text);

/// The definition of a machine whose only state, `S`, is this one. Whatever it may go to, `Next`,
/// is there too when the text has the word.
std::string definition_with(std::string_view state);

/// The machine of a definition, which must be valid.
std::shared_ptr<const Machine> machine_of(std::string_view text);
std::shared_ptr<const Machine> machine_with(std::string_view state);

/// "CODE at /location" for each problem, on lines of their own; empty: it is valid.
std::string problems_of(std::string_view text);

} // namespace sluice::workflow::asl::testing
