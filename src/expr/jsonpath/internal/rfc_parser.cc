#include "expr/jsonpath/internal/rfc_parser.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/utf8.h"
#include "expr/jsonpath/internal/filter_limits.h"
#include "expr/jsonpath/internal/regexp.h"

namespace sluice::expr::jsonpath::internal {
namespace {

using Kind = Expression::Kind;

/// RFC 9535, 2.4.1: what a function takes and yields.
enum class Type : std::uint8_t { Value, Logical, Nodes };

struct Signature {
    std::string_view name;
    Function function;
    Type result;
    std::array<Type, 2> parameters;
    std::size_t arity;
};

constexpr auto signatures = std::to_array<Signature>({
    {"length", Function::Length, Type::Value, {Type::Value}, 1},
    {"count", Function::Count, Type::Value, {Type::Nodes}, 1},
    {"match", Function::Match, Type::Logical, {Type::Value, Type::Value}, 2},
    {"search", Function::Search, Type::Logical, {Type::Value, Type::Value}, 2},
    {"value", Function::Value, Type::Value, {Type::Nodes}, 1},
});

const Signature& signature_of(Function function) {
    return *std::ranges::find(signatures, function, &Signature::function);
}

bool is_name_first(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || c == '_' || is_digit(c);
}

class RfcParser {
public:
    explicit RfcParser(std::string_view text) : cursor_{text} {}

    Parsed<Query> run() {
        if (cursor_.peek() != '$') {
            return cursor_.expected("$, with which a path begins");
        }
        auto query = TRY(path());
        if (!cursor_.is_at_end()) {
            return cursor_.expected(". or [ or the end");
        }
        return query;
    }

private:
    /// From its `$` or `@` on.
    Parsed<Query> path() {
        auto query = Query{};
        query.position = cursor_.position();
        query.is_from_root = cursor_.peek() == '$';
        cursor_.advance();
        while (true) {
            auto before = cursor_.position();
            cursor_.skip_blanks();
            if (cursor_.peek() != '.' && cursor_.peek() != '[') {
                cursor_.return_to(before);
                return query;
            }
            auto next = TRY(segment());
            query.is_definite = query.is_definite && !next.is_descendant &&
                                next.selectors.size() == 1 && next.selectors[0].index() < 2;
            query.segments.push_back(std::move(next));
        }
    }

    Parsed<Segment> segment() {
        auto made = Segment{};
        made.is_descendant = cursor_.take("..");
        auto is_shorthand = made.is_descendant || cursor_.take(".");
        if (cursor_.peek() == '[' && (made.is_descendant || !is_shorthand)) {
            made.selectors = TRY(bracketed());
        } else if (cursor_.take("*")) {
            made.selectors.emplace_back(Wildcard{});
        } else {
            made.selectors.emplace_back(Name{TRY(shorthand())});
        }
        return made;
    }

    Parsed<std::string> shorthand() {
        if (cursor_.is_at_end() || !is_name_first(cursor_.peek())) {
            return cursor_.expected(
                "a name (a letter or _ first; others are written ['name']), * or [");
        }
        auto name = std::string{};
        while (!cursor_.is_at_end() &&
               (is_name_first(cursor_.peek()) || is_digit(cursor_.peek()))) {
            name += cursor_.peek();
            cursor_.advance();
        }
        return name;
    }

    Parsed<std::vector<Selector>> bracketed() {
        auto made = std::vector<Selector>{};
        do {
            cursor_.advance(); // The bracket or the comma.
            cursor_.skip_blanks();
            made.push_back(TRY(selector()));
            cursor_.skip_blanks();
        } while (cursor_.peek() == ',');
        TRY(cursor_.expect("]", "or , behind a selector"));
        return made;
    }

    Parsed<Selector> selector() {
        auto c = cursor_.peek();
        if (c == '\'' || c == '"') {
            return Name{TRY(cursor_.quoted())};
        }
        if (cursor_.take("*")) {
            return Wildcard{};
        }
        if (cursor_.take("?")) {
            cursor_.skip_blanks();
            return Filter{std::make_shared<const Expression>(TRY(disjunction()))};
        }
        if (c == ':' || c == '-' || is_digit(c)) {
            return parse_index_or_slice(cursor_);
        }
        return cursor_.expected("a quoted name, an index, a slice, * or ?");
    }

    Parsed<Expression> disjunction() {
        if (depth_ == nesting_max) {
            return Cursor::fault_at(cursor_.position(), "at most {} filters and brackets nest",
                                    nesting_max);
        }
        ++depth_;
        auto made = TRY(chain(Kind::Or, "||"));
        --depth_;
        return made;
    }

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

    Parsed<Expression> basic() {
        if (cursor_.take("!")) {
            cursor_.skip_blanks();
            auto negated = Expression{.kind = Kind::Not};
            negated.parts.push_back(cursor_.peek() == '(' ? TRY(bracket()) : TRY(test()));
            return negated;
        }
        if (cursor_.peek() == '(') {
            return bracket();
        }
        return test_or_comparison();
    }

    Parsed<Expression> bracket() {
        cursor_.advance();
        auto made = TRY(disjunction());
        TRY(cursor_.expect(")", "behind what is in brackets"));
        return made;
    }

    Parsed<Expression> test() {
        auto begin = cursor_.position();
        return as_test(TRY(operand()), begin);
    }

    Parsed<Expression> test_or_comparison() {
        auto begin = cursor_.position();
        auto left = TRY(operand());
        auto before = cursor_.position();
        cursor_.skip_blanks();
        auto comparison = take_comparison();
        if (!comparison) {
            cursor_.return_to(before);
            return as_test(std::move(left), begin);
        }
        TRY(check_comparable(left, begin));
        cursor_.skip_blanks();
        auto right_begin = cursor_.position();
        auto right = TRY(operand());
        TRY(check_comparable(right, right_begin));
        auto made = Expression{.kind = Kind::Compare, .comparison = *comparison};
        made.parts.push_back(std::move(left));
        made.parts.push_back(std::move(right));
        return made;
    }

    std::optional<Operator> take_comparison() {
        constexpr auto signs =
            std::to_array<std::pair<std::string_view, Operator>>({{"==", Operator::Equal},
                                                                  {"!=", Operator::NotEqual},
                                                                  {"<=", Operator::LessEqual},
                                                                  {">=", Operator::GreaterEqual},
                                                                  {"<", Operator::Less},
                                                                  {">", Operator::Greater}});
        for (const auto& [sign, comparison] : signs) {
            if (cursor_.take(sign)) {
                return comparison;
            }
        }
        return std::nullopt;
    }

    static Parsed<Expression> as_test(Expression operand, std::size_t begin) {
        if (operand.kind == Kind::Literal) {
            return Cursor::fault_at(begin, "a literal is no test: expected a comparison with it");
        }
        if (operand.kind == Kind::Path) {
            operand.kind = Kind::Exists;
            return operand;
        }
        const auto& signature = signature_of(operand.function);
        if (signature.result == Type::Value) {
            return Cursor::fault_at(begin, "{}() yields a value: expected a comparison with it",
                                    signature.name);
        }
        return operand;
    }

    static Parsed<void> check_comparable(const Expression& operand, std::size_t begin) {
        if (operand.kind == Kind::Path && !operand.query.is_definite) {
            return Cursor::fault_at(
                begin,
                "only a path of single names and indices can be compared: others may yield "
                "several values");
        }
        if (operand.kind == Kind::Call && signature_of(operand.function).result != Type::Value) {
            return Cursor::fault_at(begin, "{}() yields a truth, which cannot be compared",
                                    signature_of(operand.function).name);
        }
        return {};
    }

    Parsed<Expression> operand() {
        auto c = cursor_.peek();
        auto made = Expression{};
        if (c == '@' || c == '$') {
            made.kind = Kind::Path;
            made.query = TRY(path());
        } else if (c == '\'' || c == '"') {
            made.literal = Value{TRY(cursor_.quoted())};
        } else if (c == '-' || is_digit(c)) {
            made.literal = TRY(cursor_.number());
        } else if (c >= 'a' && c <= 'z') {
            return word();
        } else {
            return cursor_.expected("a path from @ or $, a literal or a function");
        }
        return made;
    }

    Parsed<Expression> word() {
        auto begin = cursor_.position();
        auto length = std::size_t{0};
        while (is_word(cursor_.peek(length))) {
            ++length;
        }
        auto text = cursor_.rest().substr(0, length);
        cursor_.advance(length);
        if (cursor_.peek() == '(') {
            return call(text, begin);
        }
        if (text == "true" || text == "false") {
            return Expression{.literal = Value{text == "true"}};
        }
        if (text == "null") {
            return Expression{};
        }
        return Cursor::fault_at(begin, "expected true, false, null or a function, found {}", text);
    }

    Parsed<Expression> call(std::string_view name, std::size_t begin) {
        const auto* signature = std::ranges::find(signatures, name, &Signature::name);
        if (signature == signatures.end()) {
            return Cursor::fault_at(
                begin, "there is no function {}: expected length, count, match, search or value",
                name);
        }
        if (++depth_ > nesting_max) {
            return Cursor::fault_at(begin, "at most {} functions nest", nesting_max);
        }
        auto made = Expression{.kind = Kind::Call, .function = signature->function};
        TRY(arguments(*signature, made));
        if (made.parts.size() != signature->arity) {
            return Cursor::fault_at(begin, "{}() takes {} argument{}, found {}", name,
                                    signature->arity, signature->arity == 1 ? "" : "s",
                                    made.parts.size());
        }
        --depth_;
        prepare(made);
        return made;
    }

    Parsed<void> arguments(const Signature& signature, Expression& made) {
        cursor_.advance();
        cursor_.skip_blanks();
        while (cursor_.peek() != ')') {
            auto begin = cursor_.position();
            auto given = TRY(operand());
            if (made.parts.size() < signature.arity) {
                TRY(check_argument(signature, made.parts.size(), given, begin));
            }
            made.parts.push_back(std::move(given));
            cursor_.skip_blanks();
            if (!cursor_.take(",")) {
                break;
            }
            cursor_.skip_blanks();
            if (cursor_.peek() == ')') {
                return cursor_.expected("an argument behind ,");
            }
        }
        return cursor_.expect(")", "or , behind an argument");
    }

    static Parsed<void> check_argument(const Signature& signature, std::size_t place,
                                       const Expression& given, std::size_t begin) {
        if (signature.parameters.at(place) == Type::Nodes) {
            if (given.kind != Kind::Path) {
                return Cursor::fault_at(begin, "{}() takes a path", signature.name);
            }
            return {};
        }
        return check_comparable(given, begin);
    }

    /// A literal pattern is compiled once, here.
    static void prepare(Expression& call) {
        auto takes_pattern = call.function == Function::Match || call.function == Function::Search;
        if (takes_pattern && call.parts[1].kind == Kind::Literal) {
            call.has_pattern = true;
            const auto& text = call.parts[1].literal;
            auto pattern = text.is_string() ? translate_iregexp(text.as_string()) : std::nullopt;
            call.pattern = pattern ? compile_regexp(*pattern) : nullptr;
        }
    }

    Cursor cursor_;
    std::size_t depth_ = 0;
};

} // namespace

Parsed<Query> parse_rfc(std::string_view text) {
    TRY(check_text(text));
    return RfcParser{text}.run();
}

} // namespace sluice::expr::jsonpath::internal
