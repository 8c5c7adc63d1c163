#include "expr/jsonata/expression.h"

#include <utility>

#include "expr/jsonata/internal/evaluator.h"
#include "expr/jsonata/internal/free_names.h"
#include "expr/jsonata/internal/operators.h"
#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/tree.h"

namespace sluice::expr::jsonata {
namespace {

Fault fault_of(internal::Raised& raised) {
    auto fault = std::move(raised.fault);
    fault.position = fault.position == internal::position_unknown ? 0 : fault.position;
    return fault;
}

/// An expression as a program of the common interface.
class ExpressionCode final : public Code {
public:
    explicit ExpressionCode(Expression expression) : expression_{std::move(expression)} {}

    Outcome evaluate(const Bindings& bindings, const Budget& budget) const override {
        auto answer = expression_.evaluate(std::nullopt, bindings, budget);
        if (auto* value = std::get_if<Value>(&answer)) {
            return std::move(*value);
        }
        if (auto* fault = std::get_if<Fault>(&answer)) {
            return std::move(*fault);
        }
        return Fault{"undefined", "the expression returned nothing (undefined)", 0};
    }

private:
    Expression expression_;
};

} // namespace

std::expected<Expression, Fault> Expression::compile(std::string_view text,
                                                     const Options& options) {
    try {
        return Expression{internal::parse(text, options)};
    } catch (internal::Raised& raised) {
        return std::unexpected{fault_of(raised)};
    }
}

Answer Expression::evaluate(const std::optional<Value>& input, const Bindings& bindings,
                            const Budget& budget,
                            const std::optional<Circumstances>& circumstances) const {
    try {
        auto evaluator = internal::Evaluator{*tree_, bindings, budget, circumstances};
        auto result = evaluator.run(input);
        if (result.is_undefined()) {
            return Undefined{};
        }
        return internal::to_value(result, evaluator, true);
    } catch (internal::Raised& raised) {
        return fault_of(raised);
    }
}

const std::vector<std::vector<std::string>>& Expression::questions() const {
    return tree_->externals;
}

std::vector<std::string> Expression::free_variables() const {
    return internal::free_variables(*tree_);
}

bool Expression::reads_input() const {
    return internal::reads_input(*tree_);
}

Compiled compile(std::string_view text, const CompileOptions& options) {
    auto expression = Expression::compile(text, {.names = options.names});
    if (!expression) {
        return std::unexpected{std::move(expression.error())};
    }
    return Program{text, std::make_shared<ExpressionCode>(*std::move(expression))};
}

} // namespace sluice::expr::jsonata
