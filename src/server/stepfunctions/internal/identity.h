#pragma once

#include <string>

namespace sluice::server::stepfunctions {

/// A random UUID.
std::string make_uuid();

} // namespace sluice::server::stepfunctions
