#include "expr/jsonpath/internal/jayway_parser.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/utf8.h"
#include "expr/jsonpath/internal/filter_limits.h"
#include "expr/jsonpath/internal/jayway_filter.h"

namespace sluice::expr::jsonpath::internal {
namespace {

struct TailName {
    std::string_view name;
    Tail tail;
    std::size_t arguments_min;
    std::size_t arguments_max;
};

constexpr auto tail_names = std::to_array<TailName>({
    {"length", Tail::Length, 0, 0},
    {"size", Tail::Length, 0, 0},
    {"min", Tail::Min, 0, 64},
    {"max", Tail::Max, 0, 64},
    {"avg", Tail::Avg, 0, 64},
    {"stddev", Tail::Stddev, 0, 64},
    {"sum", Tail::Sum, 0, 64},
    {"keys", Tail::Keys, 0, 0},
    {"first", Tail::First, 0, 0},
    {"last", Tail::Last, 0, 0},
    {"index", Tail::Index, 1, 1},
    {"concat", Tail::Concat, 0, 64},
    {"append", Tail::Append, 1, 64},
});

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class JaywayPath {
public:
    JaywayPath(Cursor& cursor, Place place, std::size_t depth)
        : cursor_{cursor}, place_{place}, depth_{depth} {}

    Parsed<Query> run() {
        query_.position = cursor_.position();
        query_.is_from_root = cursor_.peek() == '$';
        cursor_.advance();
        while (!query_.tail && (cursor_.peek() == '.' || cursor_.peek() == '[')) {
            TRY(segment());
        }
        return std::move(query_);
    }

private:
    Parsed<void> segment() {
        auto made = Segment{};
        made.is_descendant = cursor_.take("..");
        auto is_dotted = made.is_descendant || cursor_.take(".");
        if (cursor_.peek() == '[') {
            TRY(bracketed(made));
        } else if (cursor_.take("*")) {
            made.selectors.emplace_back(Wildcard{});
        } else if (is_dotted) {
            auto begin = cursor_.position();
            auto name = TRY(dotted_name());
            if (cursor_.peek() == '(') {
                return tail(name, begin, made.is_descendant);
            }
            made.selectors.emplace_back(Name{std::move(name)});
        }
        query_.is_definite = query_.is_definite && !made.is_descendant &&
                             made.selectors.size() == 1 && made.selectors[0].index() < 2;
        query_.has_descendants = query_.has_descendants || made.is_descendant;
        query_.segments.push_back(std::move(made));
        return {};
    }

    bool ends_name(char c) const {
        constexpr auto in_filters = std::string_view{")&|=!<>,]~"};
        return c == '.' || c == '[' || c == '(' || is_blank(c) ||
               (place_ == Place::InFilter && in_filters.find(c) != std::string_view::npos);
    }

    Parsed<std::string> dotted_name() {
        auto name = std::string{};
        while (!cursor_.is_at_end() && !ends_name(cursor_.peek())) {
            if (cursor_.peek() == '\\') {
                cursor_.advance();
                if (cursor_.is_at_end()) {
                    return cursor_.expected("a character behind \\");
                }
            }
            auto size = decode_utf8(cursor_.rest()).size;
            name += cursor_.rest().substr(0, size);
            cursor_.advance(size);
        }
        if (name.empty()) {
            return cursor_.expected("a name, * or [ behind a point");
        }
        if (place_ == Place::Alone && is_blank(cursor_.peek())) {
            return cursor_.expected("a name without blanks: others are written ['my name']");
        }
        return name;
    }

    Parsed<void> bracketed(Segment& made) {
        cursor_.advance();
        cursor_.skip_blanks();
        if (cursor_.take("?")) {
            made.selectors.emplace_back(TRY(filter()));
        } else if (cursor_.take("*")) {
            made.selectors.emplace_back(Wildcard{});
        } else if (cursor_.peek() == '(') {
            made.selectors.emplace_back(TRY(from_the_end()));
        } else {
            TRY(listed(made));
        }
        cursor_.skip_blanks();
        return cursor_.expect("]", "behind a selector");
    }

    /// `(@.length-1)`: an index from the end, as the first JSONPath wrote it.
    Parsed<Index> from_the_end() {
        cursor_.advance();
        cursor_.skip_blanks();
        TRY(cursor_.expect("@.length", "in an index from the end, (@.length-1)"));
        cursor_.skip_blanks();
        auto begin = cursor_.position();
        auto selector = TRY(parse_index_or_slice(cursor_));
        const auto* index = std::get_if<Index>(&selector);
        if (index == nullptr || index->at >= 0) {
            return Cursor::fault_at(begin, "expected - and a number behind @.length");
        }
        cursor_.skip_blanks();
        TRY(cursor_.expect(")", "behind an index from the end"));
        return *index;
    }

    Parsed<Filter> filter() {
        if (depth_ >= nesting_max) {
            return Cursor::fault_at(cursor_.position(), "at most {} filters nest", nesting_max);
        }
        cursor_.skip_blanks();
        TRY(cursor_.expect("(", "behind ?: a filter is written [?(@.a == 1)]"));
        auto condition = TRY(parse_jayway_filter(cursor_, depth_ + 1));
        cursor_.skip_blanks();
        TRY(cursor_.expect(")", "at the filter's end"));
        return Filter{std::make_shared<const Expression>(std::move(condition)), true};
    }

    Parsed<void> listed(Segment& made) {
        while (true) {
            cursor_.skip_blanks();
            auto c = cursor_.peek();
            if (c == '\'' || c == '"') {
                made.selectors.emplace_back(Name{TRY(parse_quoted(cursor_))});
            } else if (c == ':' || c == '-' || is_digit(c)) {
                made.selectors.push_back(TRY(parse_index_or_slice(cursor_)));
            } else {
                return cursor_.expected("a quoted name, an index, a slice, * or ?(");
            }
            if (made.selectors.back().index() != made.selectors.front().index()) {
                return Cursor::fault_at(cursor_.position(),
                                        "expected names alone or indices alone in one bracket");
            }
            cursor_.skip_blanks();
            if (!cursor_.take(",")) {
                return {};
            }
        }
    }

    Parsed<void> tail(std::string_view name, std::size_t begin, bool is_descendant) {
        const auto* found = std::ranges::find(tail_names, name, &TailName::name);
        if (found == tail_names.end() || is_descendant) {
            return Cursor::fault_at(begin,
                                    "there is no function {}: expected length, min, max, avg, "
                                    "stddev, sum, keys, first, last, index, concat or append, "
                                    "behind one point",
                                    name);
        }
        query_.tail = found->tail;
        TRY(arguments());
        auto count = query_.tail_arguments.size();
        if (count < found->arguments_min || count > found->arguments_max) {
            return Cursor::fault_at(begin, "{}() takes {} to {} arguments, found {}", name,
                                    found->arguments_min, found->arguments_max, count);
        }
        if (cursor_.peek() == '.' || cursor_.peek() == '[') {
            return cursor_.expected("the path's end behind a function");
        }
        return {};
    }

    Parsed<void> arguments() {
        cursor_.advance();
        cursor_.skip_blanks();
        while (cursor_.peek() != ')') {
            if (depth_ >= nesting_max) {
                return Cursor::fault_at(cursor_.position(), "at most {} functions nest",
                                        nesting_max);
            }
            query_.tail_arguments.push_back(TRY(parse_jayway_operand(cursor_, depth_ + 1)));
            cursor_.skip_blanks();
            if (!cursor_.take(",")) {
                break;
            }
            cursor_.skip_blanks();
        }
        return cursor_.expect(")", "or , behind an argument");
    }

    Cursor& cursor_;
    Place place_;
    std::size_t depth_;
    Query query_;
};

} // namespace

Parsed<Query> parse_jayway_path(Cursor& cursor, Place place, std::size_t depth) {
    return JaywayPath{cursor, place, depth}.run();
}

Parsed<std::string> parse_quoted(Cursor& cursor) {
    constexpr auto letters = std::string_view{"bfnrt"};
    constexpr auto meanings = std::string_view{"\b\f\n\r\t"};
    auto begin = cursor.position();
    auto quote = cursor.peek();
    cursor.advance();
    auto out = std::string{};
    while (!cursor.is_at_end()) {
        auto c = cursor.peek();
        cursor.advance();
        if (c == quote) {
            return out;
        }
        if (c != '\\') {
            out += c;
            continue;
        }
        auto escaped = cursor.peek();
        if (escaped == 'u') {
            TRY(cursor.unicode_escape(out));
            continue;
        }
        // A backslash before the other quote is a character of the name, as the service has it.
        out += (escaped == '"' || escaped == '\'') && escaped != quote ? "\\" : "";
        auto at = letters.find(escaped);
        out += at != std::string_view::npos ? meanings[at] : escaped;
        cursor.advance(cursor.is_at_end() ? 0 : 1);
    }
    return Cursor::fault_at(begin, "the text has no end: expected a closing {}", quote);
}

Parsed<Query> parse_jayway(std::string_view text) {
    TRY(check_text(text));
    auto cursor = Cursor{text};
    if (cursor.peek() != '$') {
        return cursor.expected("$, with which a path begins");
    }
    auto query = TRY(parse_jayway_path(cursor, Place::Alone, 0));
    if (!cursor.is_at_end()) {
        return cursor.expected(". or [ or the end");
    }
    return query;
}

} // namespace sluice::expr::jsonpath::internal
