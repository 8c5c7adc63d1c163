#include "expr/states/internal/call.h"

#include <utility>

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>

#include "base/result.h"
#include "value/json.h"

namespace sluice::expr::states::internal {

std::expected<Value, Failure> Call::evaluate(const Sight& sight, Random& chance) const {
    auto outcome = run(*root_, sight, chance);
    if (outcome) {
        return *std::move(outcome);
    }
    const auto& [message, is_missing] = outcome.error();
    return std::unexpected(
        Failure{is_missing ? "States.Runtime" : "States.IntrinsicFailure",
                fmt::format("The function '{}' had the following error: {}", text_, message)});
}

Call::Outcome Call::run(const Node& node, const Sight& sight, Random& chance) {
    if (!node.pieces.empty()) {
        return run_format(node, sight, chance);
    }
    auto values = boost::container::small_vector<Value, 4>{};
    for (const auto& argument : node.arguments) {
        auto value = TRY(value_of(argument, sight, chance));
        if (auto refusal = refuse_argument(*node.function, values.size(), value);
            !refusal.empty()) {
            return std::unexpected(Complaint{std::move(refusal)});
        }
        values.push_back(std::move(value));
    }
    auto result = node.function->run({values.data(), values.size()}, chance);
    if (!result) {
        return std::unexpected(Complaint{std::move(result.error())});
    }
    return *std::move(result);
}

Call::Outcome Call::run_format(const Node& node, const Sight& sight, Random& chance) {
    auto places = node.pieces.size() - 1;
    if (places != node.arguments.size() - 1) {
        return std::unexpected(
            Complaint{fmt::format("the text has {} places {{}} and there are {} arguments for them",
                                  places, node.arguments.size() - 1)});
    }
    auto out = node.pieces.front();
    for (auto at = std::size_t{1}; at <= places; ++at) {
        append_formatted(TRY(value_of(node.arguments[at], sight, chance)), out);
        out += node.pieces[at];
    }
    return Value{out};
}

Call::Outcome Call::value_of(const Argument& argument, const Sight& sight, Random& chance) {
    if (const auto* literal = std::get_if<Value>(&argument)) {
        return *literal;
    }
    if (const auto* path = std::get_if<RootedPath>(&argument)) {
        auto made = Value{};
        if (const auto* found = path->find(sight, made)) {
            return *found;
        }
        auto input = sight.data != nullptr ? value::to_json(*sight.data) : "null";
        // A path into the context object is told without its second $.
        auto text = std::string_view{path->text()}.substr(path->is_in_context() ? 1 : 0);
        return std::unexpected(Complaint{
            fmt::format("The JsonPath argument for the field '{}' could not be found in the input "
                        "'{}'",
                        text, input),
            true});
    }
    return run(*std::get<std::unique_ptr<const Node>>(argument), sight, chance);
}

} // namespace sluice::expr::states::internal
