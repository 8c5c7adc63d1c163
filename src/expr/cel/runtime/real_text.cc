#include "expr/cel/runtime/real_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

namespace sluice::expr::cel::runtime {

std::optional<double> read_double(std::string_view text) {
    auto number = 0.0;
    auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    // "nan(…)" is a form of C, not of CEL.
    if (read.ptr != text.data() + text.size() || text.ends_with(')')) {
        return std::nullopt;
    }
    if (read.ec == std::errc::result_out_of_range) {
        // from_chars does not tell too small from too large.
        number = std::strtod(std::string{text}.c_str(), nullptr);
        return std::isinf(number) ? std::nullopt : std::optional{number};
    }
    return read.ec == std::errc{} ? std::optional{number} : std::nullopt;
}

} // namespace sluice::expr::cel::runtime
