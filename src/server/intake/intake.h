#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/engine.h"
#include "server/documents.h"
#include "server/event_router.h"
#include "server/intake/broker_source.h"
#include "server/intake/schedules.h"
#include "server/intake/sources.h"
#include "server/route_table.h"
#include "server/services.h"

namespace sluice::server::intake {

struct IntakeOptions {
    /// An event that no route takes is dropped and counted instead of refused.
    bool accepts_unrouted = false;
    /// Directories inside these may be watched.
    std::vector<std::filesystem::path> watch_roots;
    const Quotas* quotas = nullptr;   ///< Null: none. Outlives the intake's use.
    std::optional<Brokers> brokers{}; ///< Nothing: sources of brokers cannot be set up.
};

/// How events come in that nobody sends to a run: routes, sources and schedules, with what they
/// keep and the threads they need.
///
/// It is stopped before the engine, and destroyed after the engine has stopped: the engine's last
/// answers still come to it.
class Intake {
public:
    /// Of documents that it keeps.
    static std::vector<std::string> kinds();
    /// The documents have been opened with our kinds; all but the options outlives its use.
    static Result<std::unique_ptr<Intake>> open(engine::Engine& engine, Documents& documents,
                                                const Clock& clock, IntakeOptions options);
    ~Intake();

    EventRouter& router() { return *router_; }
    Sources& sources() { return *sources_; }
    Schedules& schedules() { return *schedules_; }
    void add_routes(RouteTable& routes, const Services& services);

    /// From now on schedules act and sources bring events.
    void start();
    void stop();

private:
    Intake() = default;

    void keep_schedules(const std::stop_token& stop);
    void wake();

    std::unique_ptr<ScheduleActions> actions_;
    std::unique_ptr<EventRouter> router_;
    std::unique_ptr<Sources> sources_;
    std::unique_ptr<Schedules> schedules_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool is_awake_ = false;
    std::jthread thread_;
};

/// What stands under `/v1/sources` and `/hooks`.
void add_source_routes(RouteTable& routes, const Services& services, Sources& sources);
/// What stands under `/v1/schedules`.
void add_schedule_routes(RouteTable& routes, const Services& services, Schedules& schedules);
/// What stands under `/v1/backfills`.
void add_backfill_routes(RouteTable& routes, const Services& services, Schedules& schedules);
/// A run's pending timers.
void add_timer_routes(RouteTable& routes, const Services& services);

} // namespace sluice::server::intake
