#include "expr/states/selector.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/fingerprint.h"
#include "base/random.h"
#include "base/result.h"
#include "expr/states/internal/call.h"
#include "expr/states/internal/rooted_path.h"
#include "expr/states/internal/wording.h"

namespace sluice::expr::states {

using internal::Call;
using internal::RootedPath;

struct Selector::Plan {
    std::variant<RootedPath, Call> source;
    std::vector<std::string> variables;
    std::uint64_t salt = 0; ///< So that two functions of a state draw different numbers.

    std::expected<Value, Failure> call(const Sight& sight) const {
        auto chance = Random{sight.chance ^ salt};
        return std::get<Call>(source).evaluate(sight, chance);
    }
};

Selector::Selector(std::shared_ptr<const Plan> plan) : plan_{std::move(plan)} {}

std::expected<Selector, std::string> Selector::compile(std::string_view text, Kind kind) {
    if (kind == Kind::PathOrFunction && !text.starts_with('$')) {
        auto call = TRY(Call::compile(text));
        auto variables = call.variables();
        return Selector{std::make_shared<const Plan>(
            Plan{std::move(call), std::move(variables), hash64(text)})};
    }
    auto form = kind == Kind::Reference ? RootedPath::Form::Reference : RootedPath::Form::Any;
    auto path = TRY(RootedPath::compile(text, form));
    auto variables = std::vector<std::string>{};
    if (!path.variable().empty()) {
        variables.push_back(path.variable());
    }
    return Selector{std::make_shared<const Plan>(Plan{std::move(path), std::move(variables)})};
}

std::expected<Value, Failure> Selector::read(const Sight& sight) const {
    const auto* path = std::get_if<RootedPath>(&plan_->source);
    if (path == nullptr) {
        return plan_->call(sight);
    }
    auto made = Value{};
    if (const auto* found = path->find(sight, made)) {
        return *found;
    }
    return std::unexpected(
        Failure{"States.Runtime",
                fmt::format("Invalid path '{}' : {}", path->text(), path->explain_missing(sight))});
}

std::expected<Value, Failure> Selector::read_for(std::string_view field, const Sight& sight) const {
    const auto* path = std::get_if<RootedPath>(&plan_->source);
    if (path == nullptr) {
        return plan_->call(sight);
    }
    auto made = Value{};
    if (const auto* found = path->find(sight, made)) {
        return *found;
    }
    return std::unexpected(internal::not_found(*path, field, sight));
}

std::optional<Value> Selector::find(const Sight& sight) const {
    auto made = Value{};
    const auto* found = find(sight, made);
    return found != nullptr ? std::optional{*found} : std::nullopt;
}

const Value* Selector::find(const Sight& sight, Value& made) const {
    if (const auto* path = std::get_if<RootedPath>(&plan_->source)) {
        return path->find(sight, made);
    }
    auto value = plan_->call(sight);
    if (!value) {
        return nullptr;
    }
    made = *std::move(value);
    return &made;
}

std::string Selector::missing_step(const Sight& sight) const {
    const auto* path = std::get_if<RootedPath>(&plan_->source);
    return path != nullptr ? path->missing_step(sight) : text();
}

const std::string& Selector::text() const {
    const auto* path = std::get_if<RootedPath>(&plan_->source);
    return path != nullptr ? path->text() : std::get<Call>(plan_->source).text();
}

bool Selector::is_function() const {
    return std::holds_alternative<Call>(plan_->source);
}

bool Selector::is_everything() const {
    const auto* path = std::get_if<RootedPath>(&plan_->source);
    return path != nullptr && path->is_everything();
}

const std::vector<std::string>& Selector::variables() const {
    return plan_->variables;
}

} // namespace sluice::expr::states
