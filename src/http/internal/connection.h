#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "http/internal/asio.h"
#include "http/internal/gate.h"
#include "http/server.h"

namespace boost::asio::ssl {
class context;
}

namespace sluice::http::internal {

/// What all connections of a server share; outlives them.
struct ConnectionWorld {
    ServerLimits limits;
    observe::Histogram* taken = nullptr;
    Handler handler;
    std::atomic<bool> is_stopping{false};
    std::atomic<std::size_t> connections{0};
    std::atomic<std::size_t> body_bytes{0}; ///< Of large bodies, until they are answered.
};

/// One connection, from its first byte to its last. Lives on its loop's thread.
class Connection {
public:
    using Moment = std::chrono::steady_clock::time_point;

    virtual ~Connection() = default;
    /// Reads, hands to the handler, waits and writes, until either side closes.
    virtual Task<> run() = 0;
    /// At once; what is under way fails.
    virtual void close() = 0;
    /// The same, and it waits for nobody's answer any more.
    virtual void abandon() = 0;

    bool is_idle() const { return is_idle_; }
    /// When whatever it waits for has taken too long; nothing while it waits for the handler.
    std::optional<Moment> deadline() const { return deadline_; }

protected:
    bool is_idle_ = true; ///< Between two requests.
    std::optional<Moment> deadline_;
};

/// With a context, TLS.
std::shared_ptr<Connection> make_connection(Socket socket, std::shared_ptr<Gate> gate,
                                            std::shared_ptr<boost::asio::ssl::context> tls,
                                            ConnectionWorld& world);

} // namespace sluice::http::internal
