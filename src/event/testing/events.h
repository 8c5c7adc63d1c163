#pragma once

#include <string>
#include <string_view>

#include "event/event.h"

namespace sluice::event::testing {

/// An id that no other call in this process gives.
std::string unique_id();

/// An event of this type, with an id of its own and nothing else.
Event event_named(std::string_view type);
Event event_of(std::string_view type, std::string_view subject, const Value& data);

} // namespace sluice::event::testing
