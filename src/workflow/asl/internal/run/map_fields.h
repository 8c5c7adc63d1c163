#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "expr/states/sight.h"
#include "value/wording.h"
#include "workflow/asl/internal/run/fan.h"
#include "workflow/asl/machine.h"

/// What the definition of a distributed Map says, as those ask who run it.
namespace sluice::workflow::asl::internal::run {

inline const MapState& map_state(const Fan& fan) {
    return std::get<MapState>(fan.visit.state.details);
}

inline bool writes_objects(const Fan& fan) {
    const auto& writer = map_state(fan).writer;
    return writer && writer->arguments;
}

inline std::string transformation_of(const Fan& fan) {
    const auto& writer = map_state(fan).writer;
    return writer ? value::text_at(writer->config, "Transformation") : "";
}

/// Whether the result is another than the list of outputs.
inline bool is_transformed(const Fan& fan) {
    auto how = transformation_of(fan);
    return how == "NONE" || how == "FLATTEN";
}

// As much is kept of results before it is written, and so much is one file.
inline constexpr auto part_bytes_max = std::uint64_t{1} << 20U;

inline Value failure_value(const expr::states::Failure& failure) {
    return Value::object(
        {{"error", failure.error.value_or("")}, {"cause", failure.cause.value_or("")}});
}

inline expr::states::Failure failure_from(const Value& told) {
    return {.error = value::text_at(told, "error"), .cause = value::text_at(told, "cause")};
}

} // namespace sluice::workflow::asl::internal::run
