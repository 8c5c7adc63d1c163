#include "connector/amqp/internal/connection.h"

#include <algorithm>
#include <array>

#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "connector/amqp/internal/bytes.h"
#include "connector/amqp/internal/failure.h"
#include "connector/amqp/internal/table.h"

namespace sluice::connector::amqp::internal {

namespace {

// An answer may have to wait for leaders to be chosen.
constexpr auto answer_wait = std::chrono::seconds{20};
constexpr auto channels_wanted = 2047;
constexpr auto frame_bytes_max = 131072;

timeval timeval_of(Nanos time) {
    auto micros = std::chrono::duration_cast<std::chrono::microseconds>(std::max(time, Nanos{0}));
    return {.tv_sec = static_cast<time_t>(micros.count() / 1'000'000),
            .tv_usec = static_cast<suseconds_t>(micros.count() % 1'000'000)};
}

Result<amqp_socket_t*> make_tls_socket(amqp_connection_state_t state, const Tls& tls) {
    auto* socket = amqp_ssl_socket_new(state);
    if (socket == nullptr) {
        return fail(Errc::Internal, "TLS cannot be had");
    }
    auto* context = static_cast<SSL_CTX*>(amqp_ssl_socket_get_context(socket));
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    if (tls.ca_file.empty()) {
        SSL_CTX_set_default_verify_paths(context);
    } else if (amqp_ssl_socket_set_cacert(socket, tls.ca_file.c_str()) != AMQP_STATUS_OK) {
        return fail(Errc::InvalidInput, "ca: {} has no certificates that can be read", tls.ca_file);
    }
    if (!tls.certificate_file.empty() &&
        amqp_ssl_socket_set_key(socket, tls.certificate_file.c_str(), tls.key_file.c_str()) !=
            AMQP_STATUS_OK) {
        return fail(Errc::InvalidInput, "certificate {} and key {} cannot be read, or do not match",
                    tls.certificate_file, tls.key_file);
    }
    amqp_ssl_socket_set_verify_peer(socket, tls.is_verified ? 1 : 0);
    amqp_ssl_socket_set_verify_hostname(socket, tls.is_verified ? 1 : 0);
    return socket;
}

Result<amqp_socket_t*> make_socket(amqp_connection_state_t state, const Tls& tls) {
    if (tls.is_on) {
        return make_tls_socket(state, tls);
    }
    auto* socket = amqp_tcp_socket_new(state);
    if (socket == nullptr) {
        return fail(Errc::Internal, "no memory for a socket");
    }
    return socket;
}

/// A broker that stopped reading is found out also while we write.
void limit_silence(int descriptor, Nanos heartbeat) {
    auto millis = static_cast<unsigned>(
        std::chrono::duration_cast<std::chrono::milliseconds>(3 * heartbeat).count());
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &millis, sizeof(millis));
}

Result<void> log_in(amqp_connection_state_t state, const Options& options,
                    std::string_view purpose) {
    auto properties = Table{};
    properties.text("connection_name", purpose).text("product", "Sluice");
    auto table = properties.view();
    auto heartbeat = std::chrono::ceil<std::chrono::seconds>(options.heartbeat).count();
    auto reply = amqp_login_with_properties(
        state, options.vhost.c_str(), channels_wanted, frame_bytes_max, static_cast<int>(heartbeat),
        &table, AMQP_SASL_METHOD_PLAIN, options.user.c_str(), options.password.c_str());
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
        return {};
    }
    auto failure = failure_of(reply);
    return fail(Errc::Unavailable, "user {} cannot log in to virtual host {} of {}: {}",
                options.user, options.vhost, options.place(), failure.message);
}

} // namespace

Result<Connection> Connection::open(const Options& options, std::string_view purpose) {
    auto connection = Connection{State{amqp_new_connection()}};
    auto* state = connection.state_.get();
    if (state == nullptr) {
        return fail(Errc::Internal, "no memory for a connection");
    }
    auto* socket = TRY(make_socket(state, options.tls));
    auto wait = timeval_of(options.timeout);
    auto answer = timeval_of(answer_wait);
    amqp_set_handshake_timeout(state, &wait);
    amqp_set_rpc_timeout(state, &answer);
    auto status = amqp_socket_open_noblock(socket, options.host.c_str(), options.port, &wait);
    if (status != AMQP_STATUS_OK) {
        return fail(Errc::Unavailable, "{} cannot be reached: {}", options.place(),
                    amqp_error_string2(status));
    }
    limit_silence(connection.descriptor(), options.heartbeat);
    TRY(log_in(state, options, purpose));
    auto channels = amqp_get_channel_max(state);
    connection.channels_max_ = static_cast<std::uint16_t>(channels == 0 ? 65535 : channels);
    return connection;
}

Result<void> Connection::check(amqp_channel_t channel) {
    auto reply = amqp_get_rpc_reply(state_.get());
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
        return {};
    }
    auto failure = failure_of(reply);
    if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
        reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
        auto closed = amqp_channel_close_ok_t{};
        amqp_send_method(state_.get(), channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &closed);
    }
    return std::unexpected(std::move(failure));
}

Result<void> Connection::open_channel(amqp_channel_t channel) {
    amqp_channel_open(state_.get(), channel);
    return check(channel);
}

void Connection::close_channel(amqp_channel_t channel) {
    amqp_channel_close(state_.get(), channel, AMQP_REPLY_SUCCESS);
    release(channel);
}

Result<void> Connection::declare_queue(amqp_channel_t channel, const std::string& name,
                                       const Options& options) {
    auto arguments = Table{};
    arguments.text("x-queue-type", to_string(options.type));
    if (options.is_single_active) {
        arguments.boolean("x-single-active-consumer", true);
    }
    const auto& retention = options.retention;
    if (!retention.max_age.empty()) {
        arguments.text("x-max-age", retention.max_age);
    }
    if (retention.max_bytes != 0) {
        arguments.number("x-max-length-bytes", static_cast<std::int64_t>(retention.max_bytes));
    }
    if (retention.segment_bytes != 0) {
        arguments.number("x-stream-max-segment-size-bytes",
                         static_cast<std::int64_t>(retention.segment_bytes));
    }
    amqp_queue_declare(state_.get(), channel, bytes_of(name), /*passive=*/0, /*durable=*/1,
                       /*exclusive=*/0, /*auto_delete=*/0, arguments.view());
    return check(channel);
}

Result<void> Connection::bind_queue(amqp_channel_t channel, const Options& options) {
    amqp_queue_bind(state_.get(), channel, bytes_of(options.queue), bytes_of(options.exchange),
                    bytes_of(options.routing_key), amqp_empty_table);
    return check(channel);
}

Result<void> Connection::delete_queue(amqp_channel_t channel, const std::string& name) {
    amqp_queue_delete(state_.get(), channel, bytes_of(name), /*if_unused=*/0, /*if_empty=*/0);
    return check(channel);
}

Result<std::uint32_t> Connection::count_messages(amqp_channel_t channel, const std::string& name) {
    auto* declared =
        amqp_queue_declare(state_.get(), channel, bytes_of(name), /*passive=*/1,
                           /*durable=*/0, /*exclusive=*/0, /*auto_delete=*/0, amqp_empty_table);
    TRY(check(channel));
    return declared->message_count;
}

Result<void> Connection::consume(amqp_channel_t channel, const std::string& queue,
                                 const std::string& tag, std::uint16_t prefetch,
                                 const StreamStart* start) {
    amqp_basic_qos(state_.get(), channel, 0, prefetch, /*global=*/0);
    TRY(check(channel));
    auto arguments = Table{};
    if (start != nullptr && start->at == StreamStart::At::Offset) {
        arguments.number("x-stream-offset", static_cast<std::int64_t>(start->offset));
    } else if (start != nullptr) {
        constexpr auto names = std::array<std::string_view, 3>{"first", "last", "next"};
        arguments.text("x-stream-offset", names[static_cast<std::size_t>(start->at)]);
    }
    amqp_basic_consume(state_.get(), channel, bytes_of(queue), bytes_of(tag), /*no_local=*/0,
                       /*no_ack=*/0, /*exclusive=*/0, arguments.view());
    return check(channel);
}

Result<void> Connection::select_confirms(amqp_channel_t channel) {
    amqp_confirm_select(state_.get(), channel);
    return check(channel);
}

Result<bool> Connection::next(amqp_frame_t& frame, Nanos wait) {
    auto time = timeval_of(wait);
    auto status = amqp_simple_wait_frame_noblock(state_.get(), &frame, &time);
    if (status == AMQP_STATUS_OK) [[likely]] {
        return true;
    }
    if (status == AMQP_STATUS_TIMEOUT) {
        return false;
    }
    return std::unexpected(failure_of_status(status));
}

Result<void> Connection::acknowledge(amqp_channel_t channel, std::uint64_t tag) {
    auto status = amqp_basic_ack(state_.get(), channel, tag, /*multiple=*/1);
    return status == AMQP_STATUS_OK ? Result<void>{} : std::unexpected(failure_of_status(status));
}

Result<void> Connection::publish(amqp_channel_t channel, std::string_view exchange,
                                 std::string_view key, const amqp_basic_properties_t& properties,
                                 std::string_view body) {
    auto status = amqp_basic_publish(state_.get(), channel, bytes_of(exchange), bytes_of(key),
                                     /*mandatory=*/1, /*immediate=*/0, &properties, bytes_of(body));
    return status == AMQP_STATUS_OK ? Result<void>{} : std::unexpected(failure_of_status(status));
}

Result<void> Connection::send_heartbeat() {
    auto frame = amqp_frame_t{};
    frame.frame_type = AMQP_FRAME_HEARTBEAT;
    auto status = amqp_send_frame(state_.get(), &frame);
    return status == AMQP_STATUS_OK ? Result<void>{} : std::unexpected(failure_of_status(status));
}

void Connection::close() {
    auto wait = timeval_of(std::chrono::seconds{1});
    amqp_set_rpc_timeout(state_.get(), &wait);
    amqp_connection_close(state_.get(), AMQP_REPLY_SUCCESS);
}

void Connection::hold(bool is_held) {
    auto value = is_held ? 1 : 0;
    ::setsockopt(descriptor(), IPPROTO_TCP, TCP_CORK, &value, sizeof(value));
}

} // namespace sluice::connector::amqp::internal
