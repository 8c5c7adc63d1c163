#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/internal/requests.h"
#include "server/services.h"

namespace sluice::server {

using ChangeRun =
    std::function<void(engine::Engine& engine, const engine::RunName& run, engine::Done done)>;

/// One change to every run that a filter finds, page by page, up to a bound. The bound keeps a
/// request from lasting for ever; who has more to change asks again.
class BulkChange : public std::enable_shared_from_this<BulkChange> {
public:
    static constexpr auto runs_max = std::size_t{10'000};
    static constexpr auto named_max = std::size_t{20};

    /// Those of each status, one after the other.
    BulkChange(const Services& services, RunQuery query, std::vector<trigger::Status> statuses,
               ChangeRun change, Reply reply)
        : services_(services),
          query_(std::move(query)),
          statuses_(std::move(statuses)),
          change_(std::move(change)),
          reply_(std::move(reply)) {}

    // Both read the store, so they are for a worker.
    /// Answers how many there are, and the first of them.
    void preview();
    /// Changes the next page, then goes on with the one behind it, and answers after the last.
    void change_page();

private:
    Result<std::vector<engine::RunName>> next_page();
    void note(const engine::RunName& run, const Result<Value>& changed);
    void finish_page();
    bool has_more() const { return !query_.filter.cursor.empty() || !statuses_.empty(); }

    const Services& services_;
    RunQuery query_;
    std::vector<trigger::Status> statuses_; ///< Still to come.
    ChangeRun change_;
    Reply reply_;
    std::mutex mutex_; ///< Answers come from several lanes.
    std::size_t pending_ = 0;
    std::size_t found_ = 0;
    std::size_t changed_ = 0;
    std::vector<Value> failures_; ///< The first.
};

} // namespace sluice::server
