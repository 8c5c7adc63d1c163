#include "connector/amqp/testing/silent_relay.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <sys/socket.h>

namespace sluice::connector::amqp::testing {

namespace {

// The frame that answers `confirm.select`, from its size on.
constexpr auto confirms_selected = std::string_view{"\0\0\0\x04\0\x55\0\x0B\xCE", 9};

bool send_all(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

} // namespace

SilentRelay::SilentRelay(std::uint16_t broker_port)
    : broker_port_(broker_port), listening_([this] { run(); }) {}

SilentRelay::~SilentRelay() {
    {
        auto lock = std::scoped_lock{mutex_};
        is_stopping_ = true;
        for (const auto& socket : sockets_) {
            ::shutdown(socket.raw(), SHUT_RDWR);
        }
    }
    listener_.stop();
    listening_.join();
    for (auto& thread : threads_) {
        thread.join();
    }
}

/// Closed with the relay, so that no number of one is given to another before.
int SilentRelay::keep(reactor::FileDescriptor socket) {
    auto lock = std::scoped_lock{mutex_};
    if (is_stopping_) {
        ::shutdown(socket.raw(), SHUT_RDWR);
    }
    sockets_.push_back(std::move(socket));
    return sockets_.back().raw();
}

void SilentRelay::run() {
    while (true) {
        auto accepted = listener_.accept();
        if (!accepted.is_open()) {
            return;
        }
        auto connected = connect_to(broker_port_);
        if (!connected.is_open()) {
            continue;
        }
        auto client = keep(std::move(accepted));
        auto broker = keep(std::move(connected));
        auto falls_silent = ++connections_ == 1;
        threads_.emplace_back([this, client, broker] { relay(client, broker, false); });
        threads_.emplace_back(
            [this, client, broker, falls_silent] { relay(broker, client, falls_silent); });
    }
}

void SilentRelay::relay(int from, int to, bool falls_silent) {
    auto buffer = std::array<char, 65536>{};
    auto said = std::string{};
    auto is_silent = false;
    for (auto size = ::recv(from, buffer.data(), buffer.size(), 0); size > 0;
         size = ::recv(from, buffer.data(), buffer.size(), 0)) {
        auto bytes = std::string_view{buffer.data(), static_cast<std::size_t>(size)};
        if (!is_silent && !send_all(to, bytes)) {
            break;
        }
        if (falls_silent && !is_silent) {
            said += bytes;
            is_silent = said.contains(confirms_selected);
        }
    }
    ::shutdown(to, SHUT_RDWR);
}

} // namespace sluice::connector::amqp::testing
