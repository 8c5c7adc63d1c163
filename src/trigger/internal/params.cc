#include "trigger/internal/params.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "expr/cel/template.h"

namespace sluice::trigger {

Params::Params(const Value& params, std::string_view shorthand,
               std::initializer_list<std::string_view> known,
               const expr::CompileOptions& expressions, std::vector<Problem>& problems)
    : Params(params, shorthand, known, expressions, problems, "") {}

Params::Params(const Value& params, std::string_view shorthand,
               std::initializer_list<std::string_view> known,
               const expr::CompileOptions& expressions, std::vector<Problem>& problems,
               std::string path)
    : map_(params), expressions_(expressions), problems_(problems), path_(std::move(path)) {
    if (params.is_null()) {
        map_ = Value::map({});
    } else if (!params.is_map()) {
        if (shorthand.empty()) {
            problem("", fmt::format("is a {}: expected a map with {}", to_string(params.kind()),
                                    fmt::join(known, ", ")));
            map_ = Value::map({});
        } else {
            map_ = Value::map({{std::string{shorthand}, params}});
        }
    }
    for (const auto& member : map_.as_map()) {
        if (std::ranges::find(known, member.key) == known.end()) {
            problem(member.key,
                    fmt::format("unknown member: expected one of {}", fmt::join(known, ", ")));
        }
    }
}

void Params::problem(std::string_view member, std::string message) {
    auto path = path_ + std::string{member};
    if (path.ends_with('/')) {
        path.pop_back();
    }
    problems_.push_back({.path = std::move(path), .message = std::move(message)});
}

Params Params::inside(std::string_view member,
                      std::initializer_list<std::string_view> known) const {
    return Params{get(member), "", known, expressions_, problems_, std::string{member} + '/'};
}

Value Params::get(std::string_view member) const {
    const auto* found = map_.find(member);
    return found == nullptr ? Value{} : *found;
}

expr::cel::Template Params::compile(std::string_view member, const Value& pattern) {
    auto compiled = expr::cel::Template::compile(pattern, expressions_);
    if (!compiled) {
        problem(member, expr::describe(compiled.error()));
        return {};
    }
    return *std::move(compiled);
}

expr::cel::Template Params::any(std::string_view member) {
    return compile(member, get(member));
}

expr::cel::Template Params::text(std::string_view member) {
    auto pattern = has(member) ? get(member) : Value{""};
    if (!pattern.is_string()) {
        problem(member, fmt::format("is a {}: expected a text", to_string(pattern.kind())));
        return {};
    }
    return compile(member, pattern);
}

expr::cel::Template Params::required_text(std::string_view member) {
    if (!has(member)) {
        problem(member, "is missing: expected a text");
        return {};
    }
    if (auto pattern = get(member); pattern.is_string() && pattern.as_string().empty()) {
        problem(member, "is empty: expected a text");
    }
    return text(member);
}

bool Params::flag(std::string_view member, bool otherwise) {
    if (!has(member)) {
        return otherwise;
    }
    auto value = get(member);
    if (!value.is_bool()) {
        problem(member, fmt::format("is a {}: expected true or false", to_string(value.kind())));
        return otherwise;
    }
    return value.as_bool();
}

std::vector<expr::cel::Template> Params::texts(std::string_view member) {
    auto value = get(member);
    auto templates = std::vector<expr::cel::Template>{};
    auto items = value.is_list()
                     ? std::vector<Value>(value.as_list().begin(), value.as_list().end())
                     : std::vector<Value>{value};
    for (const auto& item : items) {
        if (!item.is_string() || item.as_string().empty()) {
            problem(member, "expected a text or a list of texts");
            return {};
        }
        templates.push_back(compile(member, item));
    }
    if (templates.empty()) {
        problem(member, "is empty: expected at least one text");
    }
    return templates;
}

} // namespace sluice::trigger
