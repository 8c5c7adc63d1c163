#pragma once

#include <atomic>
#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "connector/poll/desk.h"
#include "engine/engine.h"
#include "engine/inspector.h"
#include "engine/references.h"
#include "observe/metrics.h"
#include "reactor/scheduler.h"
#include "reactor/worker_pool.h"
#include "server/documents.h"
#include "server/function_setup.h"
#include "server/live_feed.h"
#include "server/namespaces.h"
#include "server/quotas.h"
#include "server/route_table.h"
#include "store/store.h"
#include "trigger/trigger_set.h"
#include "value/value.h"

namespace sluice::server {

class Audit;
class Backups;
class EventRouter;
class Tokens;

/// A definition that a language has read, checked and compiled, nested ones first; or what is wrong
/// with it, as values for people and programs.
using Compiled = std::expected<std::vector<engine::Definition>, std::vector<Value>>;

/// What the routes stand on. All of it outlives them.
struct Services {
    engine::Engine& engine;
    store::Store& store;
    const trigger::Vocabulary& vocabulary;
    observe::Metrics& metrics;
    const Clock& clock;
    reactor::Scheduler& timers;
    reactor::WorkerPool& workers; ///< For what reads the store.
    LiveFeed& live;
    /// The languages there are; engine and server know none.
    std::function<Compiled(std::string_view source, std::string_view file)> compile;
    std::string version;
    /// Of events that name no run; null: they are refused.
    EventRouter* router = nullptr;
    FunctionSetup* functions = nullptr;             ///< For the routes of functions and tasks.
    connector::poll::Desk* tasks = nullptr;         ///< The same.
    const std::atomic<bool>* is_stopping = nullptr; ///< It serves on, but should get no more.
    trigger::DecideLimits limits{};                 ///< That runs are decided with.
    Documents* documents = nullptr;
    Namespaces* namespaces = nullptr;
    Quotas* quotas = nullptr; ///< None: nothing is refused.
    /// What results have by reference is filled in for who asks; null: it is not.
    const engine::References* references = nullptr;

    /// Whether one more run may start.
    Quotas::Admission admit_start(std::string_view space) const {
        return quotas == nullptr ? Quotas::Admission{} : quotas->admit_start(space);
    }
};

/// Answers with what is read, which may block: on a worker, or 503 when too many wait for one.
void answer_from_worker(const Services& services, const Reply& reply,
                        std::move_only_function<Result<Value>()> read);
void do_on_worker(const Services& services, const Reply& reply, reactor::WorkerPool::Task task);
/// A handle for what waits for the disk, or takes long.
Handle on_worker(const Services& services, Handle handle);

void add_event_routes(RouteTable& routes, const Services& services);
/// What stands under `/v1/routes`: where events without a run go.
void add_router_routes(RouteTable& routes, const Services& services, EventRouter& router);
void add_definition_routes(RouteTable& routes, const Services& services);
void add_run_routes(RouteTable& routes, const Services& services);
/// Cancel, pause, fork and the like, of one run or many.
void add_run_change_routes(RouteTable& routes, const Services& services);
void add_run_trigger_routes(RouteTable& routes, const Services& services);
void add_run_history_routes(RouteTable& routes, const Services& services);
void add_live_routes(RouteTable& routes, const Services& services);
/// What there is to ask for: goes last, since it lists the others.
void add_description_routes(RouteTable& routes);
/// What is counted, by name.
Value metrics_view(const Services& services);
/// Making, listing and revoking tokens.
void add_token_routes(RouteTable& routes, const Services& services, Tokens& tokens);
void add_audit_routes(RouteTable& routes, const Services& services, Audit& audit);
/// Copies of the store, to be fetched file by file.
void add_backup_routes(RouteTable& routes, const Services& services, Backups& backups);
/// These need documents, namespaces and quotas.
void add_namespace_routes(RouteTable& routes, const Services& services);
void add_quota_routes(RouteTable& routes, const Services& services);
void add_function_routes(RouteTable& routes, const Services& services);
/// What workers and callbacks use.
void add_task_routes(RouteTable& routes, const Services& services);
/// Health, readiness, metrics.
void add_operation_routes(RouteTable& routes, const Services& services);

} // namespace sluice::server
