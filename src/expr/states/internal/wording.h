#pragma once

#include <string>
#include <string_view>

#include "expr/states/internal/rooted_path.h"
#include "expr/states/sight.h"
#include "value/value.h"

namespace sluice::expr::states::internal {

/// "The JSONPath '…' specified for the field '…' could not be found in the input '…'".
Failure not_found(const RootedPath& path, std::string_view field, const Sight& sight);

/// "The JSONata expression '…' specified for the field '…' …".
Failure evaluation_failure(std::string_view expression, std::string_view field,
                           std::string_view what);

/// What JSON calls the type of a value.
std::string_view json_type_of(const Value& value);

} // namespace sluice::expr::states::internal
