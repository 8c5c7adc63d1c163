#include "sluice/serve/serve_command.h"

#include <charconv>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "http/server.h"
#include "observe/diagnostic_lines.h"
#include "reactor/timer_thread.h"
#include "server/gateway.h"
#include "server/intake/intake.h"
#include "server/services.h"
#include "sluice/definition_file.h"
#include "sluice/output.h"
#include "sluice/run/bell.h"
#include "sluice/run/interrupts.h"
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

server::Compiled compile(const trigger::Vocabulary& vocabulary, std::string_view source,
                         std::string_view file) {
    auto loaded = load_definition(std::string{source}, std::string{file}, vocabulary);
    if (loaded) {
        return loaded->for_catalog();
    }
    auto findings = std::vector<Value>{};
    for (const auto& finding : loaded.error()) {
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
        session_ =
            TRY(Session::open({.data = options_.data,
                               .durability = durability(),
                               .threads = options_.threads,
                               .on_stop = [this](const Error& error) { fail_with(error); }}));
        intake_ = TRY(server::intake::Intake::open(
            session_->engine(), session_->store(), clock_,
            {.accepts_unrouted = options_.unrouted == "accept",
             .watch_roots = {options_.watch_roots.begin(), options_.watch_roots.end()}}));
        services_.emplace(
            server::Services{.engine = session_->engine(),
                             .store = session_->store(),
                             .vocabulary = session_->vocabulary(),
                             .metrics = metrics_,
                             .clock = clock_,
                             .timers = timers_,
                             .compile =
                                 [this](std::string_view source, std::string_view file) {
                                     return compile(session_->vocabulary(), source, file);
                                 },
                             .version = SLUICE_VERSION,
                             .router = &intake_->router()});
        auto routes = server::RouteTable{};
        server::add_operation_routes(routes, *services_);
        server::add_event_routes(routes, *services_);
        server::add_definition_routes(routes, *services_);
        server::add_run_routes(routes, *services_);
        intake_->add_routes(routes);
        gateway_.emplace(std::move(routes), tokens_, metrics_, server::GatewayOptions{});
        server_ = TRY(http::Server::open(
            {.address = address.host, .port = address.port},
            [this](http::Request request, const server::Reply& reply) {
                gateway_->handle(std::move(request), reply);
            },
            diagnostics_));
        intake_->start();
        say("serving http://{}:{} from {}",
            address.host.contains(':') ? "[" + address.host + "]" : address.host, server_->port(),
            options_.data);
        return {};
    }

    Result<void> run() {
        auto interrupts = Interrupts{bell_};
        while (!interrupts.has_come() && !broken()) {
            bell_.wait(wake_interval);
        }
        server_->stop(stop_grace);
        intake_->stop();
        session_->stop();
        if (auto error = broken()) {
            return std::unexpected(*error);
        }
        return {};
    }

private:
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
    std::unique_ptr<server::intake::Intake> intake_; ///< Goes after the session, whose last
                                                     ///< answers still come to it.
    std::unique_ptr<Session> session_;
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
