#pragma once

#include <expected>
#include <string_view>

#include "value/value.h"
#include "workflow/asl/read.h"

namespace sluice::workflow::asl {

/// A definition's text as the service takes it, which is JSON: its form, or in the service's words
/// why it is none. Keys given twice are refused.
std::expected<Value, Diagnostic> parse(std::string_view text);

} // namespace sluice::workflow::asl
