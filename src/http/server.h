#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "http/message.h"
#include "observe/diagnostics.h"
#include "observe/metrics.h"

namespace sluice::http {

/// Certificate chain and key, as PEM files.
struct TlsFiles {
    std::string certificate;
    std::string key;
};

struct ServerLimits {
    std::size_t header_bytes_max = std::size_t{16} << 10U;  ///< Beyond: 431.
    std::size_t body_bytes_max = std::size_t{4} << 20U;     ///< Beyond: 413.
    std::size_t bodies_bytes_max = std::size_t{256} << 20U; ///< Large bodies together. Beyond: 503.
    std::size_t connections_max = 20'000; ///< Beyond, a connection is closed at once.
    Nanos header_time_max = std::chrono::seconds{10};
    Nanos body_time_max = std::chrono::seconds{30};
    Nanos idle_time_max = std::chrono::seconds{75};       ///< Between two requests.
    Nanos write_time_max = std::chrono::seconds{30};      ///< For a reader that takes nothing.
    std::size_t stream_bytes_max = std::size_t{1} << 20U; ///< What a live stream holds back.
};

struct ServerOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0; ///< 0: any that is free.
    std::size_t threads = 1;
    ServerLimits limits;
    std::optional<TlsFiles> tls;
    /// Hears how long each request took to be answered, without its way over the network; null:
    /// nobody. Outlives the server.
    observe::Histogram* taken = nullptr;
};

/// A response without an end that its reader may fall behind on. From any thread.
class Stream {
public:
    virtual ~Stream() = default;
    /// False when the reader is gone or holds back too much: nothing of these bytes is sent.
    virtual bool offer(std::string bytes) = 0;
    /// After what was offered, the end.
    virtual void close() = 0;
};

/// The answer to one request, given once, from any thread. When nobody is left who could give it,
/// the other side gets 500.
class Exchange {
public:
    virtual ~Exchange() = default;
    virtual void answer(Response response) = 0;
    /// In place of `answer`: the head, and the body bit by bit. `on_close` comes once when the
    /// reader has gone or the stream was closed.
    virtual std::shared_ptr<Stream> stream(Response head, std::function<void()> on_close) = 0;
    /// Calls back, once, on the server's thread, when the other side goes before it is answered:
    /// for answers that take their time. Over TLS only when the connection breaks.
    virtual void when_gone(std::function<void()> /*call*/) {}
};

/// Called on one of the server's threads: must not block.
using Handler = std::function<void(Request request, std::shared_ptr<Exchange> exchange)>;

/// HTTP/1.1 on threads of its own.
class Server {
public:
    /// Fails with InvalidInput for an address that cannot be listened on or files that cannot be
    /// read.
    static Result<std::unique_ptr<Server>> open(ServerOptions options, Handler handler,
                                                observe::Diagnostics& diagnostics);
    virtual ~Server() = default;

    virtual std::uint16_t port() const = 0;
    virtual std::size_t connections() const = 0;
    /// For connections to come. Fails, and keeps what it has, when the files are not right.
    virtual Result<void> reload_tls(const TlsFiles& files) = 0;
    /// Takes no more connections, answers what was asked, for at most so long, and stops. Twice is
    /// safe.
    virtual void stop(Nanos grace) = 0;
};

} // namespace sluice::http
