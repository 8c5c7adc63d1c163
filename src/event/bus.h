#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "event/producer.h"
#include "event/source.h"

namespace sluice::event {

/// How fast a bare client reads what lies on a bus, throwing it away.
struct Ceiling {
    double group_events_per_second = 0;    ///< By the broker's own groups and acknowledgements.
    double position_events_per_second = 0; ///< By position; 0: it has none.
};

/// A broker, as the bus of a whole system: one partition per shard.
class Bus {
public:
    virtual ~Bus() = default;
    /// The name of a shard's partition, for `resume` and `send`; positions are stored under it.
    virtual std::string partition(ShardId shard) const = 0;
    /// Makes the partitions that are not there yet. Conflict when what is there has another shape.
    virtual Result<void> create(std::uint16_t shards) = 0;
    /// With no partition yet.
    virtual Result<std::unique_ptr<Source>> open_source() = 0;
    virtual Result<std::unique_ptr<Producer>> open_producer() = 0;
    /// Reads one partition that holds so many events, from its beginning, as fast as the client
    /// can: for `sluice bench`.
    virtual Result<Ceiling> measure(ShardId shard, std::uint64_t events) = 0;
    /// Removes the partitions and all that lies in them.
    virtual Result<void> remove(std::uint16_t shards) = 0;
};

} // namespace sluice::event
