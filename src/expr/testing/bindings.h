#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "expr/program.h"

namespace sluice::expr::testing {

/// The members of a map as names.
class MapBindings final : public Bindings {
public:
    explicit MapBindings(Value names = {}) : names_{std::move(names)} {}

    std::optional<Value> resolve(std::span<const std::string_view> path) const override;

private:
    Value names_;
};

/// Every member of the map, as names that an expression may use.
CompileOptions options_for(const Value& names);

} // namespace sluice::expr::testing
