#include <fmt/format.h>

#include "expr/cel/compile.h"
#include "trigger/condition.h"
#include "trigger/form_reader.h"
#include "trigger/internal/condition_factories.h"

namespace sluice::trigger {

Verdict Condition::recheck(const ConditionInput& input) const {
    return internal::waits(input.state.progress);
}

Verdict Condition::expire(const ConditionInput& input) const {
    return internal::waits(input.state.progress);
}

namespace internal {

Verdict waits(std::uint64_t progress) {
    auto verdict = Verdict{};
    verdict.progress = progress;
    return verdict;
}

Verdict fires(std::uint64_t progress) {
    auto verdict = waits(progress);
    verdict.answer = Verdict::Answer::Fire;
    return verdict;
}

Verdict faults(std::uint64_t progress, expr::Fault fault) {
    auto verdict = waits(progress);
    verdict.answer = Verdict::Answer::Fault;
    verdict.fault = std::make_unique<const expr::Fault>(std::move(fault));
    return verdict;
}

std::optional<expr::Program> compile(const std::string& text, Yields yields,
                                     const ConditionSite& site, const std::string& path,
                                     Problems& problems) {
    auto options = site.expressions;
    options.must_be_bool = yields == Yields::Bool;
    auto program = expr::cel::compile(text, options);
    if (!program) {
        report(problems, path, expr::describe(program.error()));
        return std::nullopt;
    }
    return *std::move(program);
}

void refuse_params(const Value& params, Problems& problems) {
    auto is_empty = params.is_null() || (params.is_map() && params.size() == 0);
    if (!is_empty) {
        report(problems, "", fmt::format("found {}, expected no parameters", describe(params)));
    }
}

} // namespace internal

namespace {

using internal::ConditionPtr;
using internal::Problems;

/// Fires on each event.
class Always final : public Condition {
public:
    Verdict evaluate(const ConditionInput& input) const override {
        return internal::fires(input.state.progress);
    }
};

/// Fires on each event for which its expression is true.
class Expression final : public Condition {
public:
    explicit Expression(expr::Program program) : program_(std::move(program)) {}

    Verdict evaluate(const ConditionInput& input) const override {
        auto progress = input.state.progress;
        auto outcome = program_.evaluate(input.bindings);
        if (auto* fault = std::get_if<expr::Fault>(&outcome)) {
            return internal::faults(progress, std::move(*fault));
        }
        const auto& value = std::get<Value>(outcome);
        if (!value.is_bool()) {
            auto message = fmt::format("found {}, expected the condition to be true or false",
                                       describe(value));
            return internal::faults(progress, {.code = "not_bool", .message = std::move(message)});
        }
        return value.as_bool() ? internal::fires(progress) : internal::waits(progress);
    }

private:
    expr::Program program_;
};

ConditionPtr make_always(const Value& params, const ConditionSite& /*site*/, Problems& problems) {
    internal::refuse_params(params, problems);
    return std::make_shared<Always>();
}

ConditionPtr make_expression(const Value& params, const ConditionSite& site, Problems& problems) {
    auto path = std::string{};
    auto form = params;
    if (params.is_map()) {
        path = "when";
        auto reader = FormReader{params, "", problems, {path}};
        form = reader.find(path) == nullptr ? Value{} : *reader.find(path);
    }
    auto text = read_expression(form, path, problems);
    if (!text) {
        return nullptr;
    }
    auto program = internal::compile(*text, internal::Yields::Bool, site, path, problems);
    return program ? std::make_shared<Expression>(*std::move(program)) : nullptr;
}

/// What has a problem makes no condition, whatever its factory could still make of it.
ConditionFactory checked(ConditionFactory factory) {
    return [factory = std::move(factory)](const Value& params, const ConditionSite& site,
                                          Problems& problems) -> ConditionPtr {
        auto found = Problems{};
        auto condition = factory(params, site, found);
        for (auto& problem : found) {
            report(problems, std::move(problem.path), std::move(problem.message));
        }
        return found.empty() ? condition : nullptr;
    };
}

} // namespace

std::map<std::string, ConditionFactory, std::less<>> built_in_conditions() {
    return {
        {"all", checked(internal::make_all)},
        {"always", checked(make_always)},
        {"count", checked(internal::make_count)},
        {"expression", checked(make_expression)},
        {"quorum", checked(internal::make_quorum)},
        {"sequence", checked(internal::make_sequence)},
        {"threshold", checked(internal::make_threshold)},
    };
}

} // namespace sluice::trigger
