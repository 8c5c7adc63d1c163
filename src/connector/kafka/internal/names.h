#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::connector::kafka::internal {

/// What Kafka takes as a topic's name; a slash is never in one.
bool is_topic_name(std::string_view name);

/// A partition as the rest of the program names it: `topic/3`.
struct PartitionName {
    std::string topic;
    std::int32_t partition = 0;

    std::string text() const;
    bool operator==(const PartitionName&) const = default;
};

Result<PartitionName> parse_partition_name(std::string_view name);

} // namespace sluice::connector::kafka::internal
