#include "connector/amqp/internal/stream/connection.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "connector/amqp/internal/stream/handshake.h"

namespace sluice::connector::amqp::internal::stream {

namespace {

constexpr auto close_wait = std::chrono::seconds{1};

reactor::ByteStream::Place place_of(const Options& options, const Node& at) {
    auto encryption =
        options.tls.is_verified ? reactor::Encryption::Verified : reactor::Encryption::Unverified;
    return {.host = at.host,
            .port = static_cast<std::uint16_t>(at.port),
            .tls = {.encryption = options.tls.is_on ? encryption : reactor::Encryption::None,
                    .ca_file = options.tls.ca_file,
                    .certificate_file = options.tls.certificate_file,
                    .key_file = options.tls.key_file}};
}

std::uint32_t seconds_of(Nanos time) {
    return static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::seconds>(time).count());
}

/// A broker that stopped reading is found out also while we write.
void limit_silence(int descriptor, Nanos heartbeat) {
    auto millis = static_cast<unsigned>(
        std::chrono::duration_cast<std::chrono::milliseconds>(3 * heartbeat).count());
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &millis, sizeof(millis));
}

} // namespace

Connection::Connection(reactor::ByteStream stream, const Options& options, std::string place)
    : stream_(std::move(stream)),
      place_(std::move(place)),
      heartbeat_(std::chrono::seconds{seconds_of(options.heartbeat)}),
      last_sent_(Steady::now()),
      last_received_(Steady::now()) {
    limit_silence(stream_.raw(), heartbeat_);
}

Result<Connection> Connection::open(const Options& options, const Node& at,
                                    std::string_view purpose) {
    auto place = fmt::format("{}:{}", at.host, at.port);
    auto stream =
        reactor::ByteStream::connect(place_of(options, at), reactor::after(options.timeout));
    if (!stream) {
        return fail(Errc::Unavailable, "{} cannot be reached: {}", place, stream.error().message);
    }
    auto connection = Connection{*std::move(stream), options, std::move(place)};
    TRY(connection.log_in(options, purpose));
    return connection;
}

Result<void> Connection::log_in(const Options& options, std::string_view purpose) {
    auto handshake = Handshake{{.user = options.user,
                                .password = options.password,
                                .vhost = options.vhost,
                                .purpose = std::string{purpose},
                                .heartbeat_seconds = seconds_of(options.heartbeat)}};
    auto deadline = reactor::after(options.timeout);
    handshake.begin(out_);
    for (auto is_in = false; !is_in;) {
        TRY(send());
        auto frame = TRY(await(deadline));
        auto taken = handshake.take(frame, out_);
        if (!taken) {
            return lost(taken.error());
        }
        is_in = *taken;
        drop();
    }
    node_ = handshake.node();
    return {};
}

std::unexpected<Error> Connection::lost(const Error& why) const {
    return fail(Errc::Unavailable, "{}, by the stream protocol: {}", place_, why.message);
}

Result<std::optional<Frame>> Connection::next() {
    while (true) {
        auto whole = buffer_.frame();
        if (!whole) {
            return lost(whole.error());
        }
        if (*whole) {
            auto frame = read_frame(**whole);
            return frame ? Result<std::optional<Frame>>{*frame} : lost(frame.error());
        }
        auto size = stream_.read_some(buffer_.room());
        if (!size) {
            return lost(size.error());
        }
        if (*size == 0) {
            return std::nullopt;
        }
        last_received_ = Steady::now();
        buffer_.add(*size);
    }
}

Result<Frame> Connection::await(reactor::Deadline deadline) {
    while (true) {
        if (auto frame = TRY(next()); frame) {
            return *frame;
        }
        auto waited = stream_.wait(reactor::ByteStream::For::Reading, deadline);
        if (!waited) {
            return lost(waited.error());
        }
    }
}

Result<void> Connection::send() {
    auto rest = std::string_view{out_};
    auto deadline = reactor::after(2 * heartbeat_);
    while (!rest.empty()) {
        auto written = stream_.write_some(rest);
        if (!written) {
            return lost(written.error());
        }
        rest.remove_prefix(*written);
        if (*written == 0) {
            auto waited = stream_.wait(reactor::ByteStream::For::Writing, deadline);
            if (!waited) {
                return lost(waited.error());
            }
        }
    }
    out_.clear();
    last_sent_ = Steady::now();
    return {};
}

Result<void> Connection::keep_alive() {
    auto now = Steady::now();
    if (now - last_sent_ >= heartbeat_ / 2) {
        writer().heartbeat();
        TRY(send());
    }
    return {};
}

Result<void> Connection::check_silence() const {
    auto silence = Steady::now() - last_received_;
    if (silence < 2 * heartbeat_) {
        return {};
    }
    return lost({Errc::Unavailable,
                 fmt::format("nothing came for {} s",
                             std::chrono::floor<std::chrono::seconds>(silence).count())});
}

void Connection::close() {
    writer().close(next_correlation());
    auto deadline = reactor::after(close_wait);
    auto is_closed = !send();
    while (!is_closed) {
        auto frame = await(deadline);
        is_closed = !frame || (frame->key == Key::Close && frame->is_response);
        if (!is_closed) {
            drop();
        }
    }
}

} // namespace sluice::connector::amqp::internal::stream
