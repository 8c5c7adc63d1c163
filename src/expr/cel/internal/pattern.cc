#include "expr/cel/internal/pattern.h"

#include <algorithm>
#include <utility>

#include "base/result.h"
#include "expr/cel/internal/lexer.h"
#include "expr/cel/internal/parser.h"

namespace sluice::expr::cel::internal {
namespace {

constexpr std::size_t pattern_depth_max = 128;

Pattern constant(Value value) {
    auto pattern = Pattern{};
    pattern.constant = std::move(value);
    return pattern;
}

void add_literal(std::vector<Piece>& pieces, std::string_view text) {
    if (text.empty()) {
        return;
    }
    if (pieces.empty() || pieces.back().expression) {
        pieces.emplace_back();
    }
    pieces.back().literal += text;
}

Parsed<std::vector<Piece>> split(std::string_view text, const CompileOptions& options) {
    TRY(check_encoding(text));
    auto pieces = std::vector<Piece>{};
    auto at = std::size_t{0};
    while (true) {
        auto found = text.find("${", at);
        if (found == std::string_view::npos) {
            add_literal(pieces, text.substr(at));
            return pieces;
        }
        if (found > at && text[found - 1] == '$') {
            add_literal(pieces, text.substr(at, found - 1 - at));
            add_literal(pieces, "${");
            at = found + 2;
            continue;
        }
        add_literal(pieces, text.substr(at, found - at));
        auto tokens = TRY(tokenize(text, found + 2, Until::ClosingBrace));
        pieces.push_back({{}, TRY(parse(text, tokens, {.options = options}))});
        at = tokens.back().position + 1;
    }
}

class PatternCompiler {
public:
    explicit PatternCompiler(CompileOptions options) : options_{std::move(options)} {
        // A part of a template may be of any kind.
        options_.must_be_bool = false;
    }

    Parsed<Pattern> compile(const Value& value, const std::string& where, std::size_t depth) {
        if (depth > pattern_depth_max) {
            return refuse("too_deep", 0, "a template is nested deeper than {}", pattern_depth_max);
        }
        switch (value.kind()) {
            case value::Kind::String: return text(value, where);
            case value::Kind::List: return list(value, where, depth);
            case value::Kind::Map: return map(value, where, depth);
            default: return constant(value);
        }
    }

private:
    Parsed<Pattern> text(const Value& value, const std::string& where) {
        if (!value.as_string().contains("${")) {
            return constant(value);
        }
        auto pieces = split(value.as_string(), options_);
        if (!pieces) {
            auto prefix = where.empty() ? std::string{} : fmt::format("in \"{}\": ", where);
            return refuse(pieces.error().code, pieces.error().position, "{}{}", prefix,
                          pieces.error().message);
        }
        if (pieces->size() == 1 && !pieces->front().expression) {
            return constant(pieces->front().literal);
        }
        auto pattern = Pattern{};
        pattern.form = Pattern::Form::Text;
        pattern.where = where;
        pattern.pieces = *std::move(pieces);
        return pattern;
    }

    Parsed<Pattern> list(const Value& value, const std::string& where, std::size_t depth) {
        auto pattern = Pattern{};
        for (const auto& item : value.as_list()) {
            auto place = fmt::format("{}[{}]", where, pattern.items.size());
            pattern.items.push_back(TRY(compile(item, place, depth + 1)));
        }
        return settle(std::move(pattern), Pattern::Form::List);
    }

    Parsed<Pattern> map(const Value& value, const std::string& where, std::size_t depth) {
        auto pattern = Pattern{};
        for (const auto& [key, member] : value.as_map()) {
            auto place = where.empty() ? key : fmt::format("{}.{}", where, key);
            pattern.keys.push_back(key);
            pattern.items.push_back(TRY(compile(member, place, depth + 1)));
        }
        return settle(std::move(pattern), Pattern::Form::Map);
    }

    /// What holds no expression is made here, once.
    static Pattern settle(Pattern pattern, Pattern::Form form) {
        pattern.form = form;
        auto is_constant = [](const Pattern& item) { return item.form == Pattern::Form::Constant; };
        if (!std::ranges::all_of(pattern.items, is_constant)) {
            return pattern;
        }
        auto values = std::vector<Value>{};
        for (auto& item : pattern.items) {
            values.push_back(std::move(item.constant));
        }
        return constant(assemble(pattern, std::move(values)));
    }

    CompileOptions options_;
};

} // namespace

Value assemble(const Pattern& pattern, std::vector<Value> items) {
    if (pattern.form == Pattern::Form::List) {
        return Value::list(std::move(items));
    }
    auto members = std::vector<value::Member>{};
    members.reserve(items.size());
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        members.push_back({pattern.keys[i], std::move(items[i])});
    }
    return Value::map(std::move(members));
}

Parsed<Pattern> compile_pattern(const Value& value, const CompileOptions& options) {
    return PatternCompiler{options}.compile(value, "", 1);
}

} // namespace sluice::expr::cel::internal
