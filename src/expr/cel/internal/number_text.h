#pragma once

#include <optional>
#include <string_view>

#include "expr/cel/internal/lexer.h"
#include "value/value.h"

namespace sluice::expr::cel::internal {

/// The nearest double to a decimal text without a `+`; what is too small is 0. Nothing when it is
/// no number or too large; "inf" and "nan" are numbers here.
std::optional<double> read_double(std::string_view text);

/// What a number token stands for, with its sign; nothing when it is out of range.
std::optional<Value> read_number(const Token& token, std::string_view sign);

} // namespace sluice::expr::cel::internal
