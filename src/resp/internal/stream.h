#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string_view>

#include <openssl/ssl.h>

#include "base/result.h"
#include "reactor/file_descriptor.h"
#include "resp/options.h"

namespace sluice::resp::internal {

using Deadline = std::chrono::steady_clock::time_point;

Deadline after(Nanos limit);

/// A connection that never blocks by itself: TCP or a Unix socket, with TLS or without.
class Stream {
public:
    static Result<Stream> connect(const Options& options, Deadline deadline);

    /// 0 when nothing is there just now. Unavailable when the other side is gone.
    Result<std::size_t> read_some(std::span<char> into);
    Result<std::size_t> write_some(std::string_view bytes);

    enum class For : std::uint8_t { Reading, Both };
    /// Until reading (or writing) may get somewhere. Unavailable when the time is over.
    Result<void> wait(For what, Deadline deadline) const;

private:
    struct FreeContext {
        void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    };
    struct FreeSession {
        void operator()(SSL* session) const { SSL_free(session); }
    };

    Result<void> begin_tls(const Options& options, Deadline deadline);
    /// Notes what a TLS operation waits for; an error when it failed.
    Result<void> note(int outcome, short& wants) const;

    reactor::FileDescriptor socket_;
    std::unique_ptr<SSL_CTX, FreeContext> context_;
    std::unique_ptr<SSL, FreeSession> session_;
    short reading_wants_ = 0;
    short writing_wants_ = 0;
};

} // namespace sluice::resp::internal
