#include "sluice/serve/serve_command.h"

#include <charconv>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "http/server.h"
#include "observe/diagnostic_lines.h"
#include "reactor/timer_thread.h"
#include "server/gateway.h"
#include "server/services.h"
#include "sluice/definition_file.h"
#include "sluice/output.h"
#include "sluice/run/bell.h"
#include "sluice/run/interrupts.h"
#include "sluice/serve/function_registry.h"
#include "sluice/session.h"

namespace sluice::app {

namespace {

constexpr auto stop_grace = std::chrono::seconds{10};
constexpr auto wake_interval = std::chrono::milliseconds{60'000};

struct Address {
    std::string host;
    std::uint16_t port = 0;
};

Result<Address> parse_listen(const std::string& text) {
    auto colon = text.rfind(':');
    auto address = Address{.host = text.substr(0, colon)};
    auto digits = colon == std::string::npos ? std::string{} : text.substr(colon + 1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
    if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
        return fail(Errc::InvalidInput,
                    "--listen {}: expected ADDRESS:PORT, such as 127.0.0.1:8080", text);
    }
    if (address.host.starts_with('[') && address.host.ends_with(']')) {
        address.host = address.host.substr(1, address.host.size() - 2);
    }
    if (address.host != "::1" && !address.host.starts_with("127.")) {
        return fail(
            Errc::InvalidInput,
            "--listen {}: without authentication a server listens on loopback only, such as "
            "127.0.0.1:8080",
            text);
    }
    return address;
}

/// A definition of the API brings no functions: those it declares must be there, under whatever
/// kind the operator gave them.
Findings undefined_functions(const LoadedDefinition& loaded, std::string_view file,
                             const std::set<std::string, std::less<>>& known) {
    auto findings = Findings{};
    for (const auto& form : loaded.definition.functions) {
        if (!known.contains(form.name)) {
            findings.push_back({.file = std::string{file},
                                .path = "functions/" + form.name,
                                .message = "a server takes no functions from definitions: set it "
                                           "up with PUT /v1/functions, or serve --functions"});
        }
    }
    return findings;
}

server::Compiled compile(const trigger::Vocabulary& vocabulary,
                         const std::set<std::string, std::less<>>& known, std::string_view source,
                         std::string_view file) {
    auto loaded = load_definition(std::string{source}, std::string{file}, vocabulary, known);
    auto wrong = loaded ? undefined_functions(*loaded, file, known) : std::move(loaded.error());
    if (wrong.empty()) {
        return loaded->for_catalog();
    }
    auto findings = std::vector<Value>{};
    for (const auto& finding : wrong) {
        findings.push_back(to_value(finding));
    }
    return std::unexpected(std::move(findings));
}

/// Engine, routes and listener, put together and taken apart in the right order.
class Serving {
public:
    explicit Serving(const ServeOptions& options)
        : options_(options),
          diagnostics_(clock_, options.is_json ? observe::Format::Json : observe::Format::Text,
                       observe::Level::Warn) {}

    Result<void> open() {
        auto address = TRY(parse_listen(options_.listen));
        auto forms = TRY(read_operator_functions());
        session_ = TRY(Session::open(
            {.data = options_.data,
             .durability = durability(),
             .threads = options_.threads,
             .functions = forms,
             .trusts_definitions = false,
             .prepare = [&](store::Store& store,
                            Functions& functions) { return prepare(store, functions, forms); },
             .on_stop = [this](const Error& error) { fail_with(error); }}));
        registry_->attach(session_->engine());
        services_.emplace(server::Services{
            .engine = session_->engine(),
            .store = session_->store(),
            .vocabulary = session_->vocabulary(),
            .metrics = metrics_,
            .clock = clock_,
            .timers = timers_,
            .compile =
                [this](std::string_view source, std::string_view file) {
                    return compile(session_->vocabulary(), registry_->names(), source, file);
                },
            .version = SLUICE_VERSION,
            .functions = &*registry_,
            .tasks = &session_->functions().queues()});
        auto routes = server::RouteTable{};
        server::add_operation_routes(routes, *services_);
        server::add_event_routes(routes, *services_);
        server::add_definition_routes(routes, *services_);
        server::add_run_routes(routes, *services_);
        server::add_function_routes(routes, *services_);
        server::add_task_routes(routes, *services_);
        gateway_.emplace(std::move(routes), tokens_, metrics_, server::GatewayOptions{});
        server_ = TRY(http::Server::open(
            {.address = address.host, .port = address.port},
            [this](http::Request request, const server::Reply& reply) {
                gateway_->handle(std::move(request), reply);
            },
            diagnostics_));
        auto url = fmt::format("http://{}:{}",
                               address.host.contains(':') ? "[" + address.host + "]" : address.host,
                               server_->port());
        session_->functions().open(options_.public_url.empty() ? url : options_.public_url);
        say("serving {} from {}", url, options_.data);
        return {};
    }

    Result<void> run() {
        auto interrupts = Interrupts{bell_};
        while (!interrupts.has_come() && !broken()) {
            bell_.wait(wake_interval);
        }
        session_->functions().queues().end_asking();
        server_->stop(stop_grace);
        session_->stop();
        if (auto error = broken()) {
            return std::unexpected(*error);
        }
        return {};
    }

private:
    Result<std::vector<workflow::raw::FunctionForm>> read_operator_functions() const {
        if (options_.functions.empty()) {
            return {};
        }
        auto text = TRY(read_text(options_.functions));
        auto forms = load_functions(text, options_.functions, trigger::Vocabulary{});
        if (!forms) {
            say_findings(forms.error());
            return fail(Errc::InvalidInput, "{}: the functions have mistakes", options_.functions);
        }
        for (auto& form : *forms) {
            form.is_private = form.is_private || options_.allows_private;
        }
        return *std::move(forms);
    }

    Result<void> prepare(store::Store& store, Functions& functions,
                         const std::vector<workflow::raw::FunctionForm>& forms) {
        documents_ =
            TRY(server::Documents::open(store, {std::string{FunctionRegistry::document_kind}}));
        registry_.emplace(*documents_, functions, forms,
                          FunctionLimits{.allows_process = options_.allows_process,
                                         .allows_private = options_.allows_private});
        registry_->load(diagnostics_);
        return {};
    }

    store::Durability durability() const {
        return options_.durability == "relaxed"  ? store::Durability::Relaxed
               : options_.durability == "memory" ? store::Durability::Memory
                                                 : store::Durability::Strict;
    }

    void fail_with(const Error& error) {
        auto lock = std::lock_guard{mutex_};
        broken_ = error;
        bell_.ring();
    }
    std::optional<Error> broken() {
        auto lock = std::lock_guard{mutex_};
        return broken_;
    }

    const ServeOptions& options_;
    SystemClock clock_;
    observe::DiagnosticLines diagnostics_;
    observe::Metrics metrics_;
    reactor::TimerThread timers_;
    server::TokenTable tokens_;
    Bell bell_;
    std::mutex mutex_;
    std::optional<Error> broken_;
    std::unique_ptr<Session> session_;
    std::unique_ptr<server::Documents> documents_;
    std::optional<FunctionRegistry> registry_;
    std::optional<server::Services> services_;
    std::optional<server::Gateway> gateway_;
    std::unique_ptr<http::Server> server_;
};

} // namespace

ExitCode serve(const ServeOptions& options) {
    auto serving = Serving{options};
    if (auto opened = serving.open(); !opened) {
        return report(opened.error());
    }
    auto served = serving.run();
    return served ? ExitCode::Ok : report(served.error());
}

} // namespace sluice::app
