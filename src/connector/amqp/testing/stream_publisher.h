#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "connector/amqp/options.h"

namespace sluice::connector::amqp::testing {

/// Publishes to a stream by the stream protocol, as its own clients do. Each entry is what
/// `entry_bytes` or `batch_bytes` makes. Returns when all are confirmed.
Result<void> publish_entries(const Options& options, std::string_view stream,
                             const std::vector<std::string>& entries);

} // namespace sluice::connector::amqp::testing
