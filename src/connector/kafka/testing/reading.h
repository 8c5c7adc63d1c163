#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "event/producer.h"
#include "event/source.h"

namespace sluice::connector::kafka::testing {

using namespace std::chrono_literals;

/// A record, with what it holds.
struct Read {
    std::string partition;
    std::uint64_t number = 0;
    std::string text;
    std::string fault;
    bool is_numbered = true;

    bool operator==(const Read&) const = default;
};

/// Reads until that many have come, at most this long; what came then.
std::vector<Read> read_some(event::Source& source, std::size_t count, Nanos limit = 20s,
                            std::size_t bytes_max = 1 << 20);

/// Reads until this holds, at most this long; whether it does.
bool read_until(event::Source& source, const std::function<bool()>& holds, Nanos limit = 20s);

std::vector<std::string> texts(const std::vector<Read>& reads);
std::vector<std::uint64_t> numbers(const std::vector<Read>& reads);

/// An event as JSON, of about this size.
std::string event_json(std::uint64_t id, std::size_t bytes = 0);

/// Sends and waits; the error's text, or nothing.
std::string send_and_wait(event::Producer& producer, std::string to, std::string json,
                          Nanos limit = 20s);

/// Whether it came true in time; looks again and again.
bool wait_for(const std::function<bool()>& holds, Nanos limit = 20s);

} // namespace sluice::connector::kafka::testing
