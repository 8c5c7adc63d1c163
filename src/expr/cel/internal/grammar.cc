#include "expr/cel/internal/grammar.h"

#include <algorithm>

namespace sluice::expr::cel::internal {
namespace {

constexpr auto keywords = std::array<std::string_view, 4>{"true", "false", "null", "in"};
constexpr auto reserved_words = std::array<std::string_view, 17>{
    "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
    "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};

} // namespace

bool is_keyword(std::string_view word) {
    return std::ranges::find(keywords, word) != keywords.end();
}

bool is_reserved(std::string_view word) {
    return std::ranges::find(reserved_words, word) != reserved_words.end();
}

KindSet result_kinds(Op op, KindSet left, KindSet right) {
    if (op >= Op::Equal) {
        return bool_only;
    }
    for (auto kind : {Kind::Int, Kind::Uint, Kind::Double, Kind::String, Kind::List}) {
        if (left == only(kind) || right == only(kind)) {
            return only(kind);
        }
    }
    return arithmetic_kinds;
}

} // namespace sluice::expr::cel::internal
