// How a connection comes about: reaching the server, its settings, the statements.

#include <algorithm>

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include "store/postgres/internal/connection.h"

namespace sluice::store::postgres {
namespace {

constexpr auto server_version_least = 140'000;
/// How long a cursor may stand still before its transaction ends, so that a forgotten one does not
/// keep the server from cleaning up for ever.
constexpr auto cursor_idle_limit = std::chrono::minutes{15};

/// Wide enough for a busy server, narrow enough to notice a dead one.
constexpr auto keepalive_idle_seconds = "10";
constexpr auto keepalive_interval_seconds = "5";
constexpr auto keepalive_count = "3";

std::int64_t milliseconds(Nanos duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (auto at = text.find(what); at != std::string::npos;
         at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

/// The part of a comma-separated list; of a list of one, that one.
std::string_view part_of(std::string_view list, std::size_t index) {
    if (list.find(',') == std::string_view::npos) {
        return list;
    }
    for (; index > 0 && list.find(',') != std::string_view::npos; --index) {
        list.remove_prefix(list.find(',') + 1);
    }
    return list.substr(0, list.find(','));
}

std::size_t host_count(const Options& options) {
    auto commas = [&](std::string_view name) {
        return std::ranges::count(options.parameter(name), ',');
    };
    return static_cast<std::size_t>(std::max(commas("host"), commas("hostaddr"))) + 1;
}

/// Names and values for libpq, whose own defaults are made for people at a terminal.
class ConnectParameters {
public:
    /// For one of the hosts: libpq would spend all the time there is on the first that is silent.
    ConnectParameters(const Options& options, std::size_t host) {
        for (const auto& [name, value] : options.parameters) {
            auto is_list = name == "host" || name == "hostaddr" || name == "port";
            add(name, is_list ? part_of(value, host) : std::string_view{value});
        }
        add_unless_given(options, "application_name", "sluice");
        add_unless_given(options, "client_encoding", "UTF8");
        add_unless_given(options, "keepalives_idle", keepalive_idle_seconds);
        add_unless_given(options, "keepalives_interval", keepalive_interval_seconds);
        add_unless_given(options, "keepalives_count", keepalive_count);
        add_unless_given(options, "tcp_user_timeout",
                         std::to_string(milliseconds(options.timeout)));
        // Of several hosts, the one that takes writes.
        if (host_count(options) > 1) {
            add_unless_given(options, "target_session_attrs", "read-write");
        }
    }

    PGconn* start() const {
        auto names = std::vector<const char*>{};
        auto values = std::vector<const char*>{};
        for (const auto& [name, value] : parameters_) {
            names.push_back(name.c_str());
            values.push_back(value.c_str());
        }
        names.push_back(nullptr);
        values.push_back(nullptr);
        return PQconnectStartParams(names.data(), values.data(), 0);
    }

private:
    void add(std::string_view name, std::string_view value) {
        parameters_.emplace_back(name, value);
    }
    void add_unless_given(const Options& options, std::string_view name, std::string_view value) {
        if (options.parameter(name).empty()) {
            add(name, value);
        }
    }

    std::vector<std::pair<std::string, std::string>> parameters_;
};

std::string settings_of(const Options& options, Role role) {
    auto idle =
        role == Role::Scans ? milliseconds(cursor_idle_limit) : milliseconds(options.timeout);
    auto sql = fmt::format(
        "SELECT pg_backend_pid(), (extract(epoch FROM backend_start) * 1000000)::bigint,"
        " current_setting('fsync'), current_setting('synchronous_commit'),"
        " current_setting('server_version_num')"
        " FROM pg_stat_activity WHERE pid = pg_backend_pid();"
        "SET search_path = \"{}\";"
        "SET client_min_messages = warning;"
        "SET default_transaction_isolation = 'read committed';"
        "SET statement_timeout = {};"
        "SET lock_timeout = 0;"
        "SET idle_in_transaction_session_timeout = {};"
        // A client that vanished in the middle of sending holds its locks until this finds out.
        "SET tcp_keepalives_idle = {}; SET tcp_keepalives_interval = {};"
        "SET tcp_keepalives_count = {};"
        // Everything we ask for goes by a key: no statistics may talk the planner out of it.
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;"
        "SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;"
        "SET jit = off;",
        options.schema, milliseconds(options.timeout), idle, keepalive_idle_seconds,
        keepalive_interval_seconds, keepalive_count);
    if (role == Role::Commits && options.durability == Durability::Relaxed) {
        sql += "SET synchronous_commit = off;";
    } else {
        sql +=
            "SELECT set_config('synchronous_commit', 'on', false)"
            " WHERE current_setting('synchronous_commit') = 'off';";
    }
    return sql;
}

} // namespace

Outcome<void> Connection::connect() {
    auto outcome = Outcome<void>{};
    for (auto host = std::size_t{0}; host < host_count(options_); ++host) {
        outcome = connect_to(host);
        if (outcome) {
            return {};
        }
    }
    if (auto password = options_.parameter("password"); !outcome && !password.empty()) {
        replace_all(outcome.error().message, password, "(password)");
    }
    return outcome;
}

Outcome<void> Connection::connect_to(std::size_t host) {
    auto until = Moment::clock::now() + options_.timeout;
    PQfinish(connection_);
    connection_ = ConnectParameters{options_, host}.start();
    if (connection_ == nullptr) {
        return std::unexpected(lost("out of memory"));
    }
    PQsetNoticeReceiver(
        connection_,
        [](void* flag, const PGresult* /*notice*/) { *static_cast<bool*>(flag) = true; },
        &has_warned_);
    for (auto wanted = PGRES_POLLING_WRITING; wanted != PGRES_POLLING_OK;) {
        if (wanted == PGRES_POLLING_FAILED || PQstatus(connection_) == CONNECTION_BAD) {
            return std::unexpected(broken("connecting"));
        }
        TRY(wait(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT, until));
        wanted = PQconnectPoll(connection_);
    }
    if (PQsetnonblocking(connection_, 1) != 0) {
        return std::unexpected(broken("connecting"));
    }
    return {};
}

Outcome<void> Connection::configure() {
    auto facts = TRY(script(settings_of(options_, role_), options_.timeout));
    return learn(facts);
}

Outcome<void> Connection::learn(const Rows& facts) {
    if (facts.count() != 1) {
        return std::unexpected(refused(Errc::Unsupported,
                                       "the server does not show our own "
                                       "connection in pg_stat_activity"));
    }
    auto number = [&](int column) { return std::stoll(std::string{facts.bytes(0, column)}); };
    backend_ = {.process = static_cast<std::int32_t>(number(0)), .started = number(1)};
    if (number(4) < server_version_least) {
        return std::unexpected(
            refused(Errc::Unsupported,
                    fmt::format("the server has version {}, 14 is needed", number(4) / 10'000)));
    }
    auto fsync = facts.bytes(0, 2);
    auto synchronous = facts.bytes(0, 3);
    if (options_.durability == Durability::Strict && (fsync == "off" || synchronous == "off")) {
        return std::unexpected(refused(
            Errc::InvalidInput,
            fmt::format("durability strict needs fsync and synchronous_commit on: the server has "
                        "fsync = {}, synchronous_commit = {}; change them there, or ask for "
                        "durability relaxed",
                        fsync, synchronous)));
    }
    return {};
}

Outcome<void> Connection::prepare_all() {
    if (PQenterPipelineMode(connection_) != 1) {
        return std::unexpected(broken("preparing"));
    }
    for (const auto& statement : statements::all) {
        if (PQsendPrepare(connection_, statement.name, statement.text, 0, nullptr) != 1) {
            return std::unexpected(broken("preparing"));
        }
    }
    if (PQpipelineSync(connection_) != 1) {
        return std::unexpected(broken("preparing"));
    }
    TRY(flush());
    auto rows = std::vector<Rows>{};
    return collect(statements::all.size(), rows);
}

} // namespace sluice::store::postgres
