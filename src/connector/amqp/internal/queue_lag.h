#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "connector/amqp/options.h"

namespace sluice::connector::amqp::internal {

/// Messages that lie in these queues behind these positions, over a connection of its own. The
/// broker counts those of a stream every few seconds.
Result<std::uint64_t> count_lag(const Options& options,
                                const std::map<std::string, std::uint64_t>& positions);

} // namespace sluice::connector::amqp::internal
