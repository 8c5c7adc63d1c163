#pragma once

#include <optional>
#include <string_view>

#include "expr/cel/internal/lexer.h"
#include "value/value.h"

namespace sluice::expr::cel::internal {

/// What a number token stands for, with its sign; nothing when it is out of range.
std::optional<Value> read_number(const Token& token, std::string_view sign);

} // namespace sluice::expr::cel::internal
