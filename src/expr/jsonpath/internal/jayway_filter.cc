#include "expr/jsonpath/internal/jayway_filter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "expr/jsonpath/internal/filter_limits.h"
#include "expr/jsonpath/internal/jayway_parser.h"
#include "expr/jsonpath/internal/regexp.h"
#include "value/json.h"

namespace sluice::expr::jsonpath::internal {
namespace {

using Kind = Expression::Kind;

// Longer signs first: each is taken where it begins.
constexpr auto jayway_signs = std::to_array<std::pair<std::string_view, Operator>>({
    {"===", Operator::StrictlyEqual},
    {"!==", Operator::StrictlyNotEqual},
    {"==", Operator::LooselyEqual},
    {"=~", Operator::Matches},
    {"!=", Operator::LooselyNotEqual},
    {"<=", Operator::BeforeOrEqual},
    {">=", Operator::AfterOrEqual},
    {"<", Operator::Before},
    {">", Operator::After},
});

constexpr auto jayway_words = std::to_array<std::pair<std::string_view, Operator>>({
    {"in", Operator::In},
    {"nin", Operator::NotIn},
    {"subsetof", Operator::SubsetOf},
    {"anyof", Operator::AnyOf},
    {"noneof", Operator::NoneOf},
    {"contains", Operator::Contains},
    {"size", Operator::Size},
    {"empty", Operator::Empty},
});

class JaywayFilter {
public:
    JaywayFilter(Cursor& cursor, std::size_t depth) : cursor_{cursor}, depth_{depth} {}

    Parsed<Expression> disjunction() { return chain(Kind::Or, "||"); }

    Parsed<Expression> operand() {
        cursor_.skip_blanks();
        auto c = cursor_.peek();
        if (c == '@' || c == '$') {
            auto made = Expression{.kind = Kind::Path};
            made.query = TRY(parse_jayway_path(cursor_, Place::InFilter, depth_));
            return made;
        }
        if (c == '/') {
            return pattern();
        }
        return Expression{.literal = TRY(literal())};
    }

private:
    Parsed<Expression> chain(Kind kind, std::string_view sign) {
        auto made = Expression{.kind = kind};
        do {
            cursor_.skip_blanks();
            made.parts.push_back(kind == Kind::Or ? TRY(chain(Kind::And, "&&")) : TRY(basic()));
            cursor_.skip_blanks();
        } while (cursor_.take(sign));
        if (made.parts.size() == 1) {
            return std::move(made.parts.front());
        }
        return made;
    }

    Parsed<void> enter() {
        if (++depth_ > nesting_max) {
            return Cursor::fault_at(cursor_.position(), "at most {} brackets nest", nesting_max);
        }
        return {};
    }

    Parsed<Expression> basic() {
        TRY(enter());
        auto made = cursor_.peek() == '!'   ? TRY(negation())
                    : cursor_.peek() == '(' ? TRY(bracket())
                                            : TRY(comparison());
        --depth_;
        return made;
    }

    Parsed<Expression> negation() {
        cursor_.advance();
        cursor_.skip_blanks();
        auto made = Expression{.kind = Kind::Not};
        made.parts.push_back(TRY(basic()));
        return made;
    }

    Parsed<Expression> bracket() {
        cursor_.advance();
        auto made = TRY(disjunction());
        cursor_.skip_blanks();
        TRY(cursor_.expect(")", "behind what is in brackets"));
        return made;
    }

    Parsed<Expression> comparison() {
        auto begin = cursor_.position();
        auto left = TRY(operand());
        cursor_.skip_blanks();
        auto sign = take_operator();
        if (!sign) {
            if (left.kind == Kind::Path) {
                left.kind = Kind::Exists;
            } else if (!left.literal.is_bool() || left.has_pattern) {
                return Cursor::fault_at(begin, "a literal is no test: expected a comparison");
            }
            return left;
        }
        auto right = TRY(operand());
        auto made = Expression{.kind = Kind::Compare, .comparison = *sign};
        if (*sign == Operator::Matches) {
            TRY(prepare_pattern(right, made, begin));
        }
        made.parts.push_back(std::move(left));
        made.parts.push_back(std::move(right));
        return made;
    }

    std::optional<Operator> take_operator() {
        for (const auto& [sign, meaning] : jayway_signs) {
            if (cursor_.take(sign)) {
                return meaning;
            }
        }
        auto word = std::string{};
        while (std::isalpha(static_cast<unsigned char>(cursor_.peek(word.size()))) != 0) {
            word += static_cast<char>(
                std::tolower(static_cast<unsigned char>(cursor_.peek(word.size()))));
        }
        for (const auto& [name, meaning] : jayway_words) {
            if (word == name) {
                cursor_.advance(word.size());
                return meaning;
            }
        }
        return std::nullopt;
    }

    /// `/…/` with the flags that RE2 has too.
    Parsed<Expression> pattern() {
        auto begin = cursor_.position();
        cursor_.advance();
        auto text = std::string{};
        while (cursor_.peek() != '/') {
            if (cursor_.is_at_end()) {
                return Cursor::fault_at(begin, "the pattern has no end: expected a closing /");
            }
            if (cursor_.take("\\/")) {
                text += '/';
                continue;
            }
            if (cursor_.peek() == '\\') {
                text += '\\';
                cursor_.advance();
            }
            if (!cursor_.is_at_end()) {
                text += cursor_.peek();
                cursor_.advance();
            }
        }
        cursor_.advance();
        auto made = Expression{.has_pattern = true};
        auto flags = std::string{};
        while (std::string_view{"imsuUd"}.find(cursor_.peek()) != std::string_view::npos &&
               !cursor_.is_at_end()) {
            auto flag = cursor_.peek();
            flags += flag == 'i' || flag == 'm' || flag == 's' ? std::string{flag} : "";
            cursor_.advance();
        }
        made.literal = Value{flags.empty() ? text : fmt::format("(?{}:{})", flags, text)};
        return made;
    }

    static Parsed<void> prepare_pattern(const Expression& right, Expression& made,
                                        std::size_t begin) {
        if (right.kind == Kind::Path) {
            return {};
        }
        if (!right.literal.is_string()) {
            return Cursor::fault_at(begin, "expected a pattern such as /a.*/i behind =~");
        }
        made.has_pattern = true;
        made.pattern = compile_regexp(right.literal.as_string());
        if (made.pattern == nullptr) {
            return Cursor::fault_at(begin,
                                    "expected a regular expression without look-around and "
                                    "back-references, found {}",
                                    right.literal.as_string());
        }
        return {};
    }

    Parsed<Value> literal() {
        auto c = cursor_.peek();
        if (c == '\'' || c == '"') {
            return Value{TRY(parse_quoted(cursor_))};
        }
        if (c == '-' || is_digit(c)) {
            return cursor_.number();
        }
        if (c == '[') {
            return list();
        }
        if (c == '{') {
            return object();
        }
        if (cursor_.take("true")) {
            return Value{true};
        }
        if (cursor_.take("false")) {
            return Value{false};
        }
        if (cursor_.take("null")) {
            return Value{};
        }
        // State machines in use write texts without quotes too.
        auto word = std::string{};
        while (is_word_letter(cursor_.peek())) {
            word += cursor_.peek();
            cursor_.advance();
        }
        if (word.empty()) {
            return cursor_.expected("a path from @ or $, or a literal");
        }
        return Value{word};
    }

    static bool is_word_letter(char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    }

    Parsed<Value> list() {
        TRY(enter());
        auto items = std::vector<Value>{};
        cursor_.advance();
        cursor_.skip_blanks();
        while (cursor_.peek() != ']') {
            cursor_.skip_blanks();
            items.push_back(TRY(literal()));
            cursor_.skip_blanks();
            if (!cursor_.take(",")) {
                break;
            }
        }
        TRY(cursor_.expect("]", "or , in a list"));
        --depth_;
        return Value::list(std::move(items));
    }

    Parsed<Value> object() {
        TRY(enter());
        auto members = std::vector<value::Member>{};
        cursor_.advance();
        cursor_.skip_blanks();
        while (cursor_.peek() != '}') {
            cursor_.skip_blanks();
            if (cursor_.peek() != '"' && cursor_.peek() != '\'') {
                return cursor_.expected("a quoted key");
            }
            auto key = TRY(parse_quoted(cursor_));
            cursor_.skip_blanks();
            TRY(cursor_.expect(":", "behind a key"));
            cursor_.skip_blanks();
            auto value = TRY(literal());
            members.push_back({std::move(key), std::move(value)});
            cursor_.skip_blanks();
            if (!cursor_.take(",")) {
                break;
            }
        }
        TRY(cursor_.expect("}", "or , in an object"));
        --depth_;
        return Value::map(std::move(members));
    }

    Cursor& cursor_;
    std::size_t depth_;
};

} // namespace

Parsed<Expression> parse_jayway_filter(Cursor& cursor, std::size_t depth) {
    return JaywayFilter{cursor, depth}.disjunction();
}

Parsed<Expression> parse_jayway_operand(Cursor& cursor, std::size_t depth) {
    return JaywayFilter{cursor, depth}.operand();
}

} // namespace sluice::expr::jsonpath::internal
