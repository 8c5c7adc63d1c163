#pragma once

#include <string_view>

namespace sluice::server {

/// docs/reference/openapi.json, which the build puts into the program.
extern const std::string_view openapi_description;

} // namespace sluice::server
