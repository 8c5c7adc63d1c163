#include "expr/cel/template.h"

#include <utility>

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

bool Template::is_constant() const {
    return !root_ || root_->pattern.form == internal::Pattern::Form::Constant;
}

} // namespace sluice::expr::cel
