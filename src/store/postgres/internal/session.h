#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "store/postgres/internal/connection.h"
#include "store/postgres/internal/retry.h"

namespace sluice::store::postgres {

/// One connection that is made when it is needed, and anew when it was lost. The process at the
/// server that worked for the lost one is ended first: what was sent by it cannot happen later.
class Session {
public:
    Session(const Options& options, Role role) : options_(options), role_(role) {}

    Outcome<Connection*> connection();
    /// After a failure: the connection goes when it can do no more.
    void heed(const Failure& failure);

    /// Does the work until it succeeds or the patience is over; one at a time, from any thread.
    /// `work` takes the connection and gives an Outcome.
    template <typename Work>
    auto insist(std::string_view what, Work work) {
        auto lock = std::lock_guard{mutex_};
        return postgres::insist(options_, what, [&] { return attempt(work); });
    }
    /// Once, without a second try.
    template <typename Work>
    auto attempt(Work& work) -> std::invoke_result_t<Work, Connection&> {
        auto* connected = TRY(connection());
        auto outcome = work(*connected);
        if (!outcome) {
            heed(outcome.error());
        }
        return outcome;
    }

private:
    Outcome<void> end_lost();

    const Options& options_;
    Role role_;
    std::mutex mutex_;
    std::unique_ptr<Connection> connection_;
    std::optional<Backend> lost_;
};

} // namespace sluice::store::postgres
