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
    /// What it yields whatever the bindings are; null where that depends on them.
    const Value* constant() const;

private:
    class Form;
    std::shared_ptr<const Form> form_; ///< Nothing: null.

    explicit Template(std::shared_ptr<const Form> form) : form_(std::move(form)) {}
    static std::expected<Template, expr::Fault> compile_jsonata(const Value& pattern,
                                                                const ExpressionSite& site);
};

/// Whether a value is handed on as it is to what is called: then results in it may stand there by
/// reference.
enum class Handling : std::uint8_t { LooksInto, HandsOn };

/// What the expressions in a form want of tasks.
struct TaskUses {
    std::vector<std::string> names;     ///< Of tasks that they refer to by `tasks.NAME`.
    std::vector<std::string> looked_at; ///< Those whose results they may look into.
    bool looks_at_any = false;          ///< They choose a task while they are evaluated.

    void add(std::string_view text, const ExpressionSite& site, Handling handling);

private:
    void add_jsonata(std::string_view text, const ExpressionSite& site);
};

/// In JSONata only the names are known that stand behind `$tasks`.
void add_uses(const Value& form, const ExpressionSite& site, Handling handling, TaskUses& uses);
/// The task whose result a text hands on and does nothing else: `${tasks.load.result}`; empty:
/// none.
std::string_view handed_on_by(std::string_view text);

} // namespace sluice::workflow::dag
