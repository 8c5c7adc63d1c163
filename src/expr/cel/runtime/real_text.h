#pragma once

#include <optional>
#include <string_view>

namespace sluice::expr::cel::runtime {

/// The nearest double to a decimal text without a `+`; what is too small is 0. Nothing when it is
/// no number or too large; "inf" and "nan" are numbers here.
std::optional<double> read_double(std::string_view text);

} // namespace sluice::expr::cel::runtime
