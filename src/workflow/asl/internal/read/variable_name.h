#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "expr/states/sight.h"

namespace sluice::workflow::asl::internal {

/// The variable that a key of `Assign` names: in JSONPath without the `.$`.
std::string_view variable_of(std::string_view key, expr::states::Language language);

/// Why a name is none for a variable.
std::optional<std::string> fault_of_variable(std::string_view name);

} // namespace sluice::workflow::asl::internal
