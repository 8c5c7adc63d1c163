#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "expr/states/sight.h"
#include "workflow/asl/machine.h"

namespace sluice::workflow::asl::internal {

using expr::states::Failure;
using expr::states::Sight;

/// What `InputPath` or `OutputPath` leaves of the sight's data.
std::expected<Value, Failure> select(const PathField& field, const Sight& sight);

/// The raw input with a result where `ResultPath` says.
std::expected<Value, Failure> put(const ResultPath& path, const Value& raw, Value result);

/// A number field as it is written, or what its path or expression finds; nothing: it is not given.
std::expected<std::optional<Value>, Failure> number(const NumberField& field, std::string_view name,
                                                    const Sight& sight);

/// How many bytes of JSON a value is, or more than `most` if it is larger than that.
std::size_t json_bytes(const Value& value, std::size_t most);

} // namespace sluice::workflow::asl::internal
