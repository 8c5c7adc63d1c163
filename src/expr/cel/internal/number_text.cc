#include "expr/cel/internal/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace sluice::expr::cel::internal {
namespace {

template <typename Number>
std::optional<Value> read_whole(std::string text) {
    auto prefix = text.find("0x");
    auto base = 10;
    if (prefix != std::string::npos) {
        text.erase(prefix, 2);
        base = 16;
    }
    auto number = Number{0};
    auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return read.ec == std::errc{} ? std::optional{Value{number}} : std::nullopt;
}

} // namespace

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

std::optional<Value> read_number(const Token& token, std::string_view sign) {
    auto text = std::string{sign} + std::string{token.text};
    if (token.kind == TokenKind::Int) {
        return read_whole<std::int64_t>(std::move(text));
    }
    if (token.kind == TokenKind::Uint) {
        text.pop_back();
        return read_whole<std::uint64_t>(std::move(text));
    }
    return read_double(text);
}

} // namespace sluice::expr::cel::internal
