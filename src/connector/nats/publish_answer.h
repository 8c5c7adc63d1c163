#pragma once

#include <string_view>

#include "base/result.h"

namespace sluice::connector::nats {

/// What JetStream answers to a message: that it has it, or why not. Unavailable when trying again
/// may help.
Result<void> parse_publish_answer(std::string_view json);

} // namespace sluice::connector::nats
