#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "connector/amqp/internal/back_off.h"
#include "connector/amqp/internal/confirmations.h"
#include "connector/amqp/internal/session.h"
#include "connector/amqp/internal/session_opener.h"
#include "event/source.h"
#include "observe/diagnostics.h"

namespace sluice::connector::amqp::internal {

/// A session that is made anew when it is lost.
///
/// Whoever reads runs the connection. A second thread makes connections, keeps them alive while
/// nobody reads, and counts what waits.
class QueueSource final : public event::Source {
public:
    QueueSource(const Options& options, observe::Diagnostics& diagnostics);
    ~QueueSource() override;

    std::string_view name() const override { return "amqp"; }
    Result<std::vector<std::string>> partitions() override {
        return options_.queue.empty() ? std::vector<std::string>{} : std::vector{options_.queue};
    }
    Result<void> resume(std::string_view partition, std::uint64_t position) override;
    void leave(std::string_view partition) override;
    Result<event::Chunk> read(std::size_t bytes_max, Nanos wait) override;
    void pass_over(std::string_view partition, std::uint64_t number) override;
    void confirm(std::string_view partition, std::uint64_t position) override;
    std::optional<std::uint64_t> lag() override;
    std::string trouble() const override;

private:
    using Steady = std::chrono::steady_clock;
    using Lock = std::unique_lock<std::mutex>;

    struct Partition {
        std::uint64_t position = 0; ///< The last that was handed out.
        Confirmations confirmations{};
    };
    using Partitions = std::map<std::string, Partition, std::less<>>;

    Result<void> fill(std::size_t bytes_max, Steady::time_point deadline);
    void lose_session(const Error& why);

    void keep(); ///< The second thread.
    void connect(Lock& lock);
    Result<std::unique_ptr<Session>> make_session(Lock& lock);
    Result<std::unique_ptr<Session>> open_session(const Partitions& partitions);
    Result<void> catch_up(Session& session, const Partitions& wanted);
    void count_waiting(Lock& lock);

    const Options options_;
    observe::Diagnostics& diagnostics_;

    SessionOpener opener_; ///< Of whoever makes a session, or loses one: never both at once.
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Partitions partitions_;
    std::unique_ptr<Session> session_;
    std::optional<Error> failure_; ///< For good.
    std::string trouble_;
    std::uint64_t attempts_ = 0;
    Steady::time_point next_attempt_{};
    BackOff back_off_;
    bool is_stopping_ = false;

    std::optional<std::uint64_t> lag_;
    bool is_lag_wanted_ = false;
    Steady::time_point next_count_{};

    std::thread keeper_;
};

} // namespace sluice::connector::amqp::internal
