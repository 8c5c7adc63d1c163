#include "connector/nats/internal/wire/connection.h"

#include <charconv>
#include <utility>

#include "connector/nats/internal/steady.h"

namespace sluice::connector::nats::internal::wire {

namespace {

constexpr auto connect_time_max = Nanos{std::chrono::seconds{2}};
constexpr auto send_time_max = Nanos{std::chrono::seconds{10}};
// The one error behind which a server goes on.
constexpr auto permissions_error = std::string_view{"Permissions Violation"};

Result<reactor::ByteStream::Place> place_of(std::string_view server) {
    auto colon = server.rfind(':');
    auto port = std::uint16_t{0};
    if (colon != std::string_view::npos) {
        std::from_chars(server.data() + colon + 1, server.data() + server.size(), port);
    }
    if (port == 0) {
        return fail(Errc::InvalidInput, "expected host:port, found '{}'", server);
    }
    auto host = server.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    }
    return reactor::ByteStream::Place{.host = std::string{host}, .port = port};
}

std::unexpected<Error> refused(std::string_view reason) {
    return fail(Errc::Unavailable, "the server says: {}", reason);
}

} // namespace

Connection::Connection(reactor::ByteStream stream)
    : stream_(std::move(stream)), silence_(steady_now()) {}

bool Connection::can_log_in(const Login& login) {
    return login.credentials_file.empty() && login.nkey.empty();
}

Result<Connection> Connection::open(const Options& options, std::string_view server,
                                    std::string_view name) {
    auto place = TRY(place_of(server));
    auto connection =
        Connection{TRY(reactor::ByteStream::connect(place, reactor::after(connect_time_max)))};
    TRY(connection.log_in(options, std::move(place), name));
    return connection;
}

Result<void> Connection::log_in(const Options& options, reactor::ByteStream::Place place,
                                std::string_view name) {
    auto deadline = reactor::after(connect_time_max);
    auto first = TRY(await(deadline));
    if (first.verb == Verb::Error) {
        return refused(first.text);
    }
    if (first.verb != Verb::Info) {
        return fail(Errc::Corrupt, "expected INFO, found another operation");
    }
    auto info = TRY(read_server_info(first.text));
    if (!info.has_headers) {
        return fail(Errc::Unsupported, "the server knows no headers: NATS 2.9 and later does");
    }
    TRY(encrypt(options, info, place));
    auto is_tls = place.tls.encryption != reactor::Encryption::None;
    writer().connect(options.login, name, is_tls);
    writer().ping();
    TRY(send());
    return await_pong(deadline);
}

/// The server begins in plain text and expects the handshake behind its INFO.
Result<void> Connection::encrypt(const Options& options, const ServerInfo& info,
                                 reactor::ByteStream::Place& place) {
    const auto& tls = options.tls;
    if (tls.is_on && !info.is_tls_required && !info.is_tls_offered) {
        return fail(Errc::Unavailable, "the server offers no TLS");
    }
    if (!tls.is_on && !info.is_tls_required) {
        return {};
    }
    auto is_verified = tls.verification == Verification::On;
    place.tls = {
        .encryption = is_verified ? reactor::Encryption::Verified : reactor::Encryption::Unverified,
        .ca_file = tls.ca_file,
        .certificate_file = tls.certificate_file,
        .key_file = tls.key_file};
    return stream_.begin_tls(place, reactor::after(connect_time_max));
}

Result<std::optional<Operation>> Connection::receive() {
    while (true) {
        auto operation = TRY(buffer_.next());
        if (operation) {
            return operation;
        }
        auto size = TRY(stream_.read_some(buffer_.room()));
        if (size == 0) {
            return std::nullopt;
        }
        silence_.hear(steady_now());
        buffer_.add(size);
    }
}

Result<Operation> Connection::await(reactor::Deadline deadline) {
    while (true) {
        if (auto operation = TRY(receive()); operation) {
            return *operation;
        }
        TRY(stream_.wait(reactor::ByteStream::For::Reading, deadline));
    }
}

Result<void> Connection::await_pong(reactor::Deadline deadline) {
    while (true) {
        auto operation = TRY(await(deadline));
        if (operation.verb == Verb::Pong) {
            return {};
        }
        if (operation.verb == Verb::Error) {
            return refused(operation.text);
        }
        if (reactor::Deadline::clock::now() > deadline) {
            return fail(Errc::Unavailable, "no answer in time");
        }
    }
}

Result<std::optional<Operation>> Connection::next() {
    while (true) {
        auto operation = TRY(receive());
        if (!operation) {
            TRY(check_silence());
            return std::nullopt;
        }
        if (operation->verb == Verb::Message) {
            return operation;
        }
        if (operation->verb == Verb::Ping) {
            writer().pong();
            TRY(send());
        }
        if (operation->verb == Verb::Error) {
            return operation->text.starts_with(permissions_error)
                       ? Result<std::optional<Operation>>{operation}
                       : refused(operation->text);
        }
    }
}

Result<void> Connection::check_silence() {
    auto verdict = silence_.check(steady_now());
    if (verdict == Silence::Verdict::Lost) {
        return fail(Errc::Unavailable, "the server is silent");
    }
    if (verdict == Silence::Verdict::Ping) {
        writer().ping();
        return send();
    }
    return {};
}

void Connection::wait(Nanos limit) const {
    // That nothing came in time is no error here.
    std::ignore = stream_.wait(reactor::ByteStream::For::Reading, reactor::after(limit));
}

Result<void> Connection::send() {
    auto rest = std::string_view{out_};
    auto deadline = reactor::after(send_time_max);
    while (!rest.empty()) {
        auto written = TRY(stream_.write_some(rest));
        rest.remove_prefix(written);
        if (written == 0) {
            TRY(stream_.wait(reactor::ByteStream::For::Writing, deadline));
        }
    }
    out_.clear();
    return {};
}

Result<void> Connection::finish(Nanos limit) {
    writer().ping();
    TRY(send());
    return await_pong(reactor::after(limit));
}

} // namespace sluice::connector::nats::internal::wire
