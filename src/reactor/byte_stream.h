#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <openssl/ssl.h>

#include "base/clock.h"
#include "base/result.h"
#include "reactor/file_descriptor.h"

namespace sluice::reactor {

using Deadline = std::chrono::steady_clock::time_point;

Deadline after(Nanos limit);

enum class Encryption : std::uint8_t {
    None,
    Verified,   ///< TLS, and the server shows a certificate for its name.
    Unverified, ///< TLS with whoever answers: against listeners, not against impostors.
};

struct Tls {
    Encryption encryption = Encryption::None;
    std::string ca_file{}; ///< Empty: those that the system trusts.
    std::string certificate_file{};
    std::string key_file{};
    std::string key_password{};
};

/// A connection that never blocks by itself: TCP or a Unix socket, with TLS or without.
class ByteStream {
public:
    struct Place {
        std::string host;
        std::uint16_t port = 0;
        std::string socket_path{}; ///< A Unix socket instead of host and port.
        Tls tls{};
    };

    static Result<ByteStream> connect(const Place& place, Deadline deadline);
    /// On a connection without: for protocols that begin in plain text. Nothing may have been read
    /// beyond what came before the handshake.
    Result<void> begin_tls(const Place& place, Deadline deadline);

    /// 0 when nothing is there just now. Unavailable when the other side is gone.
    Result<std::size_t> read_some(std::span<char> into);
    Result<std::size_t> write_some(std::string_view bytes);

    enum class For : std::uint8_t { Reading, Writing, Both };
    /// Until that may get somewhere. Unavailable when the time is over.
    Result<void> wait(For what, Deadline deadline) const;

    /// The other side hears at once what has come: TCP otherwise waits up to 40 ms for something to
    /// send along, and who sends much stands still meanwhile. Holds until the next byte is sent.
    void acknowledge_at_once() const;

    /// For those who wait for several: once `read_some` has said 0, poll it for this.
    int raw() const { return socket_.raw(); }
    short reading_wants() const { return reading_wants_; }

private:
    struct FreeContext {
        void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    };
    struct FreeSession {
        void operator()(SSL* session) const { SSL_free(session); }
    };

    /// Notes what a TLS operation waits for; an error when it failed.
    Result<void> note(int outcome, short& wants) const;

    FileDescriptor socket_;
    std::unique_ptr<SSL_CTX, FreeContext> context_;
    std::unique_ptr<SSL, FreeSession> session_;
    short reading_wants_ = 0;
    short writing_wants_ = 0;
};

} // namespace sluice::reactor
