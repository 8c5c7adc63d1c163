#pragma once

#include <string_view>

#include "workflow/asl/machine.h"

namespace sluice::workflow::asl::internal {

/// Whether the service has this integration and offers it with this pattern. Of SDK integrations
/// only the form is known: there are thousands, and more every week.
bool is_known_integration(std::string_view service, std::string_view action, Pattern pattern);

} // namespace sluice::workflow::asl::internal
