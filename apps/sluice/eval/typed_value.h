#pragma once

#include "value/value.h"

namespace sluice::app {

/// The value as a map with one member that names its kind: `{"int": "5"}`, `{"list": [{"bool":
/// true}]}`. Too deep a value is cut off with null.
Value with_kinds(const Value& value);

} // namespace sluice::app
