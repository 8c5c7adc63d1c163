#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "event/event.h"
#include "store/store.h"

namespace sluice::engine {

/// An event of a source that no run was there for, or a message that is no event. Nobody can be
/// told, so it is kept with the shard, for a person to look at.
struct QuarantinedEvent {
    std::string space;
    std::string run; ///< That does not exist; empty: the message is no event.
    std::string partition;
    std::uint64_t number = 0;
    Time since{};
    std::string json;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("space", space)("run", run)("partition", partition)("number", number)(
            "since", since)("json", json);
    }
};

/// The type of an event that stands for a message that is none.
inline constexpr auto malformed_type = std::string_view{"sluice.malformed"};
/// Its data: {reason, message}.
event::Event malformed_event(std::string_view partition, std::uint64_t number,
                             std::string_view reason, std::string_view message);
/// Why an event was set aside, in words.
std::string reason_of(const QuarantinedEvent& event);

/// A shard keeps this many; then the source stops.
inline constexpr auto quarantine_events_max = std::uint64_t{10'000};

std::string encode_quarantined(const QuarantinedEvent& event);
/// Of all shards, oldest first.
Result<std::vector<QuarantinedEvent>> read_quarantine(const store::Store& store, std::size_t most);

} // namespace sluice::engine
