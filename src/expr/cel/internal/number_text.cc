#include "expr/cel/internal/number_text.h"

#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "expr/cel/runtime/real_text.h"

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

std::optional<Value> read_number(const Token& token, std::string_view sign) {
    auto text = std::string{sign} + std::string{token.text};
    if (token.kind == TokenKind::Int) {
        return read_whole<std::int64_t>(std::move(text));
    }
    if (token.kind == TokenKind::Uint) {
        text.pop_back();
        return read_whole<std::uint64_t>(std::move(text));
    }
    auto number = runtime::read_double(text);
    return number ? std::optional{Value{*number}} : std::nullopt;
}

} // namespace sluice::expr::cel::internal
