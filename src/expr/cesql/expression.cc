#include "expr/cesql/expression.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "expr/cesql/internal/evaluation.h"
#include "expr/cesql/internal/node.h"
#include "expr/cesql/internal/parser.h"
#include "expr/meter.h"

namespace sluice::expr::cesql {
namespace {

using internal::Node;
using internal::Operator;

std::optional<Fault> missing_in(const Node& node) {
    if (node.kind == Node::Kind::Call && node.function == nullptr) {
        return Fault{
            "missingFunction",
            fmt::format("there is no function {} of {} arguments", node.name, node.parts.size()),
            node.position};
    }
    for (const auto& part : node.parts) {
        if (auto found = missing_in(part)) {
            return found;
        }
    }
    return std::nullopt;
}

bool is_text(const Node& node) {
    return node.kind == Node::Kind::Literal && node.literal.is_string();
}

/// `attribute = 'text'` or `attribute IN ('a', 'b')`: with other kinds, values would be cast.
std::optional<std::vector<std::string>> values_in(const Node& node, std::string_view attribute) {
    auto is_named = !node.parts.empty() && node.parts[0].kind == Node::Kind::Attribute &&
                    node.parts[0].name == attribute;
    auto is_equality = node.kind == Node::Kind::Chain && node.operators.size() == 1 &&
                       node.operators[0] == Operator::Equal;
    auto is_membership = node.kind == Node::Kind::In && !node.is_negated;
    if (!is_named || !(is_equality || is_membership) ||
        !std::all_of(node.parts.begin() + 1, node.parts.end(), is_text)) {
        return std::nullopt;
    }
    auto values = std::vector<std::string>{};
    for (auto part = node.parts.begin() + 1; part != node.parts.end(); ++part) {
        values.emplace_back(part->literal.as_string());
    }
    return values;
}

} // namespace

Expression::Expression(std::string_view text, std::shared_ptr<const Node> root)
    : text_{text}, root_{std::move(root)} {}

std::expected<Expression, Fault> Expression::compile(std::string_view text) {
    return Expression{text, std::make_shared<const Node>(TRY(internal::parse(text)))};
}

Answer Expression::evaluate(const Bindings& event, const Budget& budget) const {
    auto meter = Meter{budget};
    auto evaluation = internal::Evaluation{event, meter};
    auto part = evaluation.evaluate(*root_);
    auto errors = evaluation.take_errors();
    if (meter.is_exhausted() || !meter.spend_output(part.value.size())) {
        return {Value{false},
                {Fault{"generic", "the expression takes more than its budget allows", 0}}};
    }
    return {std::move(part.value), std::move(errors)};
}

std::optional<Fault> Expression::missing_function() const {
    return missing_in(*root_);
}

std::optional<std::vector<std::string>> Expression::values_of(std::string_view attribute) const {
    auto is_and = [](Operator each) { return each == Operator::And; };
    if (root_->kind != Node::Kind::Chain || root_->level != internal::Level::Logic ||
        !std::ranges::all_of(root_->operators, is_and)) {
        return values_in(*root_, attribute);
    }
    for (const auto& part : root_->parts) {
        if (auto values = values_in(part, attribute)) {
            return values;
        }
    }
    return std::nullopt;
}

} // namespace sluice::expr::cesql
