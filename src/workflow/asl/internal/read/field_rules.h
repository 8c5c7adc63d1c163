#pragma once

#include <optional>
#include <string_view>

#include "workflow/asl/internal/read/object.h"
#include "workflow/asl/machine.h"

namespace sluice::workflow::asl::internal {

/// Every field is one that states of this kind have in this query language.
void check_fields(const Object& state, Kind kind, Language language);

std::optional<Kind> kind_named(std::string_view name);

} // namespace sluice::workflow::asl::internal
