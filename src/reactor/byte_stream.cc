#include "reactor/byte_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace sluice::reactor {
namespace {

using Steady = std::chrono::steady_clock;

std::string reason(int fault) {
    return std::error_code{fault, std::generic_category()}.message();
}

std::string tls_reason() {
    char text[256];
    auto code = ERR_get_error();
    ERR_error_string_n(code, text, sizeof(text));
    ERR_clear_error();
    return code == 0 ? "the other side ended it" : text;
}

Result<void> wait_on(int socket, short events, Deadline deadline) {
    for (;;) {
        auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now()).count();
        auto one = pollfd{.fd = socket, .events = events, .revents = 0};
        auto ready = ::poll(&one, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30)));
        if (ready > 0) {
            return {};
        }
        if (ready == 0 && Steady::now() >= deadline) {
            return fail(Errc::Unavailable, "no answer in time");
        }
        if (ready < 0 && errno != EINTR) {
            return fail(Errc::Unavailable, "poll: {}", reason(errno));
        }
    }
}

Result<FileDescriptor> connect_to(const sockaddr* address, socklen_t size, Deadline deadline) {
    auto socket =
        FileDescriptor{::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!socket.is_open()) {
        return fail(Errc::Unavailable, "socket: {}", reason(errno));
    }
    if (::connect(socket.raw(), address, size) != 0) {
        if (errno != EINPROGRESS && errno != EAGAIN) {
            return fail(Errc::Unavailable, "{}", reason(errno));
        }
        TRY(wait_on(socket.raw(), POLLOUT, deadline));
        auto fault = 0;
        auto fault_size = socklen_t{sizeof(fault)};
        ::getsockopt(socket.raw(), SOL_SOCKET, SO_ERROR, &fault, &fault_size);
        if (fault != 0) {
            return fail(Errc::Unavailable, "{}", reason(fault));
        }
    }
    if (address->sa_family != AF_UNIX) {
        auto on = 1;
        ::setsockopt(socket.raw(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        ::setsockopt(socket.raw(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    }
    return socket;
}

Result<FileDescriptor> connect_unix(const std::string& path, Deadline deadline) {
    auto address = sockaddr_un{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) {
        return fail(Errc::InvalidInput, "the path of a Unix socket has at most {} bytes, not {}",
                    sizeof(address.sun_path) - 1, path.size());
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    return connect_to(reinterpret_cast<const sockaddr*>(&address), sizeof(address), deadline);
}

/// The name service has no time limit of ours.
Result<FileDescriptor> connect_tcp(const ByteStream::Place& place, Deadline deadline) {
    auto hints = addrinfo{};
    hints.ai_socktype = SOCK_STREAM;
    auto* found = static_cast<addrinfo*>(nullptr);
    auto fault =
        ::getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &hints, &found);
    if (fault != 0) {
        return fail(Errc::Unavailable, "no address of {}: {}", place.host, gai_strerror(fault));
    }
    auto owned = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>{found, &::freeaddrinfo};
    auto last = Result<FileDescriptor>{fail(Errc::Unavailable, "it has no address")};
    for (const auto* each = found; each != nullptr; each = each->ai_next) {
        last = connect_to(each->ai_addr, each->ai_addrlen, deadline);
        if (last) {
            break;
        }
    }
    return last;
}

Result<void> load_files(SSL_CTX* context, const Tls& tls) {
    auto is_trusting = tls.ca_file.empty() ? SSL_CTX_set_default_verify_paths(context)
                                           : SSL_CTX_load_verify_file(context, tls.ca_file.c_str());
    if (is_trusting != 1) {
        return fail(Errc::InvalidInput, "no certificates to trust in {}: {}", tls.ca_file,
                    tls_reason());
    }
    if (tls.certificate_file.empty()) {
        return {};
    }
    if (SSL_CTX_use_certificate_chain_file(context, tls.certificate_file.c_str()) != 1) {
        return fail(Errc::InvalidInput, "no certificate in {}: {}", tls.certificate_file,
                    tls_reason());
    }
    SSL_CTX_set_default_passwd_cb_userdata(context, const_cast<char*>(tls.key_password.c_str()));
    SSL_CTX_set_default_passwd_cb(context, [](char* into, int size, int, void* password) {
        auto text = std::string_view{static_cast<const char*>(password)};
        return static_cast<int>(text.copy(into, static_cast<std::size_t>(size)));
    });
    if (SSL_CTX_use_PrivateKey_file(context, tls.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
        return fail(Errc::InvalidInput, "no key for the certificate in {}: {}", tls.key_file,
                    tls_reason());
    }
    return {};
}

void expect_host(SSL* session, const ByteStream::Place& place) {
    auto* rules = SSL_get0_param(session);
    if (X509_VERIFY_PARAM_set1_ip_asc(rules, place.host.c_str()) != 1) {
        ERR_clear_error();
        X509_VERIFY_PARAM_set1_host(rules, place.host.c_str(), 0);
        SSL_set_tlsext_host_name(session, place.host.c_str());
    }
}

} // namespace

Deadline after(Nanos limit) {
    // A day is longer than any limit in use, and sums with it do not overflow.
    return Steady::now() + std::min<Nanos>(limit, std::chrono::hours{24});
}

Result<ByteStream> ByteStream::connect(const Place& place, Deadline deadline) {
    auto stream = ByteStream{};
    stream.socket_ = place.socket_path.empty() ? TRY(connect_tcp(place, deadline))
                                               : TRY(connect_unix(place.socket_path, deadline));
    stream.reading_wants_ = POLLIN;
    stream.writing_wants_ = POLLOUT;
    if (place.tls.encryption != Encryption::None) {
        TRY(stream.begin_tls(place, deadline));
    }
    return stream;
}

Result<void> ByteStream::begin_tls(const Place& place, Deadline deadline) {
    context_.reset(SSL_CTX_new(TLS_client_method()));
    if (context_ == nullptr) {
        return fail(Errc::Internal, "TLS: {}", tls_reason());
    }
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    SSL_CTX_set_mode(context_.get(),
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    auto is_verified = place.tls.encryption == Encryption::Verified;
    SSL_CTX_set_verify(context_.get(), is_verified ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    TRY(load_files(context_.get(), place.tls));
    session_.reset(SSL_new(context_.get()));
    SSL_set_fd(session_.get(), socket_.raw());
    if (is_verified) {
        expect_host(session_.get(), place);
    }
    for (;;) {
        auto outcome = SSL_connect(session_.get());
        if (outcome == 1) {
            reading_wants_ = POLLIN;
            return {};
        }
        auto noted = note(outcome, reading_wants_);
        if (!noted) {
            auto verdict = SSL_get_verify_result(session_.get());
            if (is_verified && verdict != X509_V_OK) {
                return fail(Errc::InvalidInput, "the server's certificate is not accepted: {}",
                            X509_verify_cert_error_string(verdict));
            }
            return noted;
        }
        TRY(wait_on(socket_.raw(), reading_wants_, deadline));
    }
}

Result<void> ByteStream::note(int outcome, short& wants) const {
    switch (SSL_get_error(session_.get(), outcome)) {
        case SSL_ERROR_WANT_READ: wants = POLLIN; return {};
        case SSL_ERROR_WANT_WRITE: wants = POLLOUT; return {};
        default: return fail(Errc::Unavailable, "TLS: {}", tls_reason());
    }
}

Result<std::size_t> ByteStream::read_some(std::span<char> into) {
    if (session_ != nullptr) {
        auto size = std::size_t{0};
        auto outcome = SSL_read_ex(session_.get(), into.data(), into.size(), &size);
        if (outcome != 1) {
            TRY(note(outcome, reading_wants_));
            return 0;
        }
        reading_wants_ = POLLIN;
        return size;
    }
    auto size = ::recv(socket_.raw(), into.data(), into.size(), 0);
    if (size > 0) {
        return static_cast<std::size_t>(size);
    }
    if (size == 0) {
        return fail(Errc::Unavailable, "the server closed the connection");
    }
    if (errno == EAGAIN || errno == EINTR) {
        return 0;
    }
    return fail(Errc::Unavailable, "{}", reason(errno));
}

Result<std::size_t> ByteStream::write_some(std::string_view bytes) {
    if (session_ != nullptr) {
        auto size = std::size_t{0};
        auto outcome = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &size);
        if (outcome != 1) {
            TRY(note(outcome, writing_wants_));
            return 0;
        }
        writing_wants_ = POLLOUT;
        return size;
    }
    auto size = ::send(socket_.raw(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size >= 0) {
        return static_cast<std::size_t>(size);
    }
    if (errno == EAGAIN || errno == EINTR) {
        return 0;
    }
    return fail(Errc::Unavailable, "{}", reason(errno));
}

Result<void> ByteStream::wait(For what, Deadline deadline) const {
    auto events = static_cast<short>((what == For::Writing ? 0 : reading_wants_) |
                                     (what == For::Reading ? 0 : writing_wants_));
    return wait_on(socket_.raw(), events, deadline);
}

void ByteStream::acknowledge_at_once() const {
    auto on = 1;
    ::setsockopt(socket_.raw(), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

} // namespace sluice::reactor
