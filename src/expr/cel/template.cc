#include "expr/cel/template.h"

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "expr/cel/internal/pattern.h"

namespace sluice::expr::cel {

struct Template::Node {
    internal::Pattern pattern;
};

std::expected<Template, Fault> Template::compile(const Value& pattern,
                                                 const CompileOptions& options) {
    auto compiled = Template{};
    compiled.pattern_ = pattern;
    compiled.root_ = std::make_shared<const Node>(TRY(internal::compile_pattern(pattern, options)));
    return compiled;
}

Outcome Template::evaluate(const Bindings& bindings, const Budget& budget) const {
    if (!root_) {
        return Value{};
    }
    return internal::fill(root_->pattern, bindings, budget);
}

namespace {

void add_paths(const internal::Pattern& pattern, std::vector<std::vector<std::string>>& paths) {
    for (const auto& piece : pattern.pieces) {
        if (piece.expression) {
            for (const auto& path : piece.expression->paths) {
                paths.push_back(path.parts);
            }
        }
    }
    for (const auto& item : pattern.items) {
        add_paths(item, paths);
    }
}

} // namespace

std::vector<std::vector<std::string>> Template::paths() const {
    auto paths = std::vector<std::vector<std::string>>{};
    if (root_) {
        add_paths(root_->pattern, paths);
    }
    return paths;
}

bool Template::is_constant() const {
    return !root_ || root_->pattern.form == internal::Pattern::Form::Constant;
}

} // namespace sluice::expr::cel
