#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/strong.h"
#include "http/message.h"
#include "http/url.h"

namespace sluice::http {

/// Which addresses a request may go to, asked with each address a name stands for; the connection
/// is then made to exactly that address.
using AddressPolicy = std::function<bool(std::string_view address)>;

/// Nothing on this machine or in private networks: for URLs that workflows bring.
bool is_public_address(std::string_view address);

struct ClientOptions {
    std::size_t header_bytes_max = std::size_t{64} << 10U;
    std::size_t body_bytes_max = std::size_t{16} << 20U;
    std::size_t idle_per_host_max = 64; ///< Connections kept for the next request.
    Nanos idle_time_max = std::chrono::seconds{20};
    Nanos connect_time_max = std::chrono::seconds{5};
    AddressPolicy may_reach; ///< Empty: everything.
    std::string ca_file;     ///< Whom to trust; empty: whom the system trusts.
};

using CallId = Strong<struct CallTag, std::uint64_t>;

struct Call {
    Url url;
    Request request;
    Nanos timeout = std::chrono::seconds{30}; ///< For all of it; zero: none.
    /// Whether twice does no harm whatever the method says: the other side knows it by a key.
    bool is_repeatable = false;
    /// Sees the body bit by bit as it comes, which is then not in the response. On the client's
    /// thread.
    std::function<void(std::string_view)> on_body;
};

/// HTTP/1.1 requests from a thread of its own, over connections that are kept. Follows no
/// redirects.
class Client {
public:
    /// On the client's thread. Fails with Unavailable when nothing was sent, with Io when the
    /// request may have arrived, with LimitExceeded at the timeout, with InvalidInput when all
    /// addresses are such that it may not go there, with Unsupported when the answer is too long.
    using Done = std::move_only_function<void(Result<Response>)>;

    static std::unique_ptr<Client> create(ClientOptions options = {});
    virtual ~Client() = default;

    /// From any thread.
    virtual CallId send(Call call, Done done) = 0;
    /// Its `done` comes with an error, unless it came already.
    virtual void cancel(CallId id) = 0;

    /// Blocks until the answer is there.
    Result<Response> request(Call call);
};

} // namespace sluice::http
