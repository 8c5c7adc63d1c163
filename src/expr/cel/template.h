#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "expr/program.h"
#include "value/value.h"

namespace sluice::expr::cel {

/// A value with `${…}` in its texts, at any depth. A text that is one `${…}` yields the
/// expression's value, otherwise values are put into the text. `$${` is a literal `${`.
class Template {
public:
    Template() = default;
    /// A fault names the text; its position is the byte in that.
    static std::expected<Template, Fault> compile(const Value& pattern,
                                                  const CompileOptions& options);

    /// A fault's position is the byte in the text that its message names.
    Outcome evaluate(const Bindings& bindings, const Budget& budget = {}) const;
    /// Without expressions, so evaluating gives the same for all bindings.
    bool is_constant() const;
    const Value& pattern() const { return pattern_; }
    /// The static paths that its expressions ask bindings for, as often as they stand there.
    std::vector<std::vector<std::string>> paths() const;

private:
    struct Node;
    Value pattern_;
    std::shared_ptr<const Node> root_; ///< Nothing in a template that was not compiled.
};

} // namespace sluice::expr::cel
