#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "connector/amqp/testing/listener.h"

namespace sluice::connector::amqp::testing {

/// Stands before a broker. Of the first connection nothing comes back any more once it has been
/// told that its messages will be confirmed; those behind it are whole.
class SilentRelay {
public:
    explicit SilentRelay(std::uint16_t broker_port);
    ~SilentRelay();
    SilentRelay(const SilentRelay&) = delete;
    SilentRelay& operator=(const SilentRelay&) = delete;

    std::uint16_t port() const { return listener_.port(); }
    int connections() const { return connections_; }

private:
    void run();
    void relay(int from, int to, bool falls_silent);
    int keep(reactor::FileDescriptor socket);

    Listener listener_;
    std::uint16_t broker_port_;
    std::atomic<int> connections_ = 0;
    std::mutex mutex_;
    bool is_stopping_ = false;
    std::vector<reactor::FileDescriptor> sockets_;
    std::vector<std::thread> threads_;
    std::thread listening_;
};

} // namespace sluice::connector::amqp::testing
