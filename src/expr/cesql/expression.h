#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/program.h"
#include "value/value.h"

namespace sluice::expr::cesql {

namespace internal {
struct Node;
} // namespace internal

/// CESQL is total: there is always a value, a String, Int or Bool, and beside it what went wrong.
struct Answer {
    Value value;
    /// Their codes: `math`, `cast`, `missingAttribute`, `missingFunction`, `functionEvaluation`,
    /// and `generic` when the budget is spent.
    std::vector<Fault> errors;

    /// As a filter: only true without errors lets an event pass.
    bool passes() const { return errors.empty() && value.is_bool() && value.as_bool(); }
};

/// A compiled expression of CloudEvents SQL 1.0. Immutable; copies share it, also between threads.
class Expression {
public:
    /// Fails with `parse`.
    static std::expected<Expression, Fault> compile(std::string_view text);

    /// The names of `event` are its attributes, in lower case.
    Answer evaluate(const Bindings& event, const Budget& budget = {}) const;

    /// The first call of a function that does not exist. CESQL says so when it is evaluated;
    /// whoever takes an expression from an author may say so at once.
    std::optional<Fault> missing_function() const;
    /// All values that this attribute can have where the expression is true; nothing: it does not
    /// say.
    std::optional<std::vector<std::string>> values_of(std::string_view attribute) const;

    const std::string& text() const { return text_; }

private:
    Expression(std::string_view text, std::shared_ptr<const internal::Node> root);

    std::string text_;
    std::shared_ptr<const internal::Node> root_;
};

} // namespace sluice::expr::cesql
