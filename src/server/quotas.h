#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/rate_limit.h"
#include "engine/engine.h"
#include "server/documents.h"
#include "server/problem.h"
#include "store/store.h"

namespace sluice::server {

/// What a namespace may have; zero: as much as it likes.
struct Quota {
    std::uint64_t running_runs = 0;
    Rate events;
    std::uint64_t definitions = 0;
    std::uint64_t waiting_tasks = 0;
};
/// `{"running_runs", "events_rate", "events_burst", "definitions", "waiting_tasks"}`, each
/// optional.
Result<Quota> parse_quota(const Value& form);

/// Refuses what would go beyond a namespace's quota. May be used from any thread; where no
/// namespace has one, asking costs a branch.
class Quotas {
public:
    static constexpr auto kind = std::string_view{"quota"};
    /// Until it goes, a start that was let through counts although its run is not yet listed.
    using Ticket = std::shared_ptr<void>;
    using Admission = std::expected<Ticket, Problem>;

    /// The documents have been opened with our kind. All of these outlive it.
    static Result<std::unique_ptr<Quotas>> open(Documents& documents, const store::Store& store,
                                                engine::Engine& engine, const Clock& clock);

    std::optional<Value> find(std::string_view space) const;
    /// After another process has changed it.
    Result<void> follow(const std::string& space);
    /// Durable when they return.
    Result<void> set(const std::string& space, const Value& form);
    Result<void> remove(std::string_view space);

    /// What keeps a namespace from sending so many events; nothing: they are counted.
    std::optional<Problem> refuse_events(std::string_view space, std::size_t count) const {
        return has_any_.load(std::memory_order_relaxed) ? check_events(space, count) : std::nullopt;
    }
    /// From starting one more run.
    Admission admit_start(std::string_view space) const;
    /// From defining this name.
    std::optional<Problem> refuse_definition(std::string_view space, std::string_view name) const;

private:
    struct Use;

    Quotas(Documents& documents, const store::Store& store, engine::Engine& engine,
           const Clock& clock)
        : documents_(documents), store_(store), engine_(engine), clock_(clock) {}

    std::shared_ptr<Use> use_of(std::string_view space) const;
    std::optional<Problem> check_events(std::string_view space, std::size_t count) const;
    std::optional<Problem> check_tasks(std::string_view space, const Use& use) const;
    void put_use(const std::string& space, const Quota& quota);
    void drop_use(std::string_view space);

    Documents& documents_;
    const store::Store& store_;
    engine::Engine& engine_;
    const Clock& clock_;
    std::atomic<bool> has_any_ = false;
    mutable std::shared_mutex mutex_;
    std::map<std::string, std::shared_ptr<Use>, std::less<>> uses_;
};

} // namespace sluice::server
