#include "connector/amqp/internal/attribute.h"

#include <chrono>

#include "base/clock.h"
#include "value/time_text.h"

namespace sluice::connector::amqp::internal {

namespace {

constexpr auto seconds_max = std::int64_t{9'000'000'000};
constexpr auto millis_max = seconds_max * 1000;

} // namespace

std::string_view attribute_of(std::string_view header) {
    auto at = attribute_prefix.size();
    auto is_attribute = header.size() > at + 1 && header.starts_with(attribute_prefix) &&
                        (header[at] == ':' || header[at] == '_');
    return is_attribute ? header.substr(at + 1) : std::string_view{};
}

std::optional<std::string> time_text_of_seconds(std::uint64_t seconds) {
    if (seconds > static_cast<std::uint64_t>(seconds_max)) {
        return std::nullopt;
    }
    return value::format_time(Time{std::chrono::seconds{seconds}});
}

std::optional<std::string> time_text_of_millis(std::int64_t millis) {
    if (millis < 0 || millis > millis_max) {
        return std::nullopt;
    }
    return value::format_time(Time{std::chrono::milliseconds{millis}});
}

} // namespace sluice::connector::amqp::internal
