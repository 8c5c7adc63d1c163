#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "expr/program.h"

namespace sluice::expr {

/// What stands under a path of member names and indices of lists; null when nothing does.
const Value* find_at(const Value& value, std::span<const std::string_view> path);

/// The members of a map as names.
class MapBindings final : public Bindings {
public:
    explicit MapBindings(Value names = {}) : names_{std::move(names)} {}

    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        const auto* found = find_at(names_, path);
        return found != nullptr ? std::optional{*found} : std::nullopt;
    }

private:
    Value names_;
};

} // namespace sluice::expr
