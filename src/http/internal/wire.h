#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "http/client.h"
#include "http/internal/asio.h"

namespace sluice::http::internal {

/// One connection to a server, with or without TLS.
class Wire {
public:
    virtual ~Wire() = default;
    /// Only with TLS there is something to do: whoever answers must be who the URL names.
    virtual Task<Result<void>> shake_hands(const std::string& host) = 0;
    /// Sends a request and reads its answer. Sets `has_sent` before the first byte leaves.
    virtual Task<Result<Response>> exchange(const Call& call, const ClientOptions& options,
                                            bool& has_sent) = 0;
    /// Whether another request may follow.
    virtual bool is_kept_alive() const = 0;
    /// At once; what is under way fails.
    virtual void close() = 0;
    virtual Socket& socket() = 0;
};

/// With a context, TLS. The context outlives the wire.
std::unique_ptr<Wire> make_wire(Socket socket, boost::asio::ssl::context* tls);

} // namespace sluice::http::internal
