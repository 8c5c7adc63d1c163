#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "expr/cel/template.h"
#include "expr/program.h"
#include "trigger/spec.h"
#include "value/value.h"

namespace sluice::trigger {

/// Reads an action's parameters, collecting every problem: missing and unknown members, wrong
/// kinds, templates that do not compile.
class Params {
public:
    /// `shorthand` is the member that parameters which are no map stand for; empty: they must be a
    /// map.
    Params(const Value& params, std::string_view shorthand,
           std::initializer_list<std::string_view> known, const expr::CompileOptions& expressions,
           std::vector<Problem>& problems);

    bool has(std::string_view member) const { return map_.find(member) != nullptr; }
    Value get(std::string_view member) const;
    /// Constant when the member is missing: an empty text, or null.
    expr::cel::Template text(std::string_view member);
    expr::cel::Template required_text(std::string_view member);
    expr::cel::Template any(std::string_view member);
    bool flag(std::string_view member, bool otherwise);
    /// One text or a list of them.
    std::vector<expr::cel::Template> texts(std::string_view member);
    void problem(std::string_view member, std::string message);
    /// Reads a member that is a map itself; its problems have paths through it.
    Params inside(std::string_view member, std::initializer_list<std::string_view> known) const;

private:
    Params(const Value& params, std::string_view shorthand,
           std::initializer_list<std::string_view> known, const expr::CompileOptions& expressions,
           std::vector<Problem>& problems, std::string path);
    expr::cel::Template compile(std::string_view member, const Value& pattern);

    Value map_;
    const expr::CompileOptions& expressions_;
    std::vector<Problem>& problems_;
    std::string path_; ///< Of the parameters, with a slash behind; empty for those of an action.
};

} // namespace sluice::trigger
