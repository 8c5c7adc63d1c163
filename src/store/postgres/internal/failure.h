#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::store::postgres {

/// What a failed attempt means for whoever made it.
enum class Trouble : std::uint8_t {
    Lost,     ///< The connection is gone: what was sent may have happened.
    Busy,     ///< Undone, and may be tried again.
    ReadOnly, ///< Undone: the server takes no writes, perhaps for being a replica by now.
    Fenced,   ///< Undone: a fence did not match.
    Full,     ///< Undone: no space.
    Refused,  ///< Undone: trying again would not help.
};

struct Failure {
    Trouble trouble = Trouble::Refused;
    Errc code = Errc::Internal;
    std::string message;
};

template <typename T>
using Outcome = std::expected<T, Failure>;

Failure lost(std::string message);
/// What a server's SQLSTATE means.
Failure failure_of(std::string_view state, std::string message);
Failure refused(Errc code, std::string message);

} // namespace sluice::store::postgres
