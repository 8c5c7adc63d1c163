#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "value/value.h"

namespace sluice::value {

/// On one line and not longer than this, for a table.
std::string brief(const Value& value, std::size_t bytes_max = 60);
/// The error of a run or task as a person reads it: kind, message, and below it whatever else there
/// is.
std::string describe_error(const Value& error);
/// A member of a map as text; empty when there is none.
std::string text_at(const Value& map, std::string_view key);

/// What a counter becomes in JSON.
inline Value number(std::uint64_t count) {
    return Value{static_cast<std::int64_t>(count)};
}
/// A list of texts.
Value texts(const std::vector<std::string>& lines);

} // namespace sluice::value
