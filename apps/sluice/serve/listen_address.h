#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace sluice::app {

/// Where a server listens.
struct ListenAddress {
    std::string host;
    std::uint16_t port = 0;

    /// `127.0.0.1:8080` or `[::1]:8080`.
    static Result<ListenAddress> parse(const std::string& text);
    /// Nobody but this machine gets there.
    bool is_loopback() const { return host == "::1" || host.starts_with("127."); }
    std::string url(std::string_view scheme, std::uint16_t actual_port) const;
};

} // namespace sluice::app
