#include <algorithm>
#include <array>
#include <cctype>

#include "server/configuration.h"

namespace sluice::server {

namespace {

std::string renamed(std::string_view begin, std::string_view name, char between, bool is_upper) {
    auto text = std::string{begin};
    for (unsigned char letter : name) {
        if (letter == '.' || letter == '_') {
            text += between;
        } else {
            text += static_cast<char>(is_upper ? std::toupper(letter) : letter);
        }
    }
    return text;
}

const std::vector<Setting>& table() {
    using C = Configuration;
    static const auto all = std::vector<Setting>{
        {"data", "DIR", &C::data, "where everything is kept"},
        {.name = "store",
         .form = "URL",
         .field = &C::store,
         .description = "where state is kept instead of in the data directory: redis://… or "
                        "postgres://…",
         .has_password = true},
        {.name = "bus",
         .form = "URL",
         .field = &C::bus,
         .description = "by which events reach the processes that share a store: redis://…, "
                        "kafka://…, amqp://… or nats://…",
         .has_password = true},
        {"advertise", "ADDRESS:PORT", &C::advertise,
         "where the other processes reach this one; where it listens if not set"},
        {"lease", "TIME", &C::lease, "for how long a process that is silent keeps its shards"},
        {"listen", "ADDRESS:PORT", &C::listen,
         "where it listens; port 0 takes any that is free. Elsewhere than on loopback, it asks for "
         "tokens"},
        {.name = "durability",
         .form = "WORD",
         .field = &C::durability,
         .description = "when a commit counts as done: strict, relaxed or memory",
         .choices = {"strict", "relaxed", "memory"}},
        {.name = "threads",
         .form = "N",
         .field = &C::threads,
         .description = "threads that decide",
         .least = 1,
         .most = 64},
        {"hosts", "NAME,…", &C::hosts,
         "names that the header Host may have, besides addresses and localhost", Change::Live},
        {"origins", "URL,…", &C::origins, "pages of these origins may use the API from a browser",
         Change::Live},
        {"tls.certificate", "FILE", &C::tls_certificate,
         "the certificate and its chain, PEM; with it, HTTPS is served", Change::Live},
        {"tls.key", "FILE", &C::tls_key, "the certificate's key, PEM", Change::Live},
        {.name = "token",
         .form = "TEXT",
         .field = &C::token,
         .description = "a token with the role admin for all namespaces, named root",
         .change = Change::Live,
         .is_secret = true},
        {"tokens", "LIST", &C::tokens,
         "tokens: name, role, namespace, expires, and hash or secret, see below", Change::Live},
        {"secrets", "DIR", &C::secrets,
         "a folder with a file for each secret that ${secret:NAME} refers to"},
        {"functions", "FILE", &C::functions,
         "a file with functions, buckets and connections for every namespace, of any kind"},
        {"allow_private", "TRUTH", &C::allow_private,
         "whether functions may reach loopback, link-local and private addresses; otherwise only "
         "those of the file that say allow_private: true"},
        {"allow_process", "TRUTH", &C::allow_process,
         "whether functions that run commands on this host, and scripts of tasks, may come through "
         "the API"},
        {"public_url", "URL", &C::public_url,
         "where functions reach this server with answers that come later; where it listens if "
         "not set"},
        {"traces", "URL", &C::traces,
         "an OpenTelemetry collector that is told of traces, such as "
         "http://127.0.0.1:4318/v1/traces; nobody is if not set"},
        {.name = "log.level",
         .form = "WORD",
         .field = &C::log_level,
         .description = "what it tells at least: error, warn, info or debug",
         .change = Change::Live,
         .choices = {"error", "warn", "info", "debug"}},
        {.name = "log.format",
         .form = "WORD",
         .field = &C::log_format,
         .description = "how it tells: text, or json for a JSON object a line",
         .choices = {"text", "json"}},
        {.name = "limits.body",
         .form = "BYTES",
         .field = &C::limit_body,
         .description = "the body of a request; beyond, 413",
         .least = 1024},
        {.name = "limits.bodies",
         .form = "BYTES",
         .field = &C::limit_bodies,
         .description = "all bodies over 64KiB together; beyond, 503",
         .least = 1024},
        {.name = "limits.header",
         .form = "BYTES",
         .field = &C::limit_header,
         .description = "the header fields of a request; beyond, 431",
         .least = 1024,
         .most = 1U << 20U},
        {.name = "limits.result",
         .form = "BYTES",
         .field = &C::limit_result,
         .description = "the result of a task; beyond, it is kept beside its run and passed on by "
                        "reference, where no expression looks into it",
         .least = 1024},
        {.name = "limits.connections",
         .form = "N",
         .field = &C::limit_connections,
         .description = "connections at a time; one more is closed at once",
         .least = 1},
        {.name = "limits.requests",
         .form = "N",
         .field = &C::limit_requests,
         .description = "requests a second of each token, or address without one; beyond, 429; 0: "
                        "any number",
         .most = 1'000'000'000},
        {.name = "limits.requests_burst",
         .form = "N",
         .field = &C::limit_requests_burst,
         .description = "requests at once after a pause; 0: as many as a second has",
         .most = 1'000'000'000},
        {"limits.header_time", "TIME", &C::limit_header_time,
         "for a request's header fields to come"},
        {"limits.body_time", "TIME", &C::limit_body_time, "for a request's body to come"},
        {"limits.idle_time", "TIME", &C::limit_idle_time, "between two requests of a connection"},
        {"limits.write_time", "TIME", &C::limit_write_time, "for a reader that takes nothing"},
        {"aws.region", "TEXT", &C::aws_region, "the region that ARNs of state machines name"},
        {"aws.account", "DIGITS", &C::aws_account, "the account that ARNs of state machines name"},
        {.name = "unrouted",
         .form = "WORD",
         .field = &C::unrouted,
         .description =
             "what becomes of events that no route takes: refuse, or accept to drop them",
         .choices = {"refuse", "accept"}},
        {"watch_roots", "DIR,…", &C::watch_roots,
         "directories inside these may be watched by sources"},
        {"audit.age", "TIME", &C::audit_age, "how long records of the audit are kept",
         Change::Live},
        {.name = "audit.records",
         .form = "N",
         .field = &C::audit_records,
         .description = "how many records of the audit are kept",
         .change = Change::Live,
         .least = 1},
        {"stop.delay", "TIME", &C::stop_delay,
         "when it is asked to stop: for so long it says that it is not ready and serves on, so "
         "that nobody sends it more",
         Change::Live},
        {"stop.grace", "TIME", &C::stop_grace, "then, for requests to be answered", Change::Live},
    };
    return all;
}

} // namespace

std::span<const Setting> settings() {
    return table();
}

const Setting* setting_named(std::string_view name) {
    auto found = std::ranges::find(settings(), name, &Setting::name);
    return found == settings().end() ? nullptr : &*found;
}

std::string Setting::variable() const {
    auto is_list = std::holds_alternative<std::vector<ConfiguredToken> Configuration::*>(field);
    return is_list ? std::string{} : renamed("SLUICE_", name, '_', true);
}

std::string Setting::flag() const {
    // A command line can be read by everybody on the machine.
    return is_secret || variable().empty() ? std::string{} : renamed("--", name, '-', false);
}

std::string_view to_string(Origin origin) {
    constexpr auto names =
        std::array<std::string_view, 4>{"default", "file", "environment", "flag"};
    return names[static_cast<std::size_t>(origin)];
}

} // namespace sluice::server
