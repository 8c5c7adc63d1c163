#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace sluice::store::postgres::testing {

/// Stands between a client and a server on this machine. Told so, it loses the next answer: what
/// the client sends still arrives, and when the server answers, the connection breaks instead.
class DeafProxy {
public:
    explicit DeafProxy(std::uint16_t server);
    ~DeafProxy();
    DeafProxy(const DeafProxy&) = delete;
    DeafProxy& operator=(const DeafProxy&) = delete;

    std::uint16_t port() const { return port_; }
    void lose_next_answer() { is_deaf_ = true; }
    bool has_lost_one() const { return !is_deaf_; }

private:
    struct Pair {
        int client;
        int server;
    };

    void run();
    void accept_one();
    /// No when the pair is over.
    bool move_answer(const Pair& pair);

    std::uint16_t server_;
    std::uint16_t port_ = 0;
    int listener_;
    std::vector<Pair> pairs_; // Of the thread alone.
    std::atomic<bool> is_deaf_ = false;
    std::atomic<bool> is_done_ = false;
    std::thread thread_;
};

} // namespace sluice::store::postgres::testing
