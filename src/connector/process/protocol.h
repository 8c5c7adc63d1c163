#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "event/sink.h"

namespace sluice::connector::process {

/// The line that asks a worker of a pool for a call: docs/reference/functions.md.
std::string request_line(std::uint64_t id, const event::Delivery& delivery);

/// The worker is at it still.
struct Heartbeat {};

/// What a worker's line says on this call. Fails with InvalidInput when it is none of the
/// protocol, or on another call.
Result<std::variant<event::Answer, Heartbeat>> read_line(std::uint64_t id, std::string_view line);

} // namespace sluice::connector::process
