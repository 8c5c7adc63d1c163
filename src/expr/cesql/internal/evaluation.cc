#include "expr/cesql/internal/evaluation.h"

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "expr/cesql/internal/like.h"
#include "value/wording.h"

namespace sluice::expr::cesql::internal {
namespace {

using value::Kind;

std::string_view name_of(Kind kind) {
    switch (kind) {
        case Kind::Int: return "an integer";
        case Kind::Bool: return "a boolean";
        default: return "a text";
    }
}

Part zero(Kind kind) {
    return {zero_of(kind), true};
}

std::optional<Value> resolve(const Bindings& event, std::string_view name) {
    auto path = std::array{name};
    auto found = event.resolve(path);
    auto is_attribute = found && (found->is_string() || found->is_bool() || found->is_int());
    return is_attribute ? found : std::nullopt;
}

bool compare(Operator meaning, const Value& left, const Value& right) {
    switch (meaning) {
        case Operator::Equal: return left == right;
        case Operator::NotEqual: return !(left == right);
        case Operator::Less: return left.as_int() < right.as_int();
        case Operator::LessEqual: return left.as_int() <= right.as_int();
        case Operator::Greater: return left.as_int() > right.as_int();
        default: return left.as_int() >= right.as_int();
    }
}

/// Nothing where the divisor is zero. 64 bits hold whatever 32 give.
std::optional<std::int64_t> reckon(Operator meaning, std::int64_t left, std::int64_t right) {
    switch (meaning) {
        case Operator::Add: return left + right;
        case Operator::Subtract: return left - right;
        case Operator::Multiply: return left * right;
        case Operator::Divide: return right == 0 ? std::nullopt : std::optional{left / right};
        default: return right == 0 ? std::nullopt : std::optional{left % right};
    }
}

bool is_integer32(std::int64_t number) {
    return number >= std::numeric_limits<std::int32_t>::min() &&
           number <= std::numeric_limits<std::int32_t>::max();
}

/// CONCAT_WS puts its first argument between all others: the only text that is read many times.
std::size_t separator_bytes(const std::vector<Value>& arguments) {
    return arguments.empty() ? 0 : arguments.front().size();
}

} // namespace

Part Evaluation::evaluate(const Node& node) {
    if (!meter_.spend(1)) {
        return zero(Kind::Bool);
    }
    switch (node.kind) {
        case Node::Kind::Literal: return {node.literal};
        case Node::Kind::Attribute: return attribute(node);
        case Node::Kind::Exists: return {Value{resolve(event_, node.name).has_value()}};
        case Node::Kind::Not: return deny(node);
        case Node::Kind::Negate: return negate(node);
        case Node::Kind::Like: return like(node);
        case Node::Kind::In: return in(node);
        case Node::Kind::Call: return call(node);
        default: return chain(node);
    }
}

Part Evaluation::fault(Kind kind, const char* code, std::string message, std::size_t position) {
    errors_.push_back({code, std::move(message), position});
    return zero(kind);
}

Part Evaluation::as(Kind kind, Part part, std::size_t position) {
    if (part.has_error) {
        return zero(kind);
    }
    if (auto made = cast(part.value, kind)) {
        return {*std::move(made)};
    }
    return fault(kind, "cast",
                 fmt::format("{} is no {}", value::brief(part.value), name_of(kind).substr(2)),
                 position);
}

Part Evaluation::attribute(const Node& node) {
    if (auto found = resolve(event_, node.name)) {
        return {*std::move(found)};
    }
    return fault(Kind::Bool, "missingAttribute",
                 fmt::format("the event has no attribute {}", node.name), node.position);
}

Part Evaluation::deny(const Node& node) {
    auto part = as(Kind::Bool, evaluate(node.parts[0]), node.position);
    return part.has_error ? part : Part{Value{!part.value.as_bool()}};
}

Part Evaluation::negate(const Node& node) {
    auto part = as(Kind::Int, evaluate(node.parts[0]), node.position);
    if (part.has_error) {
        return part;
    }
    auto number = -part.value.as_int();
    return is_integer32(number)
               ? Part{Value{number}}
               : fault(Kind::Int, "math", "the result is not within 32 bits", node.position);
}

Part Evaluation::like(const Node& node) {
    auto part = as(Kind::String, evaluate(node.parts[0]), node.position);
    auto cost = part.value.size() * (1 + node.pattern.size() / 8);
    if (part.has_error || !meter_.spend_text(cost)) {
        return zero(Kind::Bool);
    }
    return {Value{is_like(part.value.as_string(), node.pattern) != node.is_negated}};
}

/// The left operand's type is the one that counts, and the first match ends it.
Part Evaluation::in(const Node& node) {
    auto left = evaluate(node.parts[0]);
    if (left.has_error) {
        return zero(Kind::Bool);
    }
    for (const auto& each : std::span{node.parts}.subspan(1)) {
        auto item = as(left.value.kind(), evaluate(each), each.position);
        if (item.has_error || !meter_.spend_text(left.value.size())) {
            return zero(Kind::Bool);
        }
        if (item.value == left.value) {
            return {Value{!node.is_negated}};
        }
    }
    return {Value{node.is_negated}};
}

Part Evaluation::call(const Node& node) {
    if (node.function == nullptr) {
        return fault(
            Kind::Bool, "missingFunction",
            fmt::format("there is no function {} of {} arguments", node.name, node.parts.size()),
            node.position);
    }
    const auto& function = *node.function;
    auto arguments = std::vector<Value>{};
    auto bytes = std::size_t{0};
    for (const auto& each : node.parts) {
        auto kind = arguments.empty() ? function.first : function.others;
        auto part = as(kind, evaluate(each), each.position);
        bytes += part.value.size() + separator_bytes(arguments);
        if (part.has_error) {
            return zero(function.result);
        }
        arguments.push_back(std::move(part.value));
    }
    if (bytes > meter_.text_bytes_max()) {
        meter_.exhaust();
    }
    if (!meter_.spend_text(bytes)) {
        return zero(function.result);
    }
    auto reply = function.call(arguments);
    if (reply.code != nullptr) {
        errors_.push_back({reply.code, std::move(reply.message), node.position});
    }
    return {std::move(reply.value), reply.code != nullptr};
}

Part Evaluation::chain(const Node& node) {
    auto left = evaluate(node.parts[0]);
    for (auto at = std::size_t{0}; at < node.operators.size(); ++at) {
        switch (node.level) {
            case Level::Logic: left = logic(node, at, left); break;
            case Level::Comparison: left = comparison(node, at, left); break;
            default: left = arithmetic(node, at, left);
        }
        // What comes behind has an erroneous operand, and the same zero.
        if (left.has_error) {
            return left;
        }
    }
    return left;
}

Part Evaluation::logic(const Node& node, std::size_t at, const Part& left) {
    auto truth = as(Kind::Bool, left, node.position);
    auto meaning = node.operators[at];
    if (truth.has_error || (meaning == Operator::And && !truth.value.as_bool()) ||
        (meaning == Operator::Or && truth.value.as_bool())) {
        return truth;
    }
    auto right = as(Kind::Bool, evaluate(node.parts[at + 1]), node.position);
    if (right.has_error || meaning != Operator::Xor) {
        return right;
    }
    return {Value{truth.value.as_bool() != right.value.as_bool()}};
}

Part Evaluation::comparison(const Node& node, std::size_t at, const Part& left) {
    auto meaning = node.operators[at];
    auto right = left.has_error ? zero(Kind::Bool) : evaluate(node.parts[at + 1]);
    if (left.has_error || right.has_error) {
        return zero(Kind::Bool);
    }
    // Only equality is there for all types; the right operand says which is meant.
    auto is_equality = meaning == Operator::Equal || meaning == Operator::NotEqual;
    auto kind = is_equality ? right.value.kind() : Kind::Int;
    auto first = as(kind, left, node.position);
    auto second = first.has_error ? zero(kind) : as(kind, std::move(right), node.position);
    if (second.has_error || !meter_.spend_text(second.value.size())) {
        return zero(Kind::Bool);
    }
    return {Value{compare(meaning, first.value, second.value)}};
}

Part Evaluation::arithmetic(const Node& node, std::size_t at, const Part& left) {
    auto first = as(Kind::Int, left, node.position);
    if (first.has_error) {
        return first;
    }
    auto second = as(Kind::Int, evaluate(node.parts[at + 1]), node.position);
    if (second.has_error) {
        return second;
    }
    auto result = reckon(node.operators[at], first.value.as_int(), second.value.as_int());
    if (!result) {
        return fault(Kind::Int, "math", "the divisor is zero", node.position);
    }
    if (!is_integer32(*result)) {
        return fault(Kind::Int, "math", "the result is not within 32 bits", node.position);
    }
    return {Value{*result}};
}

} // namespace sluice::expr::cesql::internal
