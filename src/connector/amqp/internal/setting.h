#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "connector/amqp/options.h"

namespace sluice::connector::amqp::internal {

/// Who may say it: each knows settings of its own, and all those of the connection.
enum class Use : std::uint8_t { Connection = 1, Bus = 2, Source = 4, Sink = 8 };

/// One setting by its name, as a URL's query and forms write it.
Result<void> set(Options& options, Use use, std::string_view name, std::string_view text);

} // namespace sluice::connector::amqp::internal
