#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::connector::amqp::internal {

inline constexpr std::string_view attribute_prefix = "cloudEvents";
/// The content type of an event in structured mode.
inline constexpr std::string_view event_type = "application/cloudevents+json";

/// The attribute that a header of AMQP 0.9.1, or an application property of 1.0, stands for:
/// `cloudEvents:NAME` or `cloudEvents_NAME`. Empty: none.
std::string_view attribute_of(std::string_view header);

/// Since 1970, as CloudEvents writes times; nothing when it lies beyond what we count in.
std::optional<std::string> time_text_of_seconds(std::uint64_t seconds);
std::optional<std::string> time_text_of_millis(std::int64_t millis);

} // namespace sluice::connector::amqp::internal
