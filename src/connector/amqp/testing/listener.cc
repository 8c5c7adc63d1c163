#include "connector/amqp/testing/listener.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "base/invariant.h"

namespace sluice::connector::amqp::testing {

namespace {

reactor::FileDescriptor make_socket() {
    return reactor::FileDescriptor{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
}

sockaddr_in loopback_at(std::uint16_t port) {
    auto address = sockaddr_in{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

} // namespace

Listener::Listener() : socket_(make_socket()) {
    auto address = loopback_at(0);
    auto size = socklen_t{sizeof(address)};
    auto* any = reinterpret_cast<sockaddr*>(&address);
    auto is_ready = ::bind(socket_.raw(), any, size) == 0 && ::listen(socket_.raw(), 5) == 0 &&
                    ::getsockname(socket_.raw(), any, &size) == 0;
    INVARIANT(is_ready, "a free port of this machine can be had");
    port_ = ntohs(address.sin_port);
}

reactor::FileDescriptor Listener::accept() const {
    return reactor::FileDescriptor{::accept4(socket_.raw(), nullptr, nullptr, SOCK_CLOEXEC)};
}

void Listener::stop() const {
    ::shutdown(socket_.raw(), SHUT_RDWR);
}

reactor::FileDescriptor connect_to(std::uint16_t port) {
    auto socket = make_socket();
    auto address = loopback_at(port);
    auto is_connected =
        ::connect(socket.raw(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    return is_connected ? std::move(socket) : reactor::FileDescriptor{};
}

} // namespace sluice::connector::amqp::testing
