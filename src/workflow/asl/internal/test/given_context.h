#pragma once

#include <string>

#include "expr/states/sight.h"
#include "workflow/asl/machine.h"
#include "workflow/asl/test_state.h"

namespace sluice::workflow::asl::internal {

/// What is wrong with a context object that a test gives; empty: nothing.
std::string context_fault(const Value& context, const State& state);

/// The context object of a test that gives none.
Value made_context(const StateTest& test, const State& state);

/// A context object that is there already.
class GivenContext final : public expr::states::Context {
public:
    explicit GivenContext(Value value) : value_(std::move(value)) {}

    const Value& value() const override { return value_; }

private:
    Value value_;
};

/// Variables of one scope, as a map.
class GivenVariables final : public expr::states::Variables {
public:
    explicit GivenVariables(Value map) : map_(std::move(map)) {}

    const Value* find(std::string_view name) const override { return map_.find(name); }
    Value all() const override { return map_.is_map() ? map_ : Value::map({}); }

private:
    Value map_;
};

} // namespace sluice::workflow::asl::internal
