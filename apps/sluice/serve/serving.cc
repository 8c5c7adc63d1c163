#include "sluice/serve/serving.h"

#include <condition_variable>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include "connector/broker/form.h"
#include "reactor/thread.h"
#include "server/stepfunctions/state_machine.h"
#include "sluice/backend/brokers.h"
#include "sluice/definition_file.h"
#include "sluice/languages.h"
#include "sluice/output.h"
#include "sluice/serve/sent_definition.h"
#include "value/time_text.h"

namespace sluice::app {

namespace {

constexpr auto wake_interval = std::chrono::milliseconds{60'000};
// So often metrics of its share are brought up to date.
constexpr auto share_interval = std::chrono::milliseconds{500};
// So soon after its shards have moved schedules act elsewhere, and is taken up what was set up
// there.
constexpr auto follow_interval = std::chrono::milliseconds{500};

observe::Format format_of(const server::Configuration& values) {
    return values.log_format == "json" ? observe::Format::Json : observe::Format::Text;
}

observe::Level level_of(const server::Configuration& values) {
    return observe::level_named(values.log_level).value_or(observe::Level::Warn);
}

store::Durability durability_of(const server::Configuration& values) {
    return values.durability == "relaxed"  ? store::Durability::Relaxed
           : values.durability == "memory" ? store::Durability::Memory
                                           : store::Durability::Strict;
}

http::ServerLimits limits_of(const server::Configuration& values) {
    return {.header_bytes_max = values.limit_header.count,
            .body_bytes_max = values.limit_body.count,
            .bodies_bytes_max = values.limit_bodies.count,
            .connections_max = values.limit_connections,
            .header_time_max = values.limit_header_time,
            .body_time_max = values.limit_body_time,
            .idle_time_max = values.limit_idle_time,
            .write_time_max = values.limit_write_time};
}

Rate requests_of(const server::Configuration& values) {
    return {.per_second = static_cast<double>(values.limit_requests),
            .burst = static_cast<double>(values.limit_requests_burst)};
}

std::optional<http::TlsFiles> tls_of(const server::Configuration& values) {
    if (values.tls_certificate.empty()) {
        return std::nullopt;
    }
    return http::TlsFiles{.certificate = values.tls_certificate, .key = values.tls_key};
}

server::AuditLimits audit_limits_of(const server::Configuration& values) {
    return {.age_max = values.audit_age, .records_max = values.audit_records};
}

/// A connection is a file: as many as the system lets us have.
void raise_file_limit() {
    auto limit = rlimit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

} // namespace

Serving::Serving(const ConfigurationSource& source, server::Configured configured,
                 secret::Secrets::Variables secrets, Part part)
    : source_(source),
      started_with_(configured),
      part_(part),
      configured_(std::move(configured)),
      secrets_(values().secrets, std::move(secrets)),
      diagnostics_(clock_, format_of(values()), level_of(values())) {}

Serving::~Serving() {
    if (task_functions_) {
        task_functions_->stop();
    }
}

Result<void> Serving::open() {
    raise_file_limit();
    TRY(listen());
    TRY(open_session());
    TRY(open_access());
    open_gateway();
    live_.start();
    if (session_->node() == nullptr) {
        keep_intake();
    } else {
        follower_ = reactor::start_thread(
            "setup", [this](const std::stop_token& stop) { follow_setup(stop); });
    }
    auto url = address_.url(tls_of(values()) ? "https" : "http", server_->port());
    if (durability_of(values()) != store::Durability::Memory) {
        served_.emplace(values().data, url);
    }
    session_->functions().open(values().public_url.empty() ? url : values().public_url);
    if (format_of(values()) == observe::Format::Json) {
        diagnostics_.info("serving", {{"url", url}, {"data", values().data}});
    } else {
        say("serving {} from {}", url, values().data);
    }
    return {};
}

Result<void> Serving::listen() {
    address_ = TRY(ListenAddress::parse(values().listen));
    server_ = TRY(http::Server::open(
        {.address = address_.host,
         .port = address_.port,
         .limits = limits_of(values()),
         .tls = tls_of(values()),
         .taken = &metrics_.histogram("http_request_seconds")},
        [this](http::Request request, const server::Reply& reply) {
            handle(std::move(request), reply);
        },
        diagnostics_));
    return {};
}

Result<void> Serving::open_session() {
    auto given = TRY(operator_functions());
    const auto& forms = given.functions;
    auto watching = TRY(watch());
    auto sharing = TRY(shared());
    session_ = TRY(Session::open(
        {.data = values().data,
         .store = values().store,
         .durability = durability_of(values()),
         .shared = std::move(sharing),
         .threads = static_cast<std::uint32_t>(values().threads),
         .diagnostics = format_of(values()),
         .functions = forms,
         .integrations = given.integrations,
         .secrets = &secrets_,
         .trusts_definitions = false,
         .allows_private = values().allow_private,
         .result_bytes_max = values().limit_result.count,
         .prepare = [&](store::Store& store,
                        Functions& functions) { return prepare(store, functions, forms); },
         .watch = std::move(watching),
         .admit_nested = [this](const std::string& space) { return admit_nested(space); },
         .find_meaning =
             [this](std::string_view space, std::string_view name, std::string_view run) {
                 return server::stepfunctions::find_version(*documents_, space, name, run);
             },
         .metrics = &metrics_,
         .on_stop = [this](const Error& error) { fail_with(error); }}));
    session_->set_level(level_of(values()));
    functions_->attach(session_->engine());
    task_functions_->attach(session_->engine());
    namespaces_.emplace(*documents_);
    quotas_ = TRY(server::Quotas::open(*documents_, session_->store(), session_->engine(), clock_));
    ready_quotas_ = quotas_.get();
    intake_ = TRY(server::intake::Intake::open(
        session_->engine(), *documents_, clock_,
        {.accepts_unrouted = values().unrouted == "accept",
         .watch_roots = {values().watch_roots.begin(), values().watch_roots.end()},
         .quotas = quotas_.get(),
         .brokers = server::intake::Brokers{
             .check = [](const Value& form) -> std::string {
                 auto checked = check_broker_source(form);
                 return checked ? std::string{} : checked.error().message;
             },
             .open = [this](std::string_view space,
                            const Value& form) { return open_source(space, form); },
             .shown = connector::broker::masked}}));
    return {};
}

Result<std::unique_ptr<event::Source>> Serving::open_source(std::string_view space,
                                                            const Value& form) {
    auto expanded = TRY(connector::broker::expand(form, secrets_, space));
    return open_broker_source(expanded, diagnostics_);
}

Result<std::optional<SessionOptions::Shared>> Serving::shared() const {
    if (values().bus.empty()) {
        if (part_ != Part::All) {
            return fail(Errc::InvalidInput,
                        "gateways and workers share a store and a bus: give --store and --bus, or "
                        "use sluice serve");
        }
        return std::nullopt;
    }
    if (values().store.empty()) {
        return fail(Errc::InvalidInput,
                    "processes with a bus share a store: give --store with redis:// or "
                    "postgres://");
    }
    auto address = values().advertise.empty() ? fmt::format("{}:{}", address_.host, server_->port())
                                              : values().advertise;
    return SessionOptions::Shared{
        .bus = values().bus,
        .address = std::move(address),
        .role = part_ == Part::Gateway ? cluster::Role::Gateway : cluster::Role::Worker,
        .lease = values().lease};
}

/// Where several processes share a store, one of them has schedules and sources act, from where the
/// one before it has left them.
void Serving::keep_intake() {
    auto* node = session_->node();
    auto should_have = node == nullptr || node->leads();
    if (should_have == has_intake_) {
        return;
    }
    if (should_have) {
        if (node != nullptr) {
            refresh_setup(server::Documents::Look::Again);
        }
        intake_->start();
    } else {
        intake_->stop();
    }
    has_intake_ = should_have;
}

void Serving::follow_setup(const std::stop_token& stop) {
    auto mutex = std::mutex{};
    auto changed = std::condition_variable_any{};
    auto lock = std::unique_lock{mutex};
    while (!stop.stop_requested()) {
        refresh_setup(server::Documents::Look::IfChanged);
        keep_intake();
        changed.wait_for(lock, stop, follow_interval, [] { return false; });
    }
}

void Serving::refresh_setup(server::Documents::Look look) {
    auto changes = documents_->refresh(look);
    if (!changes) {
        diagnostics_.warn("what was set up elsewhere could not be read",
                          {{"why", changes.error().message}});
        return;
    }
    for (const auto& change : *changes) {
        if (auto followed = follow(change); !followed) {
            diagnostics_.warn("what was set up elsewhere cannot be used here",
                              {{"kind", change.kind},
                               {"namespace", change.space},
                               {"name", change.name},
                               {"why", followed.error().message}});
        }
    }
}

Result<void> Serving::follow(const server::DocumentChange& change) {
    using server::intake::Schedules;
    const auto& [kind, space, name] = change;
    if (kind == server::Tokens::kind) {
        return tokens_->load();
    }
    if (kind == server::Quotas::kind) {
        return quotas_->follow(space);
    }
    if (kind == server::EventRouter::kind) {
        return intake_->router().follow(space);
    }
    if (kind == Schedules::kind || kind == Schedules::state_kind) {
        return intake_->schedules().follow(space, name);
    }
    if (kind == server::Namespaces::kind) {
        namespaces_->follow(name);
    } else if (kind == server::intake::Sources::kind) {
        intake_->sources().follow(space, name);
    } else if (kind == FunctionRegistry::document_kind) {
        functions_->follow(space, name, diagnostics_);
    }
    return {};
}

void Serving::show_share() {
    const auto* node = session_->node();
    if (node == nullptr) {
        return;
    }
    auto state = node->state();
    metrics_.gauge("cluster_members").set(static_cast<std::int64_t>(state.members));
    metrics_.gauge("cluster_shards_owned").set(static_cast<std::int64_t>(state.owned));
    metrics_.gauge("cluster_shards_unowned").set(static_cast<std::int64_t>(state.unowned));
    metrics_.gauge("cluster_bus_lag").set(static_cast<std::int64_t>(state.lag));
}

/// What another process has for a shard that is decided here.
void Serving::take_input(const http::Request& request, const server::Reply& reply) const {
    auto taken = session_->node()->take(request.body, [reply](std::string answer) {
        reply->answer(
            {.headers = {{"Content-Type", "application/octet-stream"}}, .body = std::move(answer)});
    });
    if (!taken) {
        auto is_elsewhere = taken.error().code == Errc::Unavailable;
        reply->answer({.status = is_elsewhere ? cluster::misdirected_status : 400,
                       .body = taken.error().message + "\n"});
    }
}

/// What another process asks for, where a worker of its waits.
void Serving::give_tasks(const http::Request& request, const server::Reply& reply) const {
    auto asked = session_->node()->give_tasks(request.body, [reply](std::string tasks) {
        reply->answer(
            {.headers = {{"Content-Type", "application/octet-stream"}}, .body = std::move(tasks)});
    });
    if (!asked) {
        reply->answer({.status = 400, .body = asked.error().message + "\n"});
    } else if (*asked) {
        reply->when_gone(*std::move(asked));
    }
}

Result<server::Quotas::Ticket> Serving::admit_nested(const std::string& space) const {
    const auto* quotas = ready_quotas_.load(std::memory_order_acquire);
    auto ticket = quotas == nullptr ? server::Quotas::Admission{} : quotas->admit_start(space);
    return ticket ? Result<server::Quotas::Ticket>{*std::move(ticket)}
                  : fail(Errc::Unavailable, "{}", ticket.error().detail);
}

Result<engine::Watch> Serving::watch() {
    auto watch = live_.watch();
    if (values().traces.empty()) {
        return watch;
    }
    traces_.emplace(server::TraceOptions{.endpoint = TRY(http::parse_url(values().traces))},
                    metrics_, diagnostics_);
    watch.decided = [this, wants = std::move(watch.wants), tell = std::move(watch.decided)](
                        const engine::RunName& run, std::string_view record) {
        traces_->note(run, record);
        if (wants(run)) {
            tell(run, record);
        }
    };
    watch.wants = nullptr;
    return watch;
}

Result<FunctionFile> Serving::operator_functions() const {
    const auto& file = values().functions;
    if (file.empty()) {
        return {};
    }
    auto forms = load_functions(TRY(read_text(file)), file, make_vocabulary());
    if (!forms) {
        say_findings(forms.error());
        return fail(Errc::InvalidInput, "{}: the functions have mistakes", file);
    }
    for (auto& form : forms->functions) {
        form.is_private = form.is_private || values().allow_private;
    }
    return *std::move(forms);
}

Result<void> Serving::prepare(store::Store& store, Functions& functions,
                              const std::vector<workflow::raw::FunctionForm>& forms) {
    auto kinds = server::intake::Intake::kinds();
    for (auto kind : {server::Tokens::kind, server::Namespaces::kind, server::Quotas::kind,
                      FunctionRegistry::document_kind}) {
        kinds.emplace_back(kind);
    }
    for (auto& kind : server::stepfunctions::Api::kinds()) {
        kinds.push_back(std::move(kind));
    }
    documents_ = TRY(server::Documents::open(store, kinds));
    auto limits = FunctionLimits{.allows_process = values().allow_process,
                                 .allows_private = values().allow_private};
    functions_.emplace(*documents_, functions, forms, limits);
    functions_->load(diagnostics_);
    task_functions_ = std::make_shared<TaskFunctions>(functions, limits);
    functions.add_rest(task_functions_);
    return {};
}

Result<void> Serving::open_access() {
    auto is_loopback = address_.is_loopback();
    tokens_.emplace(*documents_, token_table_,
                    is_loopback ? server::WithoutTokens::Everybody : server::WithoutTokens::Nobody);
    TRY(tokens_->load());
    take(TRY(credentials_of(values(), secrets_)));
    if (!is_loopback && token_table_.is_empty()) {
        return fail(Errc::InvalidInput,
                    "listen {}: without authentication a server listens on loopback only. Make a "
                    "token with `sluice token create root --data {} --role admin`, or set "
                    "SLUICE_TOKEN",
                    values().listen, values().data);
    }
    if (!is_loopback && !tls_of(values())) {
        diagnostics_.warn("tokens are sent in the clear: set tls.certificate and tls.key",
                          {{"listen", values().listen}});
    }
    audit_ = TRY(server::Audit::open(session_->store(), clock_, metrics_, diagnostics_,
                                     audit_limits_of(values())));
    return {};
}

void Serving::open_gateway() {
    services_.emplace(server::Services{.engine = session_->engine(),
                                       .store = session_->store(),
                                       .vocabulary = session_->vocabulary(),
                                       .metrics = metrics_,
                                       .clock = clock_,
                                       .timers = timers_,
                                       .workers = workers_,
                                       .live = live_,
                                       .compile =
                                           [this](std::string_view source, std::string_view file) {
                                               return compile(session_->vocabulary(),
                                                              functions_->known(), source, file);
                                           },
                                       .version = SLUICE_VERSION,
                                       .router = &intake_->router(),
                                       .functions = &*functions_,
                                       .tasks = &session_->tasks(),
                                       .is_stopping = &is_stopping_,
                                       .limits = decide_limits,
                                       .documents = documents_.get(),
                                       .namespaces = &*namespaces_,
                                       .quotas = quotas_.get(),
                                       .references = &session_->references()});
    backups_.emplace(session_->store(), &session_->references().objects(), clock_,
                     std::filesystem::path{values().data} / "backups");
    auto routes = server::RouteTable{};
    server::add_operation_routes(routes, *services_);
    server::add_event_routes(routes, *services_);
    server::add_definition_routes(routes, *services_);
    server::add_run_routes(routes, *services_);
    server::add_run_change_routes(routes, *services_);
    server::add_run_trigger_routes(routes, *services_);
    server::add_run_history_routes(routes, *services_);
    server::add_live_routes(routes, *services_);
    server::add_namespace_routes(routes, *services_);
    server::add_quota_routes(routes, *services_);
    server::add_backup_routes(routes, *services_, *backups_);
    server::add_function_routes(routes, *services_);
    server::add_task_routes(routes, *services_);
    server::add_token_routes(routes, *services_, *tokens_);
    server::add_audit_routes(routes, *services_, *audit_);
    intake_->add_routes(routes, *services_);
    step_functions_.emplace(*services_, access_keys_,
                            server::stepfunctions::ArnMaker{.region = values().aws_region,
                                                            .account = values().aws_account});
    step_functions_->add_routes(routes);
    server::add_description_routes(routes);
    gateway_.emplace(std::move(routes), token_table_, metrics_,
                     server::GatewayOptions{.is_open = address_.is_loopback(),
                                            .hosts = values().hosts,
                                            .origins = values().origins,
                                            .audit = audit_.get(),
                                            .namespaces = &*namespaces_,
                                            .requests = requests_of(values()),
                                            .clock = &clock_,
                                            .protocol = &*step_functions_});
    ready_gateway_ = &*gateway_;
}

void Serving::handle(http::Request request, const server::Reply& reply) const {
    if (const auto* gateway = ready_gateway_.load(std::memory_order_acquire)) {
        if (request.target == cluster::input_path && session_->node() != nullptr) {
            take_input(request, reply);
            return;
        }
        if (request.target == cluster::tasks_path && session_->node() != nullptr) {
            give_tasks(request, reply);
            return;
        }
        gateway->handle(std::move(request), reply);
    } else {
        server::answer_while_starting(request, reply, SLUICE_VERSION);
    }
}

Result<void> Serving::run() {
    while (!interrupts_.has_come() && !broken()) {
        bell_.wait(session_->node() == nullptr ? wake_interval : share_interval);
        show_share();
        if (hangups_.take()) {
            reload();
        }
    }
    is_stopping_ = true;
    if (values().stop_delay > Nanos{0} && !broken()) {
        diagnostics_.info("stopping", {{"delay", value::format_duration(values().stop_delay)}});
        wait_for(values().stop_delay);
    }
    stop();
    if (auto error = broken()) {
        return std::unexpected(*error);
    }
    return {};
}

/// A second signal ends the process at once, and any other changes nothing.
void Serving::wait_for(Nanos delay) {
    auto until = clock_.steady() + delay;
    for (auto left = delay; left > Nanos{0} && !broken(); left = until - clock_.steady()) {
        bell_.wait(std::chrono::ceil<std::chrono::milliseconds>(left));
    }
}

void Serving::stop() {
    // What a source still has under way reaches its shards as long as everybody is there.
    follower_ = {};
    intake_->stop();
    session_->tasks().end_asking();
    session_->functions().queues().end_asking();
    server_->stop(values().stop_grace);
    served_.reset();
    workers_.stop();
    audit_->stop();
    session_->stop();
    live_.stop();
    diagnostics_.info("stopped");
}

void Serving::reload() {
    auto next = source_.load();
    auto applied = next ? apply(*next) : Result<void>{std::unexpected(next.error())};
    if (!applied) {
        diagnostics_.error("the configuration was not reloaded: the one before stands",
                           {{"why", applied.error().message}});
        return;
    }
    for (const auto* setting : started_with_.differences(*next)) {
        if (setting->change == server::Change::Restart) {
            diagnostics_.warn("a setting changes only when the server is started again",
                              {{"setting", setting->name}, {"value", next->text(*setting)}});
        }
    }
    configured_ = *std::move(next);
    diagnostics_.info("the configuration was reloaded");
}

Result<void> Serving::apply(const server::Configured& next) {
    const auto& wanted = next.values();
    auto tls = tls_of(wanted);
    if (tls.has_value() != tls_of(started_with_.values()).has_value()) {
        return fail(Errc::InvalidInput,
                    "TLS is turned on and off only when the server is started again");
    }
    auto credentials = TRY(credentials_of(wanted, secrets_));
    if (!address_.is_loopback() && credentials.tokens.empty() &&
        documents_->list(server::Tokens::kind).empty()) {
        return fail(Errc::InvalidInput, "there would be no token left to come in with");
    }
    if (tls) {
        TRY(server_->reload_tls(*tls));
    }
    take(std::move(credentials));
    gateway_->set_names(wanted.hosts, wanted.origins);
    audit_->set_limits(audit_limits_of(wanted));
    diagnostics_.set_least(level_of(wanted));
    session_->set_level(level_of(wanted));
    return {};
}

void Serving::take(Credentials credentials) {
    token_table_.set_configured(std::move(credentials.tokens));
    access_keys_.set(std::move(credentials.keys));
}

void Serving::fail_with(const Error& error) {
    auto lock = std::lock_guard{mutex_};
    broken_ = error;
    bell_.ring();
}

std::optional<Error> Serving::broken() {
    auto lock = std::lock_guard{mutex_};
    return broken_;
}

} // namespace sluice::app
