#pragma once

#include <cstdint>
#include <expected>
#include <string_view>

#include "base/clock.h"
#include "expr/states/sight.h"
#include "value/value.h"
#include "workflow/asl/machine.h"

namespace sluice::workflow::asl::internal {

using expr::states::Failure;
using expr::states::Sight;

template <typename T>
using Flow = std::expected<T, Failure>;

/// `InputPath` or `OutputPath`: what it selects from the sight's data.
Flow<Value> apply_path(const PathField& field, const Sight& sight);

/// `ResultPath`: the raw input with the result in its place.
Flow<Value> place_result(const ResultPath& path, const Value& raw_input, Value result);

/// A whole number, also a negative one: `MaxItems`. `field` is its name without `Path`.
Flow<std::int64_t> read_integer(const NumberField& number, std::string_view field,
                                const Sight& sight);
/// A whole number that is not negative: `TimeoutSeconds`, `MaxConcurrency`,
/// `ToleratedFailureCount`.
Flow<std::int64_t> read_count(const NumberField& number, std::string_view field,
                              const Sight& sight);
/// `ToleratedFailurePercentage`: from 0 to 100.
Flow<double> read_percentage(const NumberField& number, std::string_view field, const Sight& sight);

/// When a Wait state goes on: now or later, by the sight's own time.
Flow<Time> read_wait(const WaitState& wait, const Sight& sight);

/// What a Map state iterates over without a reader: a list, or the members of an object.
Flow<Value> read_items(const MapState& map, Language language, const Sight& sight);

/// Error and cause of a Fail state, each of which may be missing.
Flow<Failure> read_failure(const FailState& fail, const Sight& sight);

/// Of a Choice state none of whose rules holds and that has no `Default`.
Failure no_choice_matched();

} // namespace sluice::workflow::asl::internal
