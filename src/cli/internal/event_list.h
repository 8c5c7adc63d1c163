#pragma once

#include <cstdint>
#include <string>

#include "cli/exit_code.h"
#include "client/client.h"

namespace sluice::cli {

/// Whether to tell what followed from each event.
enum class Detail : std::uint8_t { Event, Changes };

/// The events of a run from a number on, as lines for people or as JSON lines.
ExitCode list_events(client::Client& client, const std::string& run, std::uint64_t from,
                     std::uint64_t limit, Detail detail, bool is_json);

} // namespace sluice::cli
