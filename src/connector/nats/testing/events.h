#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "event/bus.h"

namespace sluice::connector::nats::testing {

/// An event of that id as JSON, with so much data.
std::string event_json(std::string_view id, std::size_t data_bytes = 10);

/// Sends events with these ids, and waits until they are confirmed.
Result<void> send_all(event::Producer& producer, const std::string& to, std::uint64_t first,
                      std::uint64_t last, std::size_t data_bytes = 10);

/// A message that was read.
struct Read {
    std::uint64_t number = 0;
    std::string text;
    std::string fault;
};

/// Reads until there are so many, or the time is over.
Result<std::map<std::string, std::vector<Read>>> read_all(event::Source& source, std::size_t count,
                                                          Nanos limit = std::chrono::seconds{20});

/// The number in the id of an event made by `event_json`.
std::uint64_t id_in(const Read& read);

} // namespace sluice::connector::nats::testing
