#pragma once

#include <memory>
#include <string_view>

#include <re2/re2.h>

#include "expr/cel/runtime/machine.h"

namespace sluice::expr::cel::runtime {

/// Bounded in size, quiet. What is wrong with it says its `error()`.
std::unique_ptr<re2::RE2> make_pattern(std::string_view text);

/// Whether the pattern occurs anywhere in the text. RE2 takes time in proportion to both.
Cell matches(Machine& machine, const re2::RE2& pattern, const Cell& text);

} // namespace sluice::expr::cel::runtime
