#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "connector/redis/entry.h"
#include "resp/options.h"
#include "value/value.h"

namespace sluice::connector::redis {

enum class Reading : std::uint8_t {
    Position, ///< By our own position; the group's follows behind, for whoever watches it.
    Group,    ///< As a consumer of the group: entries are acknowledged once they are durable.
};

/// Where to begin in a stream that was never read.
enum class Start : std::uint8_t {
    First,    ///< With the first entry it ever had; refused when that is gone.
    Earliest, ///< With the first that is still there.
    New,      ///< With what comes from now on.
};

enum class Trim : std::uint8_t {
    No,
    Confirmed, ///< What is durable with us leaves the stream, a little later.
};

struct Options {
    resp::Options server{};
    std::string prefix = "sluice";      ///< Before the names of a bus's streams.
    std::vector<std::string> streams{}; ///< Those that a source of somebody's own reads.
    Reading reading = Reading::Position;
    std::string group = "sluice"; ///< Empty: no group follows our position.
    std::string consumer = "sluice";
    Start start = Start::First;
    /// Without a choice a bus is trimmed, and a stream of somebody's own is not.
    std::optional<Trim> trim{};
    Mode mode = Mode::Structured;
    std::uint64_t length_max = 0; ///< Of the streams we write to, about; 0: not cut by us.
    Nanos patience = std::chrono::seconds{60};   ///< Of the producer with a lost server.
    Nanos claim_after = std::chrono::minutes{1}; ///< Entries of a consumer silent for so long.
};

/// `redis://[user:password@]host:port/[prefix]?…` with the parameters that README.md names.
Result<Options> parse_options(std::string_view url);
/// The form of a source or sink: `url`, and the same names as members.
Result<Options> parse_form(const Value& form);

} // namespace sluice::connector::redis
