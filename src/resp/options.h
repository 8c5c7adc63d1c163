#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "reactor/byte_stream.h"
#include "resp/parser.h"

namespace sluice::resp {

using reactor::Encryption;
using reactor::Tls;

/// Where a server is and how one gets in.
struct Options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 6379;
    std::string socket_path{}; ///< A Unix socket instead of host and port.
    std::string user{};
    std::string password{};
    std::uint16_t database = 0;
    std::string client_name = "sluice"; ///< What CLIENT LIST shows.
    Tls tls{};
    Nanos connect_limit = std::chrono::seconds{5}; ///< Until the server has let us in.
    Nanos call_limit = std::chrono::seconds{10};
    Limits limits{};

    /// For people: without name and password.
    std::string address() const;
};

/// What a URL says beside the server's place.
struct Url {
    Options server;
    std::string path;                                       ///< Decoded, without the first slash.
    std::vector<std::pair<std::string, std::string>> query; ///< What is not about the connection.
};

/// `redis://[user:password@]host[:port]/[path]`, `rediss://` by TLS, or
/// `redis+unix://[user:password@]/socket`, with the parameters `db`, `ca`, `cert`, `key`, `verify`
/// (`yes`, `no`) and `connect_limit` (such as `5s`). Whoever takes the other parameters refuses
/// those it does not know. Errors never show the password.
Result<Url> parse_url(std::string_view text);

/// `250ms`, `5s`, `2m`, `1h`; `what` is the name for the error.
Result<Nanos> parse_duration(std::string_view what, std::string_view text);
/// A whole number in [least, most].
Result<std::uint64_t> parse_whole(std::string_view what, std::string_view text, std::uint64_t least,
                                  std::uint64_t most);

} // namespace sluice::resp
