#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/async_result.hpp>

#include "http/internal/asio.h"
#include "http/internal/gate.h"
#include "http/server.h"

namespace sluice::http::internal {

/// Lets one coroutine sleep until it is woken. On its loop's thread alone.
class Bell {
public:
    Task<> wait() {
        if (!std::exchange(has_rung_, false)) {
            co_await asio::async_initiate<const asio::use_awaitable_t<Executor>&, void()>(
                [this](auto handler) { sleeper_ = std::move(handler); }, use_task);
        }
    }

    void ring() {
        if (auto sleeper = std::exchange(sleeper_, nullptr)) {
            std::move(sleeper)();
        } else {
            has_rung_ = true;
        }
    }

private:
    std::move_only_function<void()> sleeper_;
    bool has_rung_ = false;
};

/// The body of a live response between whoever offers and the connection that writes.
class BodyStream final : public Stream, public std::enable_shared_from_this<BodyStream> {
public:
    BodyStream(std::shared_ptr<Gate> gate, std::size_t bytes_max, std::function<void()> on_close)
        : gate_(std::move(gate)), bytes_max_(bytes_max), on_close_(std::move(on_close)) {}

    bool offer(std::string bytes) override;
    void close() override;

    /// For the connection: what was offered since, in chunks; empty when that was all.
    Task<std::string> take();
    /// What it took is on its way.
    void note_written(std::size_t bytes) { waiting_bytes_.fetch_sub(bytes); }
    /// Nobody reads any more, or all is written.
    void end();
    /// The loop is about to stop.
    void abandon();

private:
    std::shared_ptr<Gate> gate_;
    std::size_t bytes_max_;
    std::function<void()> on_close_;
    std::atomic<std::size_t> waiting_bytes_{0};
    std::atomic<bool> is_closed_{false};
    // Of the loop's thread:
    Bell bell_;
    std::string queued_;
    bool is_last_ = false;
};

/// Who asked, while he waits for the answer.
class Peer {
public:
    virtual ~Peer() = default;
    /// On the loop's thread.
    virtual void when_gone(std::function<void()> call) = 0;
};

/// What a request is answered with, between whoever answers and the connection that waits.
class PendingAnswer final : public std::enable_shared_from_this<PendingAnswer> {
public:
    PendingAnswer(std::shared_ptr<Gate> gate, std::size_t stream_bytes_max)
        : gate_(std::move(gate)), stream_bytes_max_(stream_bytes_max) {}

    /// The handler's end of it.
    std::shared_ptr<Exchange> exchange();
    Task<> wait() { return bell_.wait(); }
    /// The loop is about to stop: whoever waits goes on. A sleeper would never be freed, since what
    /// wakes it is a part of what it holds.
    void abandon();
    void when_gone(std::function<void()> call);

    Peer* peer = nullptr; ///< Of the loop's thread; null once it is answered.
    // Once waited for:
    Response response;
    std::shared_ptr<BodyStream> body; ///< Null: the response is whole.

private:
    class Handle;
    void give(Response given, std::shared_ptr<BodyStream> stream);

    std::shared_ptr<Gate> gate_;
    std::size_t stream_bytes_max_;
    Bell bell_;
};

} // namespace sluice::http::internal
