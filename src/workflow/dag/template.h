#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "expr/program.h"
#include "value/value.h"

namespace sluice::workflow::dag {

enum class Language : std::uint8_t { Cel, Jsonata };

/// What the expressions of a task are written in, and may ask for.
struct ExpressionSite {
    Language language = Language::Cel;
    std::vector<std::string> names;
};

/// A value whose texts may hold expressions, in the language of its definition.
///
/// In CEL `${…}` may stand anywhere in a text. In JSONata a text is an expression as a whole or not
/// at all: `${…}` from its first to its last character.
class Template {
public:
    Template() = default;
    static std::expected<Template, expr::Fault> compile(const Value& pattern,
                                                        const ExpressionSite& site);
    /// One expression that yields true or false, with or without `${…}` around it.
    static std::expected<Template, expr::Fault> compile_condition(std::string_view text,
                                                                  const ExpressionSite& site);

    expr::Outcome evaluate(const expr::Bindings& bindings, const expr::Budget& budget = {}) const;

private:
    class Form;
    std::shared_ptr<const Form> form_; ///< Nothing: null.

    explicit Template(std::shared_ptr<const Form> form) : form_(std::move(form)) {}
    static std::expected<Template, expr::Fault> compile_jsonata(const Value& pattern,
                                                                const ExpressionSite& site);
};

/// The names of tasks that the expressions in a form refer to by `tasks.NAME`; none in JSONata.
std::vector<std::string> tasks_named_in(const Value& form, const ExpressionSite& site);

} // namespace sluice::workflow::dag
