#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "connector/nats/internal/wire/commands.h"
#include "connector/nats/internal/wire/operation_buffer.h"
#include "connector/nats/internal/wire/server_info.h"
#include "connector/nats/internal/wire/silence.h"
#include "connector/nats/options.h"
#include "reactor/byte_stream.h"

namespace sluice::connector::nats::internal::wire {

/// A connection by the NATS client protocol, logged in. One thread at a time. It is of no use after
/// an error.
class Connection {
public:
    /// To one server, `host:port`. Fails when the server is not there, refuses the login or cannot
    /// be trusted.
    static Result<Connection> open(const Options& options, std::string_view server,
                                   std::string_view name);
    /// Whether it can show who we are: it has no keys to sign with.
    static bool can_log_in(const Login& login);

    /// The next message, or an error that the server goes on after, when it is there; valid until
    /// the next call. Everything else is answered here.
    Result<std::optional<Operation>> next();
    /// Until something may be there, once `next` has said that nothing is.
    void wait(Nanos limit) const;

    /// For commands, which leave with `send`.
    CommandWriter writer() { return CommandWriter{out_}; }
    std::size_t unsent_bytes() const { return out_.size(); }
    Result<void> send();
    /// Sends everything and waits until the server has it; messages that come are thrown away.
    Result<void> finish(Nanos limit);

private:
    explicit Connection(reactor::ByteStream stream);

    Result<void> log_in(const Options& options, reactor::ByteStream::Place place,
                        std::string_view name);
    Result<void> encrypt(const Options& options, const ServerInfo& info,
                         reactor::ByteStream::Place& place);
    /// Every operation, in order.
    Result<std::optional<Operation>> receive();
    /// The same, waiting for it.
    Result<Operation> await(reactor::Deadline deadline);
    Result<void> await_pong(reactor::Deadline deadline);
    Result<void> check_silence();

    reactor::ByteStream stream_;
    OperationBuffer buffer_;
    std::string out_;
    Silence silence_;
};

} // namespace sluice::connector::nats::internal::wire
