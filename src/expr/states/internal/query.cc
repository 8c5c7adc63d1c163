#include "expr/states/internal/query.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "expr/map_bindings.h"

namespace sluice::expr::states::internal {
namespace {

constexpr auto query_budget =
    Budget{.steps_max = 2'000'000, .output_bytes_max = 16UL * 1024 * 1024};

/// What `$states` and variables stand for.
class SightBindings final : public Bindings {
public:
    explicit SightBindings(const Sight& sight) : sight_{sight} {}

    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        if (path[0] != "states") {
            const auto* variable =
                sight_.variables != nullptr ? sight_.variables->find(path[0]) : nullptr;
            return below(variable, path.subspan(1));
        }
        if (path.size() == 1) {
            return all();
        }
        return below(part(path[1]), path.subspan(2));
    }

private:
    static std::optional<Value> below(const Value* value, std::span<const std::string_view> path) {
        const auto* found = value != nullptr ? find_at(*value, path) : nullptr;
        return found != nullptr ? std::optional{*found} : std::nullopt;
    }

    const Value* part(std::string_view name) const {
        if (name == "input") {
            return sight_.input;
        }
        if (name == "context") {
            return sight_.context != nullptr ? &sight_.context->value() : nullptr;
        }
        if (name == "result") {
            return sight_.result;
        }
        return name == "errorOutput" ? sight_.error_output : nullptr;
    }

    Value all() const {
        auto members = std::vector<value::Member>{};
        for (const auto* name : {"input", "context", "result", "errorOutput"}) {
            if (const auto* found = part(name)) {
                members.push_back({name, *found});
            }
        }
        return Value::map(std::move(members));
    }

    const Sight& sight_;
};

/// A fault as the service tells it: codes are JSONata's own, sentences begin with a capital.
std::string told(const Fault& fault) {
    if (fault.code == "T1006") {
        return "T1006: Attempted to invoke a non-function";
    }
    auto message = fault.message;
    auto is_of_the_author = fault.code == "D3137" || fault.code == "D3141"; // $error and $assert
    if (!is_of_the_author && !message.empty() && message.front() >= 'a' && message.front() <= 'z') {
        message.front() = static_cast<char>(message.front() - 'a' + 'A');
    }
    return fmt::format("{}: {}", fault.code, message);
}

} // namespace

Query::Query(std::string_view text, jsonata::Expression expression)
    : text_{text}, expression_{std::move(expression)} {}

std::expected<Query, std::string> Query::compile(std::string_view text) {
    auto options = jsonata::Options{};
    options.functions = added_functions();
    options.has_eval = false;
    auto expression = jsonata::Expression::compile(text, options);
    if (!expression) {
        return std::unexpected(
            fmt::format("{} (at byte {})", told(expression.error()), expression.error().position));
    }
    return Query{text, *std::move(expression)};
}

std::expected<Value, std::string> Query::evaluate(const Sight& sight, Random& chance) const {
    auto answer = expression_.evaluate(std::nullopt, SightBindings{sight}, query_budget,
                                       jsonata::Circumstances{sight.now, chance.next()});
    if (auto* value = std::get_if<Value>(&answer)) {
        return std::move(*value);
    }
    const auto* fault = std::get_if<Fault>(&answer);
    if (fault == nullptr) {
        return std::unexpected("returned nothing (undefined).");
    }
    if (fault->code == "unsupported_result") {
        return std::unexpected("returned an unsupported result type.");
    }
    return std::unexpected(fmt::format("threw an error during evaluation. {}", told(*fault)));
}

std::vector<std::string> Query::variables() const {
    auto names = expression_.free_variables();
    std::erase(names, "states");
    return names;
}

bool Query::reads_state(std::string_view name) const {
    return std::ranges::any_of(expression_.questions(), [&](const auto& question) {
        return question.size() > 1 && question[0] == "states" && question[1] == name;
    });
}

} // namespace sluice::expr::states::internal
