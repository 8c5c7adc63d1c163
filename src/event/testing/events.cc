#include "event/testing/events.h"

#include <atomic>
#include <cstdint>

#include "event/builder.h"

namespace sluice::event::testing {

std::string unique_id() {
    static auto counter = std::atomic<std::uint64_t>{0};
    return fmt::format("event-{}", ++counter);
}

Event event_named(std::string_view type) {
    return Builder(unique_id(), "/test", type).build();
}

Event event_of(std::string_view type, std::string_view subject, const Value& data) {
    return Builder(unique_id(), "/test", type).subject(subject).data(data).build();
}

} // namespace sluice::event::testing
