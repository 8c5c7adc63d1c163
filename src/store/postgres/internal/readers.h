#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "store/postgres/internal/connection.h"
#include "store/postgres/internal/retry.h"

namespace sluice::store::postgres {

/// Connections for reads of one round trip, from any thread. When all are at work, the next reader
/// waits.
class Readers {
public:
    explicit Readers(const Options& options) : options_(options) {}

    /// Reads until it succeeds or the patience is over. `work` takes a connection and gives an
    /// Outcome; it may be called several times.
    template <typename Work>
    auto insist(std::string_view what, Work work) {
        return postgres::insist(options_, what, [&] { return attempt(work); });
    }
    /// Once, without a second try.
    template <typename Work>
    auto attempt(Work& work) -> std::invoke_result_t<Work, Connection&> {
        auto connection = TRY(take());
        auto outcome = work(*connection);
        auto is_lost = !outcome && outcome.error().trouble == Trouble::Lost;
        give_back(is_lost ? nullptr : std::move(connection));
        return outcome;
    }

private:
    Outcome<std::unique_ptr<Connection>> take();
    /// Null: it was lost, and so are those that wait here, most likely.
    void give_back(std::unique_ptr<Connection> connection);

    const Options& options_;
    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<std::unique_ptr<Connection>> idle_;
    std::size_t taken_ = 0;
};

} // namespace sluice::store::postgres
