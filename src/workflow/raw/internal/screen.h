#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "workflow/raw/positions.h"

namespace sluice::workflow::raw::internal {

struct Fault {
    Place place;
    std::string message;
};

/// What makes a text unfit for any reader: its size, bytes that are not UTF-8, control characters.
std::optional<Fault> screen_text(std::string_view text);
/// What would cost a reader of YAML more than the text is worth: brackets without end.
std::optional<Fault> screen_brackets(std::string_view text);

/// The place of a byte.
Place place_at(std::string_view text, std::size_t byte);

} // namespace sluice::workflow::raw::internal
