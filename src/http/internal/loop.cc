#include "http/internal/loop.h"

#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "reactor/thread.h"

namespace sluice::http::internal {

namespace {

constexpr auto watch_interval = std::chrono::milliseconds{250};

} // namespace

Loop::Loop(ConnectionWorld& world) : world_(world) {}

Loop::~Loop() {
    finish();
}

void Loop::start(const std::string& name) {
    asio::co_spawn(context_, watch_deadlines(), asio::detached);
    thread_ = reactor::start_thread(name, [this](std::stop_token) {
        gate_->open();
        context_.run();
    });
}

void Loop::adopt(Socket socket, std::shared_ptr<asio::ssl::context> tls) {
    auto connection = make_connection(std::move(socket), gate_, std::move(tls), world_);
    connections_.push_back(connection);
    asio::co_spawn(context_, connection->run(), asio::detached);
}

/// One look at all of them now and then instead of a timer for each.
Task<> Loop::watch_deadlines() {
    auto timer = SteadyTimer{context_};
    while (true) {
        timer.expires_after(watch_interval);
        co_await timer.async_wait(use_task);
        auto now = std::chrono::steady_clock::now();
        std::erase_if(connections_, [](const auto& each) { return each.expired(); });
        for (const auto& each : connections_) {
            auto connection = each.lock();
            if (connection && connection->deadline() && *connection->deadline() < now) {
                connection->close();
            }
        }
    }
}

void Loop::close_idle() {
    gate_->enter([this] {
        for (const auto& each : connections_) {
            if (auto connection = each.lock(); connection && connection->is_idle()) {
                connection->close();
            }
        }
    });
}

void Loop::finish() {
    gate_->shut();
    if (!thread_.joinable()) {
        return;
    }
    asio::post(context_, [this] {
        for (const auto& each : connections_) {
            if (auto connection = each.lock()) {
                connection->abandon();
            }
        }
        context_.stop();
    });
    thread_.join();
}

} // namespace sluice::http::internal
