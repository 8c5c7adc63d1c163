#pragma once

#include <cstddef>

#include "value/value.h"

namespace sluice::workflow::asl::internal::run {

/// How many bytes of JSON a value is, or more than `most` if it is larger than that.
std::size_t json_bytes(const Value& value, std::size_t most);

} // namespace sluice::workflow::asl::internal::run
