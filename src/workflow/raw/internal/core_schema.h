#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "value/value.h"

namespace sluice::workflow::raw::internal {

/// What a plain scalar means: YAML 1.2.2, section 10.3, "Core Schema". Integers that fit int64 are
/// Int, else those that fit uint64 Uint, others Double, as in JSON. Infinities and what is not a
/// number are refused: JSON has no word for them.
std::expected<Value, std::string> resolve_plain(std::string_view text);

} // namespace sluice::workflow::raw::internal
