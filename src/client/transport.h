#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "http/message.h"
#include "http/server.h"

namespace sluice::client {

/// Sees a body bit by bit; false: enough of it.
using OnBody = std::function<bool(std::string_view bytes)>;

/// How a request gets to a server and its answer back: over a socket, or within this process.
///
/// Both calls block, and fail with Unavailable when nothing was sent, with Io when the request may
/// have arrived, with LimitExceeded when the time is over.
class Transport {
public:
    virtual ~Transport() = default;

    /// A timeout of zero is none.
    virtual Result<http::Response> request(http::Request request, Nanos timeout) = 0;
    /// For an answer without an end, on the caller's thread. `idle_time_max` is how long nothing
    /// may come. What stops it early is no error.
    virtual Result<http::Response> stream(http::Request request, Nanos idle_time_max,
                                          const OnBody& on_body) = 0;
    /// As people know it: `http://127.0.0.1:8080`.
    virtual const std::string& name() const = 0;
};

struct SocketOptions {
    std::string server = "http://127.0.0.1:8080";
    std::string ca_file; ///< Whom to trust; empty: whom the system trusts.
};

/// Fails with InvalidInput for a URL that is none, with NotFound for a file that cannot be read.
Result<std::unique_ptr<Transport>> open_socket_transport(const SocketOptions& options);

/// Straight to what would stand behind a server's socket.
std::unique_ptr<Transport> make_local_transport(http::Handler handler, std::string name);

} // namespace sluice::client
