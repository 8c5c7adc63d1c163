#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/store.h"

namespace sluice::engine {

/// An event of a numbered source that no run was there for. Nobody can be told, so it is kept with
/// the shard, for a person to look at.
struct QuarantinedEvent {
    std::string space;
    std::string run; ///< That does not exist.
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

/// A shard keeps this many; then the source stops.
inline constexpr auto quarantine_events_max = std::uint64_t{10'000};

std::string encode_quarantined(const QuarantinedEvent& event);
/// Of all shards, oldest first.
Result<std::vector<QuarantinedEvent>> read_quarantine(const store::Store& store, std::size_t most);

} // namespace sluice::engine
