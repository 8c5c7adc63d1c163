#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "event/internal/scanner.h"
#include "value/value.h"

namespace sluice::event::internal {

/// The value of a JSON text that a scanner has passed.
Value to_value(std::string_view json);
/// The text of a string that a scanner has passed; `storage` holds it when there are escapes.
std::string_view text_of(const Scanner::String& string, std::string& storage);
/// The JSON text under a path of member names and list indices. Of repeated names the first stands.
std::optional<std::string_view> find_path(std::string_view json,
                                          std::span<const std::string_view> path);

} // namespace sluice::event::internal
