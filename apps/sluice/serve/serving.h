#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "event/source.h"
#include "http/server.h"
#include "observe/diagnostic_lines.h"
#include "observe/metrics.h"
#include "reactor/timer_thread.h"
#include "reactor/worker_pool.h"
#include "secret/secrets.h"
#include "server/access_keys.h"
#include "server/audit.h"
#include "server/backups.h"
#include "server/configuration.h"
#include "server/documents.h"
#include "server/gateway.h"
#include "server/intake/intake.h"
#include "server/live_feed.h"
#include "server/namespaces.h"
#include "server/quotas.h"
#include "server/services.h"
#include "server/stepfunctions/api.h"
#include "server/tokens.h"
#include "server/trace_export.h"
#include "sluice/definition_file.h"
#include "sluice/run/bell.h"
#include "sluice/run/interrupts.h"
#include "sluice/serve/configuration_source.h"
#include "sluice/serve/credentials.h"
#include "sluice/serve/function_registry.h"
#include "sluice/serve/hangups.h"
#include "sluice/serve/listen_address.h"
#include "sluice/serve/task_functions.h"
#include "sluice/served_directory.h"
#include "sluice/session.h"

namespace sluice::app {

/// What a process does of all that there is to do.
enum class Part : std::uint8_t {
    All,
    Gateway, ///< Takes requests and events.
    Worker,  ///< Decides.
};

/// Engine, routes and listener, put together and taken apart in the right order.
class Serving {
public:
    /// The source outlives it.
    Serving(const ConfigurationSource& source, server::Configured configured,
            secret::Secrets::Variables secrets, Part part);
    ~Serving();

    /// Listens at once, and says that it is not ready until everything is there.
    Result<void> open();
    /// Until it is asked to stop; then answers what was asked, commits, and goes.
    Result<void> run();

private:
    const server::Configuration& values() const { return configured_.values(); }
    Result<void> listen();
    Result<void> open_session();
    Result<std::optional<SessionOptions::Shared>> shared() const;
    /// With the secrets of its namespace.
    Result<std::unique_ptr<event::Source>> open_source(std::string_view space, const Value& form);
    void keep_intake();
    /// Takes up what was set up at other processes.
    void follow_setup(const std::stop_token& stop);
    void refresh_setup(server::Documents::Look look);
    Result<void> follow(const server::DocumentChange& change);
    /// As metrics.
    void show_share();
    void take_input(const http::Request& request, const server::Reply& reply) const;
    void give_tasks(const http::Request& request, const server::Reply& reply) const;
    Result<FunctionFile> operator_functions() const;
    /// What the engine must find when it is opened.
    Result<void> prepare(store::Store& store, Functions& functions,
                         const std::vector<workflow::raw::FunctionForm>& forms);
    /// Live readers hear of decisions, and a trace collector if there is one.
    Result<engine::Watch> watch();
    /// Within quotas, once they are there.
    Result<server::Quotas::Ticket> admit_nested(const std::string& space) const;
    Result<void> open_access();
    void open_gateway();
    void handle(http::Request request, const server::Reply& reply) const;

    /// Takes up what may change; a configuration that is wrong changes nothing.
    void reload();
    Result<void> apply(const server::Configured& next);
    void take(Credentials credentials);
    void wait_for(Nanos delay);
    void stop();

    void fail_with(const Error& error);
    std::optional<Error> broken();

    const ConfigurationSource& source_;
    server::Configured started_with_;
    Part part_;
    server::Configured configured_; ///< As it was read last.
    secret::Secrets secrets_;
    SystemClock clock_;
    observe::DiagnosticLines diagnostics_;
    observe::Metrics metrics_;
    reactor::TimerThread timers_;
    reactor::WorkerPool workers_{"worker"};
    server::LiveFeed live_{clock_, [this] { return server::metrics_view(*services_); }};
    server::TokenTable token_table_{clock_};
    server::AccessKeys access_keys_;
    Bell bell_;
    // From the beginning: whoever is told that it serves may ask it to stop.
    Interrupts interrupts_{bell_};
    Hangups hangups_{bell_};
    std::mutex mutex_;
    std::optional<Error> broken_;
    std::atomic<bool> is_stopping_{false};
    bool has_intake_ = false; ///< Schedules and sources act here.
    ListenAddress address_;
    /// These go after the session, whose last answers still come to them.
    std::unique_ptr<server::intake::Intake> intake_;
    std::optional<server::stepfunctions::Api> step_functions_;
    std::optional<server::TraceExport> traces_;
    std::unique_ptr<server::Quotas> quotas_;
    std::atomic<const server::Quotas*> ready_quotas_{nullptr};
    std::unique_ptr<Session> session_;
    std::optional<ServedDirectory> served_;
    std::unique_ptr<server::Documents> documents_;
    std::optional<FunctionRegistry> functions_;
    std::shared_ptr<TaskFunctions> task_functions_;
    std::optional<server::Tokens> tokens_;
    std::unique_ptr<server::Audit> audit_;
    std::optional<server::Namespaces> namespaces_;
    std::optional<server::Backups> backups_;
    std::optional<server::Services> services_;
    std::optional<server::Gateway> gateway_;
    std::atomic<const server::Gateway*> ready_gateway_{nullptr};
    std::unique_ptr<http::Server> server_;
    std::jthread follower_;
};

} // namespace sluice::app
