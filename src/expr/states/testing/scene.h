#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "expr/states/sight.h"
#include "value/value.h"

namespace sluice::expr::states::testing {

/// What a sight shows, from JSON texts.
class Scene final : public Context, public Variables {
public:
    explicit Scene(std::string_view data, std::string_view context = "{}",
                   std::string_view variables = "{}");

    const Value& value() const override { return context_; }
    const Value* find(std::string_view name) const override { return variables_.find(name); }
    Value all() const override { return variables_; }

    /// The data is the input too.
    Sight sight() const;

private:
    Value data_;
    Value context_;
    Value variables_;
};

/// A result as JSON, or `error: cause`.
std::string told(const std::expected<Value, Failure>& outcome);

} // namespace sluice::expr::states::testing
