#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "connector/amqp/internal/stream/commands.h"
#include "connector/amqp/testing/listener.h"

namespace sluice::connector::amqp::testing {

/// A node that speaks as much of the stream protocol as a reader needs, one connection at a time.
/// It says that it is at `advertised`, and that each stream lies at `replica`.
class FakeNode {
public:
    FakeNode();
    ~FakeNode();
    FakeNode(const FakeNode&) = delete;
    FakeNode& operator=(const FakeNode&) = delete;

    /// To be said before `start`.
    internal::stream::Node advertised{};
    internal::stream::Node replica{};
    std::string chunk; ///< What a subscription gets.

    void start();
    std::uint16_t port() const { return listener_.port(); }
    int subscriptions() const { return subscriptions_; }

private:
    void run();
    void talk(int socket);
    std::string answer(const internal::stream::Frame& frame);

    Listener listener_;
    std::atomic<int> connection_ = -1;
    std::atomic<int> subscriptions_ = 0;
    std::thread thread_;
};

} // namespace sluice::connector::amqp::testing
