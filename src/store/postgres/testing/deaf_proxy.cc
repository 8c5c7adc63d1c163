#include "store/postgres/testing/deaf_proxy.h"

#include <array>
#include <string_view>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice::store::postgres::testing {
namespace {

constexpr auto look_every_milliseconds = 10;

sockaddr_in loopback(std::uint16_t port) {
    auto address = sockaddr_in{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

/// No when one side has closed.
bool move_bytes(int from, int to) {
    auto buffer = std::array<char, 65536>{};
    auto count = ::recv(from, buffer.data(), buffer.size(), 0);
    auto left = std::string_view{buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
    while (!left.empty()) {
        auto sent = ::send(to, left.data(), left.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        left.remove_prefix(static_cast<std::size_t>(sent));
    }
    return count > 0;
}

} // namespace

DeafProxy::DeafProxy(std::uint16_t server)
    : server_(server), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto address = loopback(0);
    auto size = socklen_t{sizeof(address)};
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    ::listen(listener_, 16);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread{[this] { run(); }};
}

DeafProxy::~DeafProxy() {
    is_done_ = true;
    thread_.join();
    for (const auto& pair : pairs_) {
        ::close(pair.client);
        ::close(pair.server);
    }
    ::close(listener_);
}

void DeafProxy::run() {
    while (!is_done_) {
        auto sockets = std::vector<pollfd>{{.fd = listener_, .events = POLLIN, .revents = 0}};
        for (const auto& pair : pairs_) {
            sockets.push_back({.fd = pair.client, .events = POLLIN, .revents = 0});
            sockets.push_back({.fd = pair.server, .events = POLLIN, .revents = 0});
        }
        ::poll(sockets.data(), sockets.size(), look_every_milliseconds);
        auto at = std::size_t{1};
        std::erase_if(pairs_, [&](const Pair& pair) {
            auto from_client = sockets[at++].revents != 0;
            auto from_server = sockets[at++].revents != 0;
            auto goes_on = (!from_client || move_bytes(pair.client, pair.server)) &&
                           (!from_server || move_answer(pair));
            if (!goes_on) {
                ::close(pair.client);
                ::close(pair.server);
            }
            return !goes_on;
        });
        if (sockets.front().revents != 0) {
            accept_one();
        }
    }
}

void DeafProxy::accept_one() {
    auto client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    auto server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = loopback(server_);
    if (::connect(server, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
        ::close(client);
        ::close(server);
        return;
    }
    pairs_.push_back({.client = client, .server = server});
}

bool DeafProxy::move_answer(const Pair& pair) {
    return !is_deaf_.exchange(false) && move_bytes(pair.server, pair.client);
}

} // namespace sluice::store::postgres::testing
