#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "event/event.h"

namespace sluice::event {

/// Where in a distributed trace something happens, as the attribute `traceparent` says it.
struct Trace {
    std::string_view id;   ///< 32 hexadecimal digits.
    std::string_view span; ///< 16 of them.
    bool is_sampled = false;
};

/// The attribute of an event that belongs to one; empty: it does not.
std::string trace_of(const Event& event);

/// Views into the text; nothing when it is no `traceparent` of version 00.
std::optional<Trace> parse_trace(std::string_view traceparent);

/// The span that a key stands for, always the same: 16 hexadecimal digits.
std::string span_of(std::string_view key);
/// What is begun under the span of a key, in the trace of another; empty when that is none.
std::string trace_under(std::string_view traceparent, std::string_view key);

} // namespace sluice::event
