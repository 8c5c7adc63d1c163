#include "expr/cel/template.h"

#include <utility>

#include "expr/cel/internal/pattern.h"

namespace sluice::expr::cel {

struct Template::Node {
    internal::Pattern pattern;
};

Result<Template> Template::compile(const Value& pattern, const CompileOptions& options) {
    auto compiled = Template{};
    compiled.pattern_ = pattern;
    compiled.root_ = std::make_shared<const Node>(TRY(internal::compile_pattern(pattern, options)));
    return compiled;
}

Outcome Template::evaluate(const Bindings& bindings, const Budget& budget) const {
    if (!root_) {
        return Value{};
    }
    auto meter = Meter{budget};
    return internal::fill(root_->pattern, bindings, meter);
}

bool Template::is_constant() const {
    return !root_ || root_->pattern.form == internal::Pattern::Form::Constant;
}

} // namespace sluice::expr::cel
