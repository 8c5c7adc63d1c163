#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "http/internal/connection.h"
#include "http/internal/gate.h"

namespace sluice::http::internal {

/// A thread with its connections.
class Loop {
public:
    explicit Loop(ConnectionWorld& world);
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    void start(const std::string& name);
    asio::io_context& context() { return context_; }
    const std::shared_ptr<Gate>& gate() { return gate_; }
    /// On its thread.
    void adopt(Socket socket, std::shared_ptr<boost::asio::ssl::context> tls);
    /// Those that nobody uses now; the rest when they have answered.
    void close_idle();
    void finish();

private:
    Task<> watch_deadlines();

    ConnectionWorld& world_;
    asio::io_context context_{1};
    std::shared_ptr<Gate> gate_ = std::make_shared<Gate>(context_);
    std::vector<std::weak_ptr<Connection>> connections_;
    std::jthread thread_;
};

} // namespace sluice::http::internal
