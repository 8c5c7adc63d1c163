#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "resp/backoff.h"
#include "store/redis/internal/connection.h"
#include "store/redis/options.h"

namespace sluice::store::redis::internal {

/// Tries again until it is answered or the patience is at its end.
class Attempts {
public:
    explicit Attempts(Nanos patience);
    /// Waits a while, longer each time; false when no time is left.
    bool wait();

private:
    Nanos until_;
    resp::Backoff backoff_;
};

/// Connections that nobody uses just now. As many as threads ask at once.
class Pool {
public:
    explicit Pool(Options options) : options_(std::move(options)) {}

    const Options& options() const { return options_; }

    /// Asks until it is answered: for what may be asked twice. `ask` takes a Connection& and gives
    /// a Result; Unavailable means that the connection is given up and it is asked anew.
    template <typename Ask>
    auto ask(Ask ask) -> decltype(ask(std::declval<Connection&>())) {
        auto attempts = Attempts{options_.patience};
        for (;;) {
            auto answer = once(ask);
            if (answer || !is_passing(answer.error()) || !attempts.wait()) {
                return answer;
            }
        }
    }
    /// Asks once.
    template <typename Ask>
    auto once(Ask& ask) -> decltype(ask(std::declval<Connection&>())) {
        auto borrowed = borrow();
        if (!borrowed) {
            return std::unexpected(std::move(borrowed).error());
        }
        auto answer = ask(**borrowed);
        if (answer || !is_passing(answer.error())) {
            give_back(std::move(*borrowed));
        }
        if (!answer && answer.error().message.starts_with("READONLY")) {
            // The master became a replica: its name may lead to another by now.
            drop_idle();
        }
        return answer;
    }

    /// Another connection or a little time may help.
    static bool is_passing(const Error& error);

private:
    Result<std::unique_ptr<Connection>> borrow();
    void give_back(std::unique_ptr<Connection> connection);
    void drop_idle();

    Options options_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Connection>> idle_;
};

} // namespace sluice::store::redis::internal
