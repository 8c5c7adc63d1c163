#pragma once

#include <string_view>

#include "workflow/raw/internal/tree.h"

namespace sluice::workflow::raw::internal {

/// YAML by yaml-cpp, whose exceptions end here. The text has passed both screens.
void read_yaml(std::string_view text, Tree& tree);
/// JSON by the parser that events go through. The text has passed the first screen.
void read_json(std::string_view text, Tree& tree);

} // namespace sluice::workflow::raw::internal
