#include "event/dialect/dialects.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "event/dialect/event_bindings.h"
#include "expr/cel/compile.h"
#include "expr/cesql/expression.h"
#include "expr/program.h"

namespace sluice::event {
namespace {

/// An expression in a filter is not the place for long work.
constexpr auto filter_budget = expr::Budget{.steps_max = 20'000};

class SqlPredicate final : public Predicate {
public:
    explicit SqlPredicate(expr::cesql::Expression expression)
        : expression_{std::move(expression)} {}

    bool matches(const Event& event) const override {
        return expression_.evaluate(AttributeBindings{event}, filter_budget).passes();
    }
    std::optional<std::vector<std::string>> values_of(std::string_view attribute) const override {
        return expression_.values_of(attribute);
    }

private:
    expr::cesql::Expression expression_;
};

class CelPredicate final : public Predicate {
public:
    explicit CelPredicate(expr::Program program) : program_{std::move(program)} {}

    bool matches(const Event& event) const override {
        auto outcome = program_.evaluate(EventBindings{event}, filter_budget);
        const auto* value = std::get_if<Value>(&outcome);
        return value != nullptr && value->is_bool() && value->as_bool();
    }

private:
    expr::Program program_;
};

Result<std::string_view> text_of(const Value& form) {
    if (!form.is_string() || form.size() == 0) {
        return fail(Errc::InvalidInput, "expected an expression as text");
    }
    return form.as_string();
}

Result<std::shared_ptr<const Predicate>> make_sql(const Value& form) {
    auto expression = expr::cesql::Expression::compile(TRY(text_of(form)));
    auto fault = expression ? expression->missing_function() : expression.error();
    if (fault) {
        return fail(Errc::InvalidInput, "{}", describe(*fault));
    }
    return std::make_shared<SqlPredicate>(*std::move(expression));
}

Result<std::shared_ptr<const Predicate>> make_cel(const Value& form) {
    auto program =
        expr::cel::compile(TRY(text_of(form)), {.names = {"event", "data"}, .must_be_bool = true});
    if (!program) {
        return fail(Errc::InvalidInput, "{}", describe(program.error()));
    }
    return std::make_shared<CelPredicate>(*std::move(program));
}

} // namespace

const Dialects& expression_dialects() {
    static const auto dialects =
        Dialects{{"sql", make_sql}, {"cesql", make_sql}, {"cel", make_cel}};
    return dialects;
}

} // namespace sluice::event
