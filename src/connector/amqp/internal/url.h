#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice::connector::amqp::internal {

/// The parts of a URL, each decoded.
struct Url {
    std::string scheme;
    bool has_user = false;
    std::string user;
    std::string password;
    std::string host; ///< Without the brackets of an IPv6 address.
    std::optional<std::uint16_t> port;
    std::string path; ///< Without its first slash.
    std::vector<std::pair<std::string, std::string>> query;
};

/// Fails with InvalidInput, and repeats nothing that may be a password.
Result<Url> parse_url(std::string_view text);

} // namespace sluice::connector::amqp::internal
