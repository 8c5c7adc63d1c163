#include "expr/states/choice.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/result.h"
#include "expr/states/internal/comparator.h"
#include "expr/states/internal/rooted_path.h"
#include "value/pointer.h"

namespace sluice::expr::states {
namespace {

using internal::Comparator;
using internal::RootedPath;

constexpr std::size_t rule_depth_max = 100;

struct Rule;

struct Comparison {
    Comparator comparator;
    RootedPath variable;
    std::variant<Value, RootedPath> operand;
};
struct Conjunction {
    std::vector<Rule> rules;
};
struct Disjunction {
    std::vector<Rule> rules;
};
struct Negation {
    std::vector<Rule> rule; ///< One.
};

struct Rule {
    std::variant<Comparison, Conjunction, Disjunction, Negation, Template> content;
};

constexpr auto not_of_the_condition =
    std::to_array<std::string_view>({"Next", "Assign", "Output", "Comment", "Variable"});

/// Turns a rule into what evaluates it, gathering everything that is wrong with it.
class RuleCompiler {
public:
    std::optional<Rule> compile(const Value& rule, const std::string& pointer, std::size_t depth) {
        if (!rule.is_map()) {
            return refuse(pointer, "A choice rule must be an object");
        }
        if (depth > rule_depth_max) {
            return refuse(pointer, fmt::format("Rules nest deeper than {}", rule_depth_max));
        }
        const auto* found = static_cast<const value::Member*>(nullptr);
        for (const auto& member : rule.as_map()) {
            if (std::ranges::find(not_of_the_condition, member.key) != not_of_the_condition.end()) {
                continue;
            }
            if (found != nullptr) {
                return refuse(pointer, fmt::format("A rule has one operator, found '{}' and '{}'",
                                                   found->key, member.key));
            }
            found = &member;
        }
        if (found == nullptr) {
            return refuse(pointer, "A rule must have a comparison operator, And, Or or Not");
        }
        return compile_operator(rule, *found, pointer, depth);
    }

    std::vector<TemplateProblem> problems;
    std::vector<std::string> variables;

private:
    std::nullopt_t refuse(const std::string& pointer, std::string message) {
        problems.push_back({pointer, std::move(message)});
        return std::nullopt;
    }

    std::optional<Rule> compile_operator(const Value& rule, const value::Member& member,
                                         const std::string& pointer, std::size_t depth) {
        const auto& [key, operand] = member;
        auto place = value::join_pointer(pointer, key);
        if (key == "Not") {
            auto inner = compile(operand, place, depth + 1);
            return inner ? std::optional{Rule{Negation{{*std::move(inner)}}}} : std::nullopt;
        }
        if (key == "And" || key == "Or") {
            auto rules = compile_all(operand, place, depth);
            if (!rules) {
                return std::nullopt;
            }
            return key == "And" ? Rule{Conjunction{*std::move(rules)}}
                                : Rule{Disjunction{*std::move(rules)}};
        }
        auto comparator = internal::find_comparator(key);
        if (!comparator) {
            return refuse(place, fmt::format("'{}' is not an operator of a choice rule", key));
        }
        return compile_comparison(rule, *comparator, member, pointer);
    }

    std::optional<std::vector<Rule>> compile_all(const Value& operand, const std::string& pointer,
                                                 std::size_t depth) {
        if (!operand.is_list() || operand.size() == 0) {
            return refuse(pointer, "Expected an array of rules that is not empty");
        }
        auto rules = std::vector<Rule>{};
        auto at = std::size_t{0};
        for (const auto& each : operand.as_list()) {
            if (auto rule = compile(each, fmt::format("{}/{}", pointer, at++), depth + 1)) {
                rules.push_back(*std::move(rule));
            }
        }
        return rules.size() == operand.size() ? std::optional{std::move(rules)} : std::nullopt;
    }

    std::optional<Rule> compile_comparison(const Value& rule, const Comparator& comparator,
                                           const value::Member& member,
                                           const std::string& pointer) {
        const auto* variable = rule.find("Variable");
        if (variable == nullptr) {
            return refuse(pointer, "The field 'Variable' is required but was missing");
        }
        auto path = compile_path(*variable, pointer, "Variable");
        auto expected = internal::refuse_operand(comparator, member.value);
        if (!expected.empty()) {
            return refuse(
                fmt::format("{}/{}", pointer, member.key),
                fmt::format("The value for the field '{}' must be {}", member.key, expected));
        }
        if (!path) {
            return std::nullopt;
        }
        if (!comparator.has_path) {
            return Rule{Comparison{comparator, *std::move(path), member.value}};
        }
        auto operand = compile_path(member.value, pointer, member.key);
        return operand ? std::optional{Rule{
                             Comparison{comparator, *std::move(path), *std::move(operand)}}}
                       : std::nullopt;
    }

    std::optional<RootedPath> compile_path(const Value& text, const std::string& pointer,
                                           const std::string& key) {
        auto path = text.is_string()
                        ? RootedPath::compile(text.as_string(), RootedPath::Form::Reference)
                        : std::unexpected(std::string{"no string"});
        if (!path) {
            return refuse(fmt::format("{}/{}", pointer, key),
                          fmt::format("Value is not a Reference Path: {}", path.error()));
        }
        if (const auto& name = path->variable(); !name.empty()) {
            variables.push_back(name);
        }
        return *std::move(path);
    }
};

std::unexpected<Failure> invalid_path(const RootedPath& path) {
    return std::unexpected(Failure{
        "States.Runtime",
        fmt::format("Invalid path '{}': The choice state's condition path references an invalid "
                    "value.",
                    path.text())});
}

/// One evaluation of a rule.
class RuleEvaluation {
public:
    RuleEvaluation(const Sight& sight, std::size_t at) : sight_{sight}, at_{at} {}

    std::expected<bool, Failure> holds(const Rule& rule) const {
        return std::visit([this](const auto& content) { return test(content); }, rule.content);
    }

private:
    using Outcome = std::expected<bool, Failure>;

    Outcome test(const Comparison& comparison) const {
        const auto& [comparator, path, operand] = comparison;
        auto made = Value{};
        const auto* variable = path.find(sight_, made);
        if (comparator.type == Comparator::Type::Is &&
            comparator.test == Comparator::Test::Present) {
            return (variable != nullptr) == std::get<Value>(operand).as_bool();
        }
        if (variable == nullptr) {
            return invalid_path(path);
        }
        if (const auto* literal = std::get_if<Value>(&operand)) {
            return internal::compare(comparator, *variable, *literal);
        }
        const auto& other_path = std::get<RootedPath>(operand);
        auto other_made = Value{};
        const auto* other = other_path.find(sight_, other_made);
        if (other == nullptr) {
            return invalid_path(other_path);
        }
        return internal::compare(comparator, *variable, *other);
    }

    Outcome test(const Conjunction& all) const {
        for (const auto& rule : all.rules) {
            if (!TRY(holds(rule))) {
                return false;
            }
        }
        return true;
    }

    Outcome test(const Disjunction& any) const {
        for (const auto& rule : any.rules) {
            if (TRY(holds(rule))) {
                return true;
            }
        }
        return false;
    }

    Outcome test(const Negation& negation) const { return !TRY(holds(negation.rule.front())); }

    Outcome test(const Template& expression) const {
        auto field = fmt::format("Choices[{}]/Condition", at_);
        auto value = TRY(expression.evaluate(sight_, field));
        if (!value.is_bool()) {
            return std::unexpected(unexpected_type(expression, field, "boolean", value));
        }
        return value.as_bool();
    }

    const Sight& sight_;
    std::size_t at_;
};

} // namespace

struct Condition::Plan {
    Rule rule;
    std::vector<std::string> variables;
    std::vector<std::string> input_readers;
};

namespace {

using Problems = std::vector<TemplateProblem>;

/// A JSONata `Condition`.
std::expected<Template, Problems> compile_expression(const Value& rule) {
    const auto* form = rule.find("Condition");
    if (form == nullptr) {
        return std::unexpected(Problems{{"", "The field 'Condition' is required but was missing"}});
    }
    auto has_expression = form->is_string() && !expression_in(form->as_string()).empty();
    if (!has_expression && !form->is_bool()) {
        return std::unexpected(Problems{{"/Condition",
                                         "The value for the field 'Condition' must be a boolean "
                                         "or a JSONata expression"}});
    }
    auto expression = Template::compile(*form, {.language = Language::Jsonata});
    if (!expression) {
        auto problems = std::move(expression.error());
        problems.front().pointer = "/Condition";
        return std::unexpected(std::move(problems));
    }
    return expression;
}

} // namespace

Condition::Condition(std::shared_ptr<const Plan> plan) : plan_{std::move(plan)} {}

std::expected<Condition, std::vector<TemplateProblem>> Condition::compile(const Value& rule,
                                                                          Language language) {
    if (language == Language::Jsonata) {
        auto expression = TRY(compile_expression(rule));
        return Condition{std::make_shared<const Plan>(
            Plan{{expression}, expression.variables(), expression.input_readers()})};
    }
    auto compiler = RuleCompiler{};
    auto made = compiler.compile(rule, "", 0);
    if (!made || !compiler.problems.empty()) {
        return std::unexpected(std::move(compiler.problems));
    }
    return Condition{
        std::make_shared<const Plan>(Plan{*std::move(made), std::move(compiler.variables), {}})};
}

std::expected<bool, Failure> Condition::holds(const Sight& sight, std::size_t at) const {
    return RuleEvaluation{sight, at}.holds(plan_->rule);
}

const std::vector<std::string>& Condition::variables() const {
    return plan_->variables;
}

const std::vector<std::string>& Condition::input_readers() const {
    return plan_->input_readers;
}

} // namespace sluice::expr::states
