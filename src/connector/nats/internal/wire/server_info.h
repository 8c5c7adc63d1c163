#pragma once

#include <string_view>

#include "base/result.h"

namespace sluice::connector::nats::internal::wire {

/// What we look at of INFO, by which a server begins.
struct ServerInfo {
    bool is_tls_required = false;
    bool is_tls_offered = false;
    bool has_headers = false;
};

/// Fails with Corrupt.
Result<ServerInfo> read_server_info(std::string_view json);

} // namespace sluice::connector::nats::internal::wire
